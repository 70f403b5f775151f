// harness.cpp - runs the tests and watches each call of a kernel.  Read first: harness.h
//
// A kernel that faults does not end the program: the handler jumps back into call(), which tells
// what was touched.  MOTE_TEST_SEED=n repeats a run, MOTE_TEST_MARGINS=1 shows how much of the
// error bounds each test used.
#include "harness.h"

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sys/mman.h>
#include <ucontext.h>

extern "C" void call_kernel(Call *c);  // call.asm

constexpr usize page = 4096;
constexpr u64 direction_flag = 1 << 10, trap_flag = 1 << 8;  // Intel SDM volume 1, 3.4.3

static u64 seed;
static f64 used;  // the largest error / bound of this test

// --- Random numbers

Random rng;

// SplitMix64: Steele, Lea and Flood, OOPSLA 2014.
u64 Random::bits() {
  u64 z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

u32 Random::below(u32 n) { return u32((bits() >> 32) * n >> 32); }
u32 Random::between(u32 low, u32 high) { return low + below(high - low + 1); }
f32 Random::real(f32 low, f32 high) { return low + (high - low) * f32(bits() >> 40) * 0x1p-24f; }

f32 Random::real(Kind kind) {
  u32 sign = u32(bits()) & 0x80000000, mantissa = u32(bits()) >> 9;
  auto scaled = [&](u32 low, u32 high) {
    return f32_from(sign | between(low, high) << 23 | mantissa);
  };
  switch (kind) {
    case Kind::Unit: return real(-1, 1);
    case Kind::Wide: return scaled(127 - 24, 127 + 23);
    case Kind::Zeros: return below(8) ? f32_from(sign) : real(-1, 1);
    case Kind::Tiny: return below(8) ? scaled(0, 2) : f32_from(sign);
    case Kind::Huge: return scaled(127 + 100, 254);
  }
  return 0;
}

std::vector<f32> Random::reals(usize n, Kind kind) {
  std::vector<f32> values(n);
  for (f32 &x : values) x = real(kind);
  return values;
}

// --- Buffers

static std::vector<Buffer *> buffers;  // all that live

static u8 *guarded(usize bytes) {
  auto map = (u8 *)mmap(nullptr, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED || mprotect(map + page, bytes, PROT_READ | PROT_WRITE)) abort();
  return map + page;
}

Buffer::Buffer(const char *name, Place place, usize bytes, usize align, u8 fill)
    : name(name), size(bytes) {
  usize inside = 64 + align * (2 * rng.below(8) + 1);  // aligned as it must be, and no better
  pages_size = (inside + bytes + 64 + page - 1) / page * page;
  pages = guarded(pages_size);
  memset(pages, fill, pages_size);
  mask.resize(pages_size);
  usize offset = place == Place::Front ? 0 : place == Place::Back ? pages_size - bytes : inside;
  data = pages + offset;
  buffers.push_back(this);
}

Buffer::~Buffer() {
  std::erase(buffers, this);
  munmap(pages - page, pages_size + 2 * page);
}

void Buffer::writable(usize offset, usize bytes) { memset(&mask[data - pages + offset], 1, bytes); }

FarPages::FarPages(usize count) : count(count) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  pages = (u8 *)mmap(nullptr, stride * count, PROT_NONE, flags, -1, 0);
  for (usize i = 0; i < count; ++i)
    if (mprotect(at(i), page, PROT_READ | PROT_WRITE)) abort();
}

FarPages::~FarPages() { munmap(pages, stride * count); }

// --- Calls

constexpr usize stack_size = 8192;        // what a kernel may use: kernels.h
static u8 *stack = guarded(stack_size);
static u64 flags;                  // set during calls
static volatile bool in_kernel;
static sigjmp_buf escape;
static struct {
  int signal;
  u8 *address, *code;
  bool write;
} fault;

static void on_fault(int signal, siginfo_t *info, void *context) {
  if (!in_kernel) {
    std::signal(signal, SIG_DFL);  // the tests' own: happens again, and ends the program
    return;
  }
  auto &regs = ((ucontext_t *)context)->uc_mcontext.gregs;
  // Bit 1 of a page fault's error code: Intel SDM volume 3, 4.7.
  fault = {signal, (u8 *)info->si_addr, (u8 *)regs[REG_RIP], (regs[REG_ERR] & 2) != 0};
  siglongjmp(escape, 1);
}

