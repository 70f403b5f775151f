// add_test - y += x.  Contract: asm/kernels.h
#include "harness.h"

extern "C" decltype(add) portable_add;

// The sum in f64, rounded to f32, is the sum in f32: 53 bits are more than 2 * 24 + 2 (Figueroa,
// "When is double rounding innocuous?", SIGNUM 30(3), 1995).
static void check(const std::vector<f32> &y, const std::vector<f32> &x) {
  u32 n = u32(y.size());
  SCOPED_TRACE(n);
  auto got = everywhere([&](Place place) {
    Buffer by("y", place, y, fill_out), bx("x", place, x);
    by.writable();
    call(add, by.at(), bx.at(), no_w, n, no_k, no_scale);
    return by.values(0, n);
  });
  std::vector<f32> want(n), twin = y;
  for (u32 i = 0; i < n; ++i) want[i] = f32(f64(y[i]) + f64(x[i]));
  portable_add(twin.data(), x.data(), no_w, n, no_k, no_scale);
  expect_same(got, want);
  expect_same(got, twin);
}

TEST(add, Shapes) {
  for (u32 n = 8; n <= 320; n += 8) check(rng.reals(n, Kind::Unit), rng.reals(n, Kind::Unit));
  check(rng.reals(16384, Kind::Wide), rng.reals(16384, Kind::Wide));
}

TEST(add, SpecialValues) {
  for (Kind y : kinds)
    for (Kind x : kinds) check(rng.reals(256, y), rng.reals(256, x));
  const f32 ends[] = {0, -0.0f, INFINITY, -INFINITY, 0x1p-149f, -0x1p-149f, 0x1.fffffep127f,
                      -0x1.fffffep127f};
  for (f32 y : ends) check(std::vector<f32>(8, y), {std::begin(ends), std::end(ends)});
}

TEST(add, SingleSteps) {
  SingleSteps guard;
  check(rng.reals(16, Kind::Unit), rng.reals(16, Kind::Unit));
}
