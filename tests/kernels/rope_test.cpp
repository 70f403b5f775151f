// rope_test - rotates the halves of a head against each other.  Contract: asm/kernels.h
#include "harness.h"

extern "C" decltype(rope) portable_rope;

// cs holds cosines, then sines.
static void check(const std::vector<f32> &x, const std::vector<f32> &cs) {
  u32 half = u32(x.size() / 2);
  SCOPED_TRACE(testing::Message() << "half " << half);
  auto got = everywhere([&](Place place) {
    Buffer bx("x", place, x, fill_out), bcs("cs", place, cs);
    bx.writable();
    call(rope, bx.at(), bcs.at(), half);
    return bx.values(0, 2 * half);
  });
  auto want = [&](usize i) {
    usize j = i % half;
    f64 re = x[j], im = x[j + half], c = cs[j], s = cs[j + half];
    // The larger product may be off by ulp / 2, the other by half of that, the sum by ulp / 2; a
    // quarter is left for cosines and sines that are rounded.
    return Want{i < half ? re * c - im * s : re * s + im * c, 1.5 * ulp(std::hypot(re, im))};
  };
  expect_close(got, want);
  auto twin = x;
  portable_rope(twin.data(), cs.data(), half);
  expect_close(got, [&](usize i) { return Want{twin[i], 2 * want(i).bound}; });
}

static std::vector<f32> angles(u32 half) {
  std::vector<f32> cs(2 * half);
  for (u32 i = 0; i < half; ++i) {
    f64 angle = rng.real(0, 10000);
    cs[i] = f32(std::cos(angle));
    cs[half + i] = f32(std::sin(angle));
  }
  return cs;
}

TEST(rope, Shapes) {
  for (u32 half = 4; half <= 160; half += 4) check(rng.reals(2 * half, Kind::Unit), angles(half));
  for (int i = 0; i < 20; ++i) check(rng.reals(16384, Kind::Unit), angles(8192));
}

TEST(rope, SpecialValues) {
  for (Kind kind : {Kind::Wide, Kind::Zeros, Kind::Tiny}) check(rng.reals(512, kind), angles(256));
  auto large = rng.reals(512, Kind::Huge);
  for (f32 &x : large) x /= 2;  // the length of (x, x) has to be finite
  check(large, angles(256));
}

// Position 0: a rotation by nothing.
TEST(rope, AngleZero) {
  auto x = rng.reals(512, Kind::Huge);
  std::vector<f32> cs(512);
  std::fill_n(cs.begin(), 256, 1.0f);
  Buffer bx("x", Place::Back, x, fill_out), bcs("cs", Place::Back, cs);
  bx.writable();
  call(rope, bx.at(), bcs.at(), 256);
  expect_same(bx.values(0, 512), x);
}

TEST(rope, SingleSteps) {
  SingleSteps guard;
  check(rng.reals(16, Kind::Unit), angles(8));
}