static void on_step(int, siginfo_t *, void *context) {
  auto rsp = (u8 *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
  if (rsp >= stack + 128 && rsp <= stack + stack_size) memset(rsp - 128, 0xcc, 128);
}

SingleSteps::SingleSteps() { flags = trap_flag; }
SingleSteps::~SingleSteps() { flags = 0; }

static std::string place_of(const u8 *address) {
  for (Buffer *b : buffers)
    if (address >= b->pages - page && address < b->pages + b->pages_size + page)
      return std::string(b->name) + " + " + std::to_string(address - b->data) + ", size " +
             std::to_string(b->size);
  if (address >= stack - page && address < stack + stack_size + page) return "the stack's guard page";
  if (!address) return "misaligned, or no address at all for the upper half of a u32 got into it";
  return "none of the buffers";
}

static void check_registers(const Call &before, const Call &after) {
  const char *names[] = {"rbx", "rbp", "r12", "r13", "r14", "r15"};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(after.kept[i], before.kept[i]) << names[i] << " is broken";
  EXPECT_EQ(after.rsp, before.stack) << "rsp is broken";
  EXPECT_FALSE(after.flags & direction_flag) << "the direction flag is set";
  EXPECT_EQ(after.mxcsr & ~0x3fu, 0x1f80u) << "MXCSR's control bits are changed";
  EXPECT_EQ(after.x87[0] & 0xffff, 0x37fu) << "the x87 control word is changed";
  EXPECT_EQ(after.x87[2] & 0xffff, 0xffffu) << "the x87 stack is not empty (or MMX in use)";
}

static void check_memory() {
  for (u8 *p = stack + stack_size - 72; p < stack + stack_size; ++p)
    EXPECT_EQ(*p, fill_out) << "the caller's stack is overwritten";
  for (Buffer *b : buffers) {
    for (usize i = 0; i < b->pages_size; ++i)
      EXPECT_TRUE(b->pages[i] == b->before[i] || b->mask[i])
          << "overwritten: " << place_of(b->pages + i);
    b->mask.assign(b->pages_size, 0);
  }
}

void call(Call &c) {
  memset(stack, fill_out, stack_size);
  c.stack = u64(stack + stack_size - 72);  // rsp mod 16 is 8: nothing may rely on an aligned stack
  c.flags = 2 | flags;               // bit 1 is always set
  c.vectors = __builtin_cpu_supports("avx512f") ? 2 : __builtin_cpu_supports("avx") ? 1 : 0;
  for (u64 &k : c.kept) k = rng.bits();
  for (Buffer *b : buffers) b->before.assign(b->pages, b->pages + b->pages_size);
  const Call before = c;
  if (sigsetjmp(escape, 0)) {
    in_kernel = false;
    const u8 *start = (const u8 *)before.fn;
    FAIL() << strsignal(fault.signal) << " at the kernel's byte " << fault.code - start << ", "
           << (fault.write ? "writing" : "reading") << " " << (void *)fault.address << ": "
           << place_of(fault.address);
  }
  in_kernel = true;
  call_kernel(&c);
  in_kernel = false;
  check_registers(before, c);
  check_memory();
}

// --- Checks

void check_close(usize i, f32 got, Want want) {
  f64 error = got == want.value ? 0 : std::fabs(got - want.value);
  if (want.bound > 0) used = std::max(used, error / want.bound);
  EXPECT_TRUE(error <= want.bound) << "at " << i << ": got " << got << ", want " << want.value
                                   << ", error " << error << ", bound " << want.bound;
}

void expect_same(const std::vector<f32> &got, const std::vector<f32> &want) {
  ASSERT_EQ(got.size(), want.size());
  for (usize i = 0; i < got.size(); ++i)
    EXPECT_TRUE(bits_from(got[i]) == bits_from(want[i]) || (got[i] != got[i] && want[i] != want[i]))
        << "at " << i << ": got " << got[i] << " = 0x" << std::hex << bits_from(got[i])
        << ", want " << want[i] << " = 0x" << bits_from(want[i]);
}

// --- main

struct Listener : testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo &test) override {
    used = 0;
    rng.state = seed;
    for (const char *c = test.test_suite_name(); *c; ++c) rng.state = rng.bits() ^ u64(*c);
    for (const char *c = test.name(); *c; ++c) rng.state = rng.bits() ^ u64(*c);
  }
  // One failure is enough: the rest of the test would say the same a thousand times.
  void OnTestPartResult(const testing::TestPartResult &result) override {
    if (!result.failed()) return;
    printf("the seed: MOTE_TEST_SEED=%lu\n", seed);
    throw testing::AssertionException(result);
  }
  void OnTestEnd(const testing::TestInfo &) override {
    if (used && getenv("MOTE_TEST_MARGINS")) printf("largest error / bound: %.3f\n", used);
  }
};

static void handle(int signal, void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(signal, &action, nullptr);
}

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  const char *given = getenv("MOTE_TEST_SEED");
  seed = given ? strtoul(given, nullptr, 0) : std::random_device()();
  testing::UnitTest::GetInstance()->listeners().Append(new Listener);
  constexpr usize signal_stack_size = 1 << 16;
  stack_t signal_stack = {};
  signal_stack.ss_sp = guarded(signal_stack_size);
  signal_stack.ss_size = signal_stack_size;
  sigaltstack(&signal_stack, nullptr);
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) handle(signal, on_fault);
  handle(SIGTRAP, on_step);
  return RUN_ALL_TESTS();
}
