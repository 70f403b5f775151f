// io.cpp - text in and out, memory, the clock.  Called by all of runtime/.
// Read next: sys.h.
#include "mote.h"
#include "sys.h"

void leave(u32 status) {
  for (;;) sys(SYS_EXIT_GROUP, status);
}

void write_all(u32 fd, const void *p, u64 n) {
  while (n) {
    i64 done = sys(SYS_WRITE, fd, i64(p), i64(n));
    if (done == -EINTR) continue;
    if (done <= 0) {
      if (fd == 1) fail("cannot write to standard output");
      leave(1);
    }
    p = (const u8 *)p + done;
    n -= u64(done);
  }
}

u64 length(const char *s) {
  u64 n = 0;
  while (s[n]) ++n;
  return n;
}

void say(const char *s) { write_all(2, s, length(s)); }

void say_number(const char *before, u64 n, i32 decimals) {
  char digits[24];
  char *p = digits + 23;
  say(before);
  *p = 0;
  do {
    *--p = char('0' + n % 10);
    n /= 10;
    if (--decimals == 0) *--p = '.';
  } while (n || decimals >= 0);
  say(p);
}

void fail(const char *what) {
  say("mote: ");
  say(mote->file_name);
  if (auto name = model->subject) {
    say(": ");
    // The file's own bytes: at most 64, and nothing that a terminal obeys.
    for (u32 i = 0; i < name->n && i < 64; ++i) {
      u8 c = name->data[i];
      if (c - ' ' > 94u) c = '?';
      write_all(2, &c, 1);
    }
  }
  say(": ");
  say(what);
  say("\n");
  leave(1);
}

void *map(u64 bytes) {
  // PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS: linux/mman.h
  i64 p = sys6(SYS_MMAP, 0, i64(bytes), 3, 0x22, -1, 0);
  if (p < 0) {
    say("mote: out of memory\n");
    leave(1);
  }
  return (void *)p;
}

void unmap(void *p, u64 bytes) { sys(SYS_MUNMAP, i64(p), i64(bytes)); }

u64 now() {
  u64 t[2];
  sys(SYS_CLOCK_GETTIME, 1, i64(t));  // CLOCK_MONOTONIC
  return t[0] * 1000000000 + t[1];
}

bool is_terminal(u32 fd) {
  u8 termios[64];
  return sys(SYS_IOCTL, fd, 0x5401, i64(termios)) == 0;  // TCGETS
}

u32 read_input(u8 *text, u32 size, bool line) {
  u32 n = 0;
  for (;;) {
    // A line is read byte by byte, so that nothing of the next one is lost.
    i64 got = sys(SYS_READ, 0, i64(text + n), line ? 1 : size - n);
    if (got == -EINTR) continue;
    if (got < 0) fail("cannot read standard input");
    n += u32(got);
    if (got == 0 || n == size || (line && text[n - 1] == '\n')) return n;
  }
}
