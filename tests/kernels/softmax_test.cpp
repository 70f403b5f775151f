// softmax_test - logits to probabilities.  Contract: asm/kernels.h
#include <algorithm>

#include "harness.h"

extern "C" decltype(softmax) portable_softmax;

// The bound: exp is good to 3e-7, here and in the sum; its argument is rounded, which costs in
// proportion to it; each of 8 partial sums takes n / 8 roundings.  e^-87 is almost denormal.
static void check(const std::vector<f32> &logits, u32 n, f32 scale) {
  u32 last = u32(logits.size()) - 1;  // behind it: tokens that cannot be, and positions unseen
  SCOPED_TRACE(testing::Message() << "n " << n << ", last " << last << ", scale " << scale);
  std::vector<f32> y = logits;
  while (y.size() < n) y.push_back(-INFINITY);
  auto got = everywhere([&](Place place) {
    Buffer by("y", place, y, fill_out);
    by.writable();
    call(softmax, by.at(), no_x, no_w, n, no_k, scale);
    return by.values(0, n);
  });
  f64 max = *std::max_element(logits.begin(), logits.end()), sum = 0;
  auto below = [&](usize i) { return f64(scale) * (max - y[i]); };  // how far, >= 0
  for (u32 i = 0; i <= last; ++i) sum += std::exp(-below(i));
  auto want = [&](usize i) {
    if (i > last || below(i) > 88.0001) return Want{0, 0};
    f64 d = below(i), p = std::exp(-d) / sum;
    return Want{p, (2e-6 + 2e-7 * d + n * 0x1p-27) * p + (d > 87 ? 1.2e-38 : 0x1p-149) / sum};
  };
  expect_close(got, want);
  auto twin = y;
  portable_softmax(twin.data(), no_x, no_w, n, no_k, scale);
  expect_close(got, [&](usize i) { return Want{twin[i], 2 * want(i).bound}; });
}

static void check(const std::vector<f32> &logits, f32 scale) {
  check(logits, u32(logits.size() + 7) / 8 * 8, scale);
}

TEST(softmax, Shapes) {
  for (u32 count = 1; count <= 80; ++count) {
    check(rng.reals(count, Kind::Unit), rng.real(0.01f, 30));
    check(rng.reals(count, Kind::Unit), (count + 7) / 8 * 8 + 8 * rng.below(4), 0.0625f);
  }
  for (u32 count : {16377, 16384, 256000})  // 256000: the sampler's, over Gemma's vocabulary
    for (f32 scale : {0.001f, 1.0f, 10.0f, 50.0f}) check(rng.reals(count, Kind::Unit), scale);
}

// Equal terms of the sum: its roundings add up.
TEST(softmax, EqualValues) {
  for (u32 count : {1, 3, 8, 1000, 16384})
    for (int i = 0; i < 20; ++i) {
      std::vector<f32> y(count, rng.real(-3, 3));
      y[rng.below(count)] = 3;
      check(y, 1);
    }
}

// From logits so near that all are alike to logits of which one takes all.
TEST(softmax, Spread) {
  for (f32 spread = 0x1p-30f; spread < 0x1p126f; spread *= 2.5f) {
    auto y = rng.reals(64, Kind::Unit);
    for (f32 &v : y) v *= spread;
    check(y, 1);
  }
  for (f32 scale : {1e-6f, 1.0f, 1e6f})
    for (Kind kind : kinds) check(rng.reals(60, kind), scale);
  std::vector<f32> ramp(16384);  // across all that the exponential has to offer, and its end
  for (u32 i = 0; i < ramp.size(); ++i) ramp[i] = f32(i) * (-90.0f / 16384);
  check(ramp, 1);
}

// A ring's positions that are not seen lie anywhere: in front, in the middle.
TEST(softmax, Masked) {
  for (u32 n : {8, 64, 1000})
    for (u32 seen : {1u, n / 2, n - 1}) {
      std::vector<f32> y(n, -INFINITY), few = rng.reals(seen, Kind::Unit);
      u32 first = rng.below(n);
      for (u32 i = 0; i < seen; ++i) y[(first + i) % n] = few[i];
      Buffer by("y", Place::Back, y, fill_out);
      by.writable();
      call(softmax, by.at(), no_x, no_w, n, no_k, 1.0f);
      f64 sum = 0;
      for (f32 v : few) sum += std::exp(f64(v));
      for (u32 i = 0; i < n; ++i) {
        u32 at = (i + n - first) % n;
        f64 p = at < seen ? std::exp(f64(few[at])) / sum : 0;
        check_close(i, by.at()[i], {p, p * (3e-6 + n * 0x1p-27)});
      }
    }
}

TEST(softmax, SingleSteps) {
  SingleSteps guard;
  check(rng.reals(11, Kind::Unit), 24, 1);
}
