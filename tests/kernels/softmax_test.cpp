// softmax_test - logits to probabilities, zero behind n.  Contract: asm/kernels.h
#include <algorithm>

#include "harness.h"

extern "C" decltype(softmax) portable_softmax;

// The bound: exp is good to 3e-7, here and in the sum; its argument is rounded, which costs in
// proportion to it; each of 8 partial sums takes n / 8 roundings.  e^-87 is almost denormal.
static void check(const std::vector<f32> &logits, u32 end, f32 scale) {
  u32 n = u32(logits.size());
  SCOPED_TRACE(testing::Message() << "n " << n << ", end " << end << ", scale " << scale);
  std::vector<f32> x = logits;
  while (x.size() < end) x.push_back(rng.below(2) ? f32(NAN) : 0x1p127f);  // has to go unseen
  auto got = everywhere([&](Place place) {
    Buffer bx("x", place, x, fill_out);
    bx.writable();
    call(softmax, bx.at(), n, end, scale);
    return bx.values(0, end);
  });
  f64 max = *std::max_element(logits.begin(), logits.end()), sum = 0;
  auto below = [&](usize i) { return f64(scale) * (max - x[i]); };  // how far, >= 0
  for (u32 i = 0; i < n; ++i) sum += std::exp(-below(i));
  auto want = [&](usize i) {
    if (i >= n || below(i) > 88.0001) return Want{0, 0};
    f64 d = below(i), p = std::exp(-d) / sum;
    return Want{p, (2e-6 + 2e-7 * d + n * 0x1p-27) * p + (d > 87 ? 1.2e-38 : 0x1p-149) / sum};
  };
  expect_close(got, want);
  auto twin = x;
  portable_softmax(twin.data(), n, end, scale);
  expect_close(got, [&](usize i) { return Want{twin[i], 2 * want(i).bound}; });
}

static void check(const std::vector<f32> &logits, f32 scale) {
  check(logits, u32(logits.size() + 7) / 8 * 8, scale);
}

TEST(softmax, Shapes) {
  for (u32 n = 1; n <= 80; ++n) {
    check(rng.reals(n, Kind::Unit), rng.real(0.01f, 30));
    check(rng.reals(n, Kind::Unit), (n + 7) / 8 * 8 + 8 * rng.below(4), 0.0625f);
  }
  for (u32 n : {16377, 16384, 256000})  // 256000: the sampler's, over Gemma's vocabulary
    for (f32 scale : {0.001f, 1.0f, 10.0f, 50.0f}) check(rng.reals(n, Kind::Unit), scale);
}

// Equal terms of the sum: its roundings add up.
TEST(softmax, EqualValues) {
  for (u32 n : {1, 3, 8, 1000, 16384})
    for (int i = 0; i < 20; ++i) {
      std::vector<f32> x(n, rng.real(-3, 3));
      x[rng.below(n)] = 3;
      check(x, 1);
    }
}

// From logits so near that all are alike to logits of which one takes all.
TEST(softmax, Spread) {
  for (f32 spread = 0x1p-30f; spread < 0x1p126f; spread *= 2.5f) {
    auto x = rng.reals(64, Kind::Unit);
    for (f32 &v : x) v *= spread;
    check(x, 1);
  }
  for (f32 scale : {1e-6f, 1.0f, 1e6f})
    for (Kind kind : kinds) check(rng.reals(60, kind), scale);
  std::vector<f32> ramp(16384);  // across all that the exponential has to offer, and its end
  for (u32 i = 0; i < ramp.size(); ++i) ramp[i] = f32(i) * (-90.0f / 16384);
  check(ramp, 1);
}

TEST(softmax, SingleSteps) {
  SingleSteps guard;
  check(rng.reals(11, Kind::Unit), 24, 1);
}
