// harness.h - what every kernel test uses: random numbers, guarded buffers, hostile calls, checks.
// Read next: add_test.cpp, the smallest test; harness.cpp and call.asm for how a call is watched.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "../../asm/kernels.h"

// --- Random numbers.  Each test starts its own sequence, from the seed and the test's name.

// What a vector of random numbers is made of.
enum class Kind {
  Unit,   // -1 to 1
  Wide,   // +-2^-24 to 2^24
  Zeros,  // +-0, here and there a Unit
  Tiny,   // denormals, zeros and the least normal numbers, of either sign
  Huge,   // +-2^100 to 2^128
};
constexpr Kind kinds[] = {Kind::Unit, Kind::Wide, Kind::Zeros, Kind::Tiny, Kind::Huge};

struct Random {
  u64 state;
  u64 bits();                        // 64 of them
  u32 below(u32 n);                  // 0 to n - 1
  u32 between(u32 low, u32 high);    // inclusive
  f32 real(f32 low, f32 high);
  f32 real(Kind kind);
  std::vector<f32> reals(usize n, Kind kind);
};
extern Random rng;

inline f32 f32_from(u32 bits) { return __builtin_bit_cast(f32, bits); }
inline u32 bits_from(f32 x) { return __builtin_bit_cast(u32, x); }

// --- Buffers.  A kernel's argument between two pages that fault.

// Where the bytes lie: at the page in front, at the page behind, or between, badly aligned.
enum class Place { Front, Back, Inside };

constexpr u8 fill_in = 0xff;   // around inputs: NaN in every type of float, so that a read shows
constexpr u8 fill_out = 0xa5;  // in and around outputs: an unlikely number, so that a write shows

struct Buffer {
  Buffer(const char *name, Place place, usize bytes, usize align, u8 fill);
  template <class T>
  Buffer(const char *name, Place place, const std::vector<T> &values, u8 fill = fill_in)
      : Buffer(name, place, values.size() * sizeof(T), sizeof(T), fill) {
    memcpy(data, values.data(), size);
  }
  Buffer(const Buffer &) = delete;
  ~Buffer();

  template <class T = f32> T *at(usize offset = 0) { return (T *)(data + offset); }
  template <class T = f32> std::vector<T> values(usize offset, usize n) {
    return {at<T>(offset), at<T>(offset) + n};
  }
  // The next call may change these bytes.  All others it has to leave alone.
  void writable(usize offset, usize bytes);
  void writable() { writable(0, size); }

  const char *name;
  u8 *data;
  usize size;
  u8 *pages;  // between the guard pages
  usize pages_size;
  std::vector<u8> before, mask;  // of all pages: contents at the call; 1 where it may write
};

// Pages more than 4 GiB apart, with nothing between them: for strides that do not fit in 32 bits.
struct FarPages {
  static constexpr usize stride = (usize(5) << 30) + 4096, page = 4096;
  explicit FarPages(usize count);
  FarPages(const FarPages &) = delete;
  ~FarPages();
  template <class T = u8> T *at(usize i) { return (T *)(pages + i * stride); }

  u8 *pages;
  usize count;
};

// --- Calls.

struct Call {
  void *fn;
  f32 floats[2][4];  // xmm0, xmm1
  u64 ints[6];       // rdi rsi rdx rcx r8 r9
  u64 kept[6];       // rbx rbp r12 r13 r14 r15, before and after
  u64 flags, stack, result, rsp;
  u32 x87[7], mxcsr;
  u32 vectors;  // of this CPU: 0 SSE, 1 AVX, 2 AVX-512
};
static_assert(__builtin_offsetof(Call, floats) == 8 && __builtin_offsetof(Call, ints) == 40 &&
              __builtin_offsetof(Call, kept) == 88 && __builtin_offsetof(Call, flags) == 136 &&
              __builtin_offsetof(Call, x87) == 168 && __builtin_offsetof(Call, vectors) == 200);

// Runs c.fn; fails the test when it faults, breaks the calling convention or a Buffer.
void call(Call &c);

// Calls a kernel; the unused part of every register holds rubbish.
template <class R, class... P>
u64 call(R (*kernel)(P...), std::type_identity_t<P>... args) {
  Call c;
  c.fn = (void *)kernel;
  for (auto &xmm : c.floats)
    for (f32 &lane : xmm) lane = NAN;
  for (u64 &reg : c.ints) reg = 0xbad1bad2bad3bad4;
  u32 n_int = 0, n_float = 0;
  [[maybe_unused]] auto put = [&](auto a) {  // unused where the kernel takes nothing
    if constexpr (std::is_same_v<decltype(a), f32>)
      c.floats[n_float++][0] = a;
    else
      memcpy(&c.ints[n_int++], &a, sizeof a);  // over the low bytes only
  };
  (put(args), ...);
  call(c);
  return c.result;
}

// What a kernel of one column does not use; it has to leave that alone.
const auto no_x = (const f32 *)0xbad1bad2bad3bad4;
const auto no_w = (const void *)0xbad1bad2bad3bad4;
constexpr u32 no_k = 0xbad5bad6;
const f32 no_scale = NAN;

// While one of these lives, calls run in single steps, and each step overwrites what lies below the
// stack pointer, as an interrupt on bare metal does.  Slow: some 15 us a step.
struct SingleSteps {
  SingleSteps();
  ~SingleSteps();
};

// --- Checks.  The first that fails ends its test.

struct Want {
  f64 value, bound;
};

void check_close(usize i, f32 got, Want want);

// got[i] lies within want(i).bound of want(i).value.
template <class F>
void expect_close(const std::vector<f32> &got, F want) {
  for (usize i = 0; i < got.size(); ++i) check_close(i, got[i], want(i));
}

// The same bits, one NaN being as good as another.
void expect_same(const std::vector<f32> &got, const std::vector<f32> &want);

// run(place) with the buffers in each place: the results must not tell them apart.
template <class F>
std::vector<f32> everywhere(F run) {
  std::vector<f32> result = run(Place::Front);
  for (Place place : {Place::Back, Place::Inside}) expect_same(run(place), result);
  return result;
}

// x's unit in the last place, as kernels.h counts errors.
inline f64 ulp(f64 x) {
  int exponent;
  std::frexp(x, &exponent);
  return x == 0 ? 0x1p-149 : std::ldexp(1, std::max(exponent - 24, -149));
}
