// angles_test - the cosines and sines that rope turns by.  Contract: asm/kernels.h
#include "harness.h"

extern "C" decltype(angles) portable_angles;

static void check(u32 n, u32 position, f32 base, f32 factor = 1) {
  SCOPED_TRACE(testing::Message() << "n " << n << ", position " << position << ", base " << base
                                  << ", factor " << factor);
  const f32 scales[] = {factor, base};
  auto got = everywhere([&](Place place) {
    Buffer y("y", place, n * 4, 4, fill_out);
    y.writable();
    Buffer w("w", place, std::vector<f32>{factor, base});
    call(angles, y.at(), no_x, w.at(), n, position, no_scale);
    return y.values(0, n);
  });
  std::vector<f32> twin(n);
  portable_angles(twin.data(), no_x, scales, n, position, no_scale);
  auto want = [&](usize i) {  // long double: an angle of 2^20 turns an error of f64 into 1e-10
    long double a = position / (long double)factor * powl(base, -2.0L * (i % (n / 2)) / n);
    return Want{f64(i < n / 2 ? cosl(a) : sinl(a)), 1e-7};
  };
  expect_close(got, want);
  expect_close(got, [&](usize i) { return Want{twin[i], 2e-7}; });
}

TEST(angles, Shapes) {
  for (u32 n = 8; n <= 512; n += 8)
    for (f32 base : {10000.0f, 1e6f}) check(n, rng.below(1 << 20), base);
  for (u32 position = 0; position < 40; ++position) check(256, position, 10000);
  for (f32 factor : {0.25f, 1.5f, 8.0f, 40.0f}) check(256, rng.below(1 << 18), 1e6f, factor);
}

TEST(angles, SpecialValues) {
  for (u32 n : {8, 256})
    for (u32 position : {0, 1, 4095, 8191, 131071, (1 << 20) - 1})
      for (f32 base : {1.0f, 0x1.000002p0f, 1.5f, 2.0f, 1e10f, 0x1.fffffep127f})
        check(n, position, base);
}

// The first frequency is 1: the angle is the position.  Position 0 turns nothing, exactly.
TEST(angles, PositionZero) {
  std::vector<f32> want(256);
  std::fill_n(want.begin(), 128, 1.0f);
  Buffer y("y", Place::Back, want.size() * 4, 4, fill_out);
  y.writable();
  const f32 scales[] = {8, 10000};
  call(angles, y.at(), no_x, scales, 256, 0, no_scale);
  expect_same(y.values(0, 256), want);
}

TEST(angles, SingleSteps) {
  SingleSteps guard;
  check(8, 5, 10000);
}
