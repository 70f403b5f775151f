// sys.h - the machine, as a dozen system calls.  All that runtime/ knows of the world outside.
//
// On Linux the kernel answers them; on bare metal boot/ does, behind the same instruction.
// Numbers and registers: Linux, arch/x86/entry/syscalls/syscall_64.tbl; System V AMD64 psABI, A.2.1.
// Each returns what the kernel returns: a result, or -errno.
#pragma once
#include "../asm/types.h"

enum Syscall : i64 {
  SYS_READ = 0,
  SYS_WRITE = 1,
  SYS_OPEN = 2,
  SYS_CLOSE = 3,
  SYS_LSEEK = 8,
  SYS_MMAP = 9,
  SYS_MUNMAP = 11,
  SYS_SIGPROCMASK = 14,
  SYS_IOCTL = 16,
  SYS_CLONE = 56,
  SYS_FUTEX = 202,
  SYS_SCHED_GETAFFINITY = 204,
  SYS_CLOCK_GETTIME = 228,
  SYS_EXIT_GROUP = 231,
};

constexpr i64 EINTR = 4;

inline i64 sys(i64 n, i64 a = 0, i64 b = 0, i64 c = 0) {
  i64 result;
  asm volatile("syscall" : "=a"(result) : "0"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

inline i64 sys6(i64 n, i64 a, i64 b, i64 c, i64 d, i64 e, i64 f) {
  register i64 r10 asm("r10") = d;
  register i64 r8 asm("r8") = e;
  register i64 r9 asm("r9") = f;
  i64 result;
  asm volatile("syscall"
               : "=a"(result)
               : "0"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

// A thread that shares everything and runs entry() on a stack whose top is given; entry() may not
// return.  It starts with the registers of its maker, but for rax, rcx, r11, rsp and rip.
// The flags: CLONE_VM | FS | FILES | SIGHAND | THREAD | SYSVSEM, linux/sched.h.
inline i64 sys_clone(void *stack_top, void (*entry)()) {
  auto top = (void (**)())stack_top - 1;
  *top = entry;
  i64 result;
  asm volatile(
      "syscall\n\t"
      "test %%eax, %%eax\n\t"
      "jnz 1f\n\t"
      "ret\n"  // the child: to entry(), with the stack as after a call
      "1:"
      : "=a"(result)
      : "0"(i64(SYS_CLONE)), "D"(0x50f00), "S"(top), "d"(0)
      : "rcx", "r11", "memory");
  return result;
}

inline void cpu_relax() { asm volatile("pause"); }
