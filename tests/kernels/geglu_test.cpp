// geglu_test - gelu(y) * x.  Contract: asm/kernels.h
#include "harness.h"

extern "C" decltype(geglu) portable_geglu;

// z / 2 * (1 + tanh u) = z / (1 + e^-2u): without the cancellation where u is far below 0.
static f64 gelu(f64 z) {
  f64 u = std::sqrt(2 / M_PI) * (z + 0.044715 * z * z * z);
  return z / (1 + std::exp(-2 * u));
}

static void check(const std::vector<f32> &y, const std::vector<f32> &x) {
  u32 n = u32(y.size());
  SCOPED_TRACE(n);
  auto got = everywhere([&](Place place) {
    Buffer by("y", place, y, fill_out), bx("x", place, x);
    by.writable();
    call(geglu, by.at(), bx.at(), no_w, n, no_k, no_scale);
    return by.values(0, n);
  });
  // For z < 0 the argument's rounding costs in proportion to 2u = 1.6 z + 0.07 z^3, down to
  // z = -10, where the exponential ends.  A result may be denormal, before or after the product.
  auto want = [&](usize i) {
    f64 z = y[i], value = gelu(z) * x[i], relative = 1e-6 * (1 + (z < 0 ? z * z / 2 : 0));
    f64 bound = (value == 0 ? 0 : relative * std::fabs(value)) + 1e-38 * std::fabs(z * x[i]);
    return Want{value, bound + 0x1p-149 * (1 + std::fabs(x[i]))};
  };
  auto twin = y;
  portable_geglu(twin.data(), x.data(), no_w, n, no_k, no_scale);
  for (u32 i = 0; i < n; ++i) {
    Want w = want(i);
    if (std::fabs(w.value) + w.bound > 0x1.fffffep127) continue;  // the product may overflow
    SCOPED_TRACE(testing::Message() << "gelu(" << y[i] << ") * " << x[i]);
    check_close(i, got[i], w);
    check_close(i, got[i], {twin[i], 2 * w.bound});
  }
}

TEST(geglu, Shapes) {
  for (u32 n = 8; n <= 320; n += 8) {
    auto z = rng.reals(n, Kind::Unit);
    for (f32 &v : z) v *= 12;
    check(z, rng.reals(n, Kind::Unit));
  }
  check(rng.reals(16384, Kind::Wide), rng.reals(16384, Kind::Wide));
}

// Every exponent and the first bits of every mantissa.  Finite for all of them.
TEST(geglu, EveryPattern) {
  std::vector<f32> z;
  for (u32 i = 0; i < 65536; ++i) {
    f32 x = f32_from(i << 16 | (u32(rng.bits()) & 0xffff));
    if (std::isfinite(x)) z.push_back(x);
  }
  check(z, std::vector<f32>(z.size(), 1.0f));
  check(z, rng.reals(z.size(), Kind::Wide));
}

TEST(geglu, SpecialValues) {
  for (Kind z : kinds)
    for (Kind x : kinds) check(rng.reals(256, z), rng.reals(256, x));
}

TEST(geglu, SingleSteps) {
  SingleSteps guard;
  check(rng.reals(16, Kind::Unit), rng.reals(16, Kind::Unit));
}
