// io.cpp - text in and out, memory, the clock.  Called by all of runtime/.
// Read next: sys.h.
#include "mote.h"
#include "sys.h"

void *map(u64 bytes) {
  // PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS: linux/mman.h
  i64 p = sys6(SYS_MMAP, 0, i64(bytes), 3, 0x22, -1, 0);
  if (p < 0) die("out of memory");
  return (void *)p;
}

void unmap(void *p, u64 bytes) { sys(SYS_MUNMAP, i64(p), i64(bytes)); }

void leave(u32 status) {
  for (;;) sys(SYS_EXIT_GROUP, status);
}

void write_all(u32 fd, const void *p, u64 n) {
  while (n) {
    i64 done = sys(SYS_WRITE, fd, i64(p), i64(n));
    if (done == -EINTR) continue;
    if (done <= 0) {
      if (fd == 1) die("standard output: cannot write");
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

void say_number(u64 n) {
  char digits[21] = {};
  char *p = digits + 20;
  do *--p = char('0' + n % 10);
  while (n /= 10);
  say(p);
}

void say_ratio(u64 n, u64 d) {
  u64 hundredths = d ? n * 100 / d : 0;
  say_number(hundredths / 100);
  say(".");
  say_number(hundredths / 10 % 10);
  say_number(hundredths % 10);
}

void die(const char *what) {
  say("mote: ");
  say(what);
  say("\n");
  leave(1);
}

void fail(const char *what) {
  say("mote: ");
  say(mote->file_name);
  say(": ");
  if (model->subject) {
    // The file's own bytes: at most 64, and nothing that a terminal obeys.
    char name[65] = {};
    for (u64 i = 0; i < model->subject->n && i < 64; ++i) {
      u8 c = model->subject->data[i];
      name[i] = u8(c - ' ') < 95 ? char(c) : '?';
    }
    say(name);
    say(": ");
  }
  say(what);
  say("\n");
  leave(1);
}

u64 now() {
  u64 t[2];
  sys(SYS_CLOCK_GETTIME, 1, i64(t));  // CLOCK_MONOTONIC
  return t[0] * 1000000000 + t[1];
}

bool is_terminal(u32 fd) {
  u8 termios[64];
  return sys(SYS_IOCTL, fd, 0x5401, i64(termios)) == 0;  // TCGETS
}

i64 read_input(bool line, u8 **text) {
  u64 size = 4096, n = 0;
  u8 *p = (u8 *)map(size);
  for (;;) {
    // A line is read byte by byte, so that nothing of the next one is lost.
    i64 got = sys(SYS_READ, 0, i64(p + n), line ? 1 : i64(size - n - 4));
    if (got == -EINTR) continue;
    if (got < 0) die("standard input: cannot read");
    n += u64(got);
    *text = p;
    bool newline = n && p[n - 1] == '\n';
    if (got == 0 || (line && newline)) {
      if (newline) --n;
      return n == 0 && got == 0 && !newline ? -1 : i64(n);
    }
    if (n + 8 < size) continue;
    u8 *grown = (u8 *)map(size * 2);
    __builtin_memcpy(grown, p, n);
    unmap(p, size);
    p = grown;
    size *= 2;
  }
}
