// rmsnorm_test - y = x * w / rms(x).  Contract: asm/kernels.h
#include "harness.h"

extern "C" decltype(rmsnorm) portable_rmsnorm;

// The bound: the sum of squares takes n / 8 roundings and 3 for the horizontal sum, mean and eps 2;
// the root halves them; root, product and quotient add 3, and one is left for the second order.
// x * w may be denormal, and the quotient.
static void check(const std::vector<f32> &x, const std::vector<f32> &w, f32 eps) {
  u32 n = u32(x.size());
  SCOPED_TRACE(testing::Message() << "n " << n << ", eps " << eps);
  auto run = [&](Place place) {
    Buffer bx("x", place, x), bw("w", place, w), by("y", place, n * 4, 4, fill_out);
    by.writable();
    call(rmsnorm, by.at(), bx.at(), bw.at(), n, no_k, eps);
    return by.values(0, n);
  };
  auto run_in_place = [&](Place place) {
    Buffer bx("x", place, x, fill_out), bw("w", place, w);
    bx.writable();
    call(rmsnorm, bx.at(), bx.at(), bw.at(), n, no_k, eps);
    return bx.values(0, n);
  };
  auto got = everywhere(run);
  expect_same(everywhere(run_in_place), got);
  f64 sum = 0;
  for (f32 v : x) sum += f64(v) * v;
  f64 rms = std::sqrt(sum / n + eps), relative = (n / 16 + 7) * 0x1p-24;
  std::vector<f32> twin(n);
  portable_rmsnorm(twin.data(), x.data(), w.data(), n, no_k, eps);
  auto want = [&](usize i) {
    f64 y = f64(x[i]) * w[i] / rms;
    return Want{y, relative * std::fabs(y) + 0x1p-149 * (1 + 1 / rms)};
  };
  expect_close(got, want);
  expect_close(got, [&](usize i) { return Want{twin[i], 2 * want(i).bound}; });
}

TEST(rmsnorm, Shapes) {
  for (u32 n = 8; n <= 320; n += 8)
    check(rng.reals(n, Kind::Unit), rng.reals(n, Kind::Unit), 1e-6f);
  for (u32 n : {2048, 16384})
    for (int i = 0; i < 10; ++i) check(rng.reals(n, Kind::Wide), rng.reals(n, Kind::Wide), 1e-6f);
}

// Equal squares: the roundings of the sum add up.
TEST(rmsnorm, EqualValues) {
  for (u32 n : {8, 64, 2048, 16384})
    for (int i = 0; i < 10; ++i)
      check(std::vector<f32>(n, rng.real(Kind::Wide)), rng.reals(n, Kind::Unit), 1e-6f);
}

// Squares that vanish leave eps; the largest that do not overflow.
TEST(rmsnorm, SpecialValues) {
  for (f32 eps : {1e-6f, 1e-5f, 1.0f})
    for (Kind x : {Kind::Zeros, Kind::Tiny, Kind::Unit})
      for (Kind w : {Kind::Zeros, Kind::Tiny, Kind::Unit})
        check(rng.reals(64, x), rng.reals(64, w), eps);
  auto large = rng.reals(64, Kind::Unit);
  for (f32 &x : large) x *= 0x1p60f;
  check(large, rng.reals(64, Kind::Wide), 1e-6f);
  check(std::vector<f32>(8, 0.0f), rng.reals(8, Kind::Unit), 1e-6f);
}

TEST(rmsnorm, SingleSteps) {
  SingleSteps guard;
  check(rng.reals(16, Kind::Unit), rng.reals(16, Kind::Unit), 1e-6f);
}
