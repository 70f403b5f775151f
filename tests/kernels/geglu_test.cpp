// geglu_test - gelu(gate) * up.  Contract: asm/kernels.h
#include "harness.h"

extern "C" decltype(geglu) portable_geglu;

// z / 2 * (1 + tanh u) = z / (1 + e^-2u): without the cancellation where u is far below 0.
static f64 gelu(f64 z) {
  f64 u = std::sqrt(2 / M_PI) * (z + 0.044715 * z * z * z);
  return z / (1 + std::exp(-2 * u));
}

static void check(const std::vector<f32> &gate, const std::vector<f32> &up) {
  u32 n = u32(gate.size());
  SCOPED_TRACE(n);
  auto got = everywhere([&](Place place) {
    Buffer bg("gate", place, gate, fill_out), bu("up", place, up);
    bg.writable();
    call(geglu, bg.at(), bu.at(), n);
    return bg.values(0, n);
  });
  // For z < 0 the argument's rounding costs in proportion to 2u = 1.6 z + 0.07 z^3, down to
  // z = -10, where the exponential ends.  A result may be denormal, before or after the product.
  auto want = [&](usize i) {
    f64 z = gate[i], y = gelu(z) * up[i], relative = 1e-6 * (1 + (z < 0 ? z * z / 2 : 0));
    f64 bound = (y == 0 ? 0 : relative * std::fabs(y)) + 1e-38 * std::fabs(z * up[i]);
    return Want{y, bound + 0x1p-149 * (1 + std::fabs(up[i]))};
  };
  auto twin = gate;
  portable_geglu(twin.data(), up.data(), n);
  for (u32 i = 0; i < n; ++i) {
    Want w = want(i);
    if (std::fabs(w.value) + w.bound > 0x1.fffffep127) continue;  // the product may overflow
    SCOPED_TRACE(testing::Message() << "gelu(" << gate[i] << ") * " << up[i]);
    check_close(i, got[i], w);
    check_close(i, got[i], {twin[i], 2 * w.bound});
  }
}

TEST(geglu, Shapes) {
  for (u32 n = 8; n <= 320; n += 8) {
    auto gate = rng.reals(n, Kind::Unit);
    for (f32 &z : gate) z *= 12;
    check(gate, rng.reals(n, Kind::Unit));
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
  for (Kind gate : kinds)
    for (Kind up : kinds) check(rng.reals(256, gate), rng.reals(256, up));
}

TEST(geglu, SingleSteps) {
  SingleSteps guard;
  check(rng.reals(16, Kind::Unit), rng.reals(16, Kind::Unit));
}
