// io.cpp - text in and out, memory, the clock.  Called by all of runtime/.
// Read next: sys.h.
#include "mote.h"
#include "sys.h"

void leave(u32 status) {
  sys(SYS_EXIT_GROUP, status);
  __builtin_unreachable();
}

void write_all(u32 fd, const void *p, u64 n) {
  do {
    i64 done = sys(SYS_WRITE, fd, p, n);
    if (done == -EINTR) continue;
    if (done < 0) {
      if (fd == 1) fail("stdout: cannot write");
      return;  // there is nobody to tell
    }
    p = (const u8 *)p + done;
    n -= u64(done);
  } while (n);
}

// The digits of n; if there are decimals, a point before that many of them.
static const char *digits(u32 n, i32 decimals) {
  auto p = (char *)mote->scratch + sizeof(mote->scratch) - 1;  // which is never written
  for (;;) {
    *--p = char('0' + n % 10);
    n /= 10;
    if (!n && decimals <= 0) return p;
    if (--decimals == 0) *--p = '.';
  }
}

// Makes a message in text(), see say().  Returns the end of it.
static char *fill(const char *s, const void *values) {
  auto value = (const u32 *)values;
  char *to = text();
  for (;;) {
    u8 c = u8(*s++);
    *to = char(c);
    if (!c) return to;
    u32 kind = c - '#';
    if (kind > 2) {
      ++to;
      continue;
    }
    const char *p = kind == 1 ? *(const char **)value++ : digits(*value, i32(kind));
    ++value;
    while ((*to = *p)) ++p, ++to;
  }
}

void say(const char *s, const void *values) {
  const char *end = fill(s, values);
  write_all(2, text(), u64(end - text()));
}

// The last words.  noipa: its arguments stay where write_all() needs them.
[[noreturn, gnu::noipa]] static void die(u32 fd, const char *s, u64 n) {
  write_all(fd, s, n);
  leave(1);
}

void tell(u32 fd, const char *s) {
  if (u32(sys(SYS_IOCTL, fd, 0x5401, mote->scratch)) == 0) say(s, &mote->n_past);  // TCGETS
}

void fail(const char *what) {
  mote->what = what;
  char *to = fill("mote: $: $", &mote->file_name);
  if (auto subject = model->subject) {
    *to++ = ':';
    *to++ = ' ';
    // The file's own bytes: not too many, and nothing that a terminal obeys.
    for (u64 i = 0; i < 64 && i < subject->n; ++i) {
      u8 c = subject->data[i];
      if (u8(c - ' ') > 94) c = '?';
      *to++ = char(c);
    }
  }
  *to++ = '\n';
  die(2, text(), u64(to - text()));
}

void *map(u64 bytes) {
  // PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS: linux/mman.h
  auto p = (void *)sys(SYS_MMAP, nullptr, bytes, 3, 0x22, nullptr, 0l);
  if (i64(p) < 0) die(2, "mote: out of memory\n", 20);  // there may be no Mote that fail() needs
  return p;
}

u64 now() {
  u64 *t = mote->scratch;        // struct timespec
  sys(SYS_CLOCK_GETTIME, 1, t);  // CLOCK_MONOTONIC
  return t[0] * 1000000000 + t[1];
}

void read_prompt() {
  tell(0, chats() ? "> " : "Prompt, Ctrl-D:\n");
  char *p = text() + MAX_MESSAGE;
  mote->prompt = p;
  for (;;) {
    // A line is read byte by byte, so that nothing of the next one is lost.  Nothing that may be
    // written follows the text: too much of it is an error of read.
    i64 got = sys(SYS_READ, 0, p, chats() ? 1 : CHUNK);
    if (got == -EINTR) continue;
    if (got < 0) fail("stdin: cannot read");
    if (!got) {
      if (chats() && p == mote->prompt) finish();
      break;
    }
    p += got;
    if (chats() && p[-1] == '\n') break;
  }
  if (p[-1] != '\n') ++p;
  mote->prompt_end = p;
}
