// sys.h - the machine, as a dozen system calls.  All that runtime/ knows of the world outside.
//
// On Linux the kernel answers them; on bare metal boot/ does, behind the same instruction.
// Numbers and registers: Linux, arch/x86/entry/syscalls/syscall_64.tbl; System V AMD64 psABI, A.2.1.
// Each returns what the kernel returns: a result, or -errno.
#pragma once
#include "../asm/types.h"

enum Syscall : u32 {
  SYS_READ = 0,
  SYS_WRITE = 1,
  SYS_OPEN = 2,
  SYS_CLOSE = 3,
  SYS_LSEEK = 8,
  SYS_MMAP = 9,
  SYS_SIGPROCMASK = 14,
  SYS_IOCTL = 16,
  SYS_CLONE = 56,
  SYS_FUTEX = 202,
  SYS_SCHED_GETAFFINITY = 204,
  SYS_CLOCK_GETTIME = 228,
  SYS_EXIT_GROUP = 231,
};

constexpr i64 EINTR = 4;

// Arguments keep their types, so that a register is loaded with as many bits as there are.
inline i64 sys(u32 n, auto a, auto b, auto c) {
  i64 result;
  asm volatile("syscall" : "=a"(result) : "0"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

inline i64 sys(u32 n, auto a, auto b) {
  i64 result;
  asm volatile("syscall" : "=a"(result) : "0"(n), "D"(a), "S"(b) : "rcx", "r11", "memory");
  return result;
}

inline i64 sys(u32 n, auto a) {
  i64 result;
  asm volatile("syscall" : "=a"(result) : "0"(n), "D"(a) : "rcx", "r11", "memory");
  return result;
}

inline i64 sys(u32 n, auto a, auto b, auto c, auto d) {
  register auto r10 asm("r10") = d;
  i64 result;
  asm volatile("syscall"
               : "=a"(result)
               : "0"(n), "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return result;
}

inline i64 sys(u32 n, auto a, auto b, auto c, auto d, auto e, auto f) {
  register auto r10 asm("r10") = d;
  register auto r8 asm("r8") = e;
  register auto r9 asm("r9") = f;
  i64 result;
  asm volatile("syscall"
               : "=a"(result)
               : "0"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

// A thread that shares everything.  On a stack whose top is given it calls entry(), which may not
// return: with the registers of its maker but for rax, rcx, r11 and rsp, so the third argument is
// the number that is given here.
// The flags: CLONE_VM | FS | FILES | SIGHAND | THREAD | SYSVSEM, linux/sched.h.
template <void entry(u64, void *, u32 number)>
inline i32 sys_clone(void *stack_top, u32 number) {
  i32 result = SYS_CLONE;
  asm volatile(
      "syscall\n\t"
      "test %%eax, %%eax\n\t"
      "jnz 1f\n\t"
      "call %c[entry]\n"
      "1:"
      : "+a"(result)
      : "D"(0x50f00), "S"(stack_top), "d"(number), [entry] "i"(entry)
      : "rcx", "r11", "memory");
  return result;
}

inline void cpu_relax() { asm volatile("pause"); }
