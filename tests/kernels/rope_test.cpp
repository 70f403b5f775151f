// rope_test - rotates the halves of a head against each other.  Contract: asm/kernels.h
#include "harness.h"

extern "C" decltype(rope) portable_rope;

// x holds cosines, then sines.  The bound: the larger product may be off by ulp / 2, the other by
// half of that, the sum by ulp / 2; a quarter is left for cosines and sines that are rounded.
static void check(const std::vector<f32> &y, const std::vector<f32> &x) {
  u32 n = u32(y.size()), half = n / 2;
  SCOPED_TRACE(testing::Message() << "n " << n);
  auto got = everywhere([&](Place place) {
    Buffer by("y", place, y, fill_out), bx("x", place, x);
    by.writable();
    call(rope, by.at(), bx.at(), no_w, n, no_k, no_scale);
    return by.values(0, n);
  });
  auto want = [&](usize i) {
    usize j = i % half;
    f64 re = y[j], im = y[j + half], c = x[j], s = x[j + half];
    return Want{i < half ? re * c - im * s : re * s + im * c, 1.5 * ulp(std::hypot(re, im))};
  };
  expect_close(got, want);
  auto twin = y;
  portable_rope(twin.data(), x.data(), no_w, n, no_k, no_scale);
  expect_close(got, [&](usize i) { return Want{twin[i], 2 * want(i).bound}; });
}

static std::vector<f32> random_angles(u32 n) {
  std::vector<f32> x(n);
  for (u32 i = 0; i < n / 2; ++i) {
    f64 angle = rng.real(0, 10000);
    x[i] = f32(std::cos(angle));
    x[n / 2 + i] = f32(std::sin(angle));
  }
  return x;
}

TEST(rope, Shapes) {
  for (u32 n = 8; n <= 320; n += 8) check(rng.reals(n, Kind::Unit), random_angles(n));
  for (int i = 0; i < 20; ++i) check(rng.reals(16384, Kind::Unit), random_angles(16384));
}

TEST(rope, SpecialValues) {
  for (Kind kind : {Kind::Wide, Kind::Zeros, Kind::Tiny})
    check(rng.reals(512, kind), random_angles(512));
  auto large = rng.reals(512, Kind::Huge);
  for (f32 &y : large) y /= 2;  // the length of (y, y) has to be finite
  check(large, random_angles(512));
}

// Position 0: a rotation by nothing, exactly.
TEST(rope, AngleZero) {
  auto y = rng.reals(512, Kind::Huge);
  std::vector<f32> x(512);
  std::fill_n(x.begin(), 256, 1.0f);
  Buffer by("y", Place::Back, y, fill_out), bx("x", Place::Back, x);
  by.writable();
  call(rope, by.at(), bx.at(), no_w, 512, no_k, no_scale);
  expect_same(by.values(0, 512), y);
}

TEST(rope, SingleSteps) {
  SingleSteps guard;
  check(rng.reals(16, Kind::Unit), random_angles(16));
}
