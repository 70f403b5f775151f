// quantise_test - activations to blocks of 8 bits.  Contract: asm/kernels.h
// Read first: rmsnorm_test.cpp
#include "harness.h"

extern "C" decltype(quantise) portable_quantise;

// All of the contract is exact: a quotient of f32 in f64, and a product with an integer below 2^13,
// round to f32 as if they had never been rounded before.
static Quantised reference(const f32 *x) {
  f64 max = 0x1p-100;
  for (u32 i = 0; i < 32; ++i) max = std::max(max, f64(std::fabs(x[i])));
  Quantised want = {.scale = f32(max / 127), .sum = 0, .halves = {}, .q = {}};
  for (u32 i = 0; i < 32; ++i) {
    f64 q = std::nearbyint(f32(f64(x[i]) / want.scale));
    EXPECT_LE(std::fabs(x[i] - q * want.scale), (0.5 + 0x1p-16) * want.scale);
    want.q[i] = i8(q);
    want.halves[i / 16] += i16(q);
  }
  want.sum = f32(want.scale * f64(want.halves[0] + want.halves[1]));
  return want;
}

static void check(const std::vector<f32> &x) {
  u32 n = u32(x.size());
  auto got = everywhere([&](Place place) {
    Buffer in("x", place, x), out("y", place, n / 32 * sizeof(Quantised), 4, fill_out);
    out.writable();
    call(quantise, out.at(), in.at(), no_w, n, no_k, no_scale);
    return out.values(0, out.size / 4);
  });
  std::vector<Quantised> twin(n / 32);
  portable_quantise((f32 *)twin.data(), x.data(), no_w, n, no_k, no_scale);
  for (u32 b = 0; b < n / 32; ++b) {
    auto y = (const Quantised *)got.data() + b;
    Quantised want = reference(&x[b * 32]);
    EXPECT_EQ(y->scale, want.scale) << "block " << b;
    EXPECT_EQ(y->sum, want.sum) << "block " << b;
    for (u32 h : {0, 1}) EXPECT_EQ(y->halves[h], want.halves[h]) << "block " << b;
    for (u32 i = 0; i < 32; ++i)
      EXPECT_EQ(y->q[i], want.q[i]) << "block " << b << ", x " << x[b * 32 + i] / want.scale;
    EXPECT_EQ(memcmp(y, &twin[b], sizeof want), 0) << "block " << b << " of the portable kernel";
  }
}

TEST(quantise, Shapes) {
  for (u32 n = 1; n <= 40; ++n) check(rng.reals(n * 32, Kind::Unit));
  for (u32 n = 8; n < 320; n += 8) check(rng.reals(n, Kind::Unit));  // what is left over is left out
  check(rng.reals(16384, Kind::Wide));
}

TEST(quantise, SpecialValues) {
  for (Kind kind : kinds)
    for (u32 n : {32, 64, 320}) check(rng.reals(n, kind));
  for (f32 value : {0.0f, -0.0f, 1.0f, -1.0f, 0x1p-149f, 0x1p-100f, -0x1.fffffep-101f, 0x1.fffffep127f})
    check(std::vector<f32>(32, value));
}

// The largest in each place, of either sign; its block does not touch the others.
TEST(quantise, EveryPlace) {
  for (u32 i = 0; i < 96; ++i) {
    auto x = rng.reals(96, Kind::Unit);
    x[i] = i % 2 ? -100 : 100;
    check(x);
  }
}

// Halves between two integers go to the even one; so do those that the division makes of others.
TEST(quantise, Ties) {
  for (f32 scale : {1.0f, 0x1p-90f, 0x1p100f, rng.real(1, 2)}) {
    std::vector<f32> x(256 * 32, 0);
    for (u32 i = 0; i < x.size(); ++i) {
      f32 tie = (f32(i % 254) - 126.5f) * scale;
      x[i] = i % 32 == 0 ? 127 * scale : i % 3 ? tie : std::nextafter(tie, rng.real(-1, 1) * scale);
    }
    check(x);
  }
}

TEST(quantise, SingleSteps) {
  SingleSteps guard;
  check(rng.reals(64, Kind::Unit));
}
