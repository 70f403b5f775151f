// softcap_test - tanh(scale * y).  Contract: asm/kernels.h
#include "harness.h"

extern "C" decltype(softcap) portable_softcap;

static void check(const std::vector<f32> &y, f32 scale) {
  u32 n = u32(y.size());
  SCOPED_TRACE(testing::Message() << "n " << n << ", scale " << scale);
  auto got = everywhere([&](Place place) {
    Buffer by("y", place, y, fill_out);
    by.writable();
    call(softcap, by.at(), no_x, no_w, n, no_k, scale);
    return by.values(0, n);
  });
  auto twin = y;
  portable_softcap(twin.data(), no_x, no_w, n, no_k, scale);
  auto want = [&](usize i) { return Want{std::tanh(f64(scale) * y[i]), 3e-7}; };
  expect_close(got, want);
  expect_close(got, [&](usize i) { return Want{twin[i], 6e-7}; });
}

TEST(softcap, Shapes) {
  for (u32 n = 8; n <= 160; n += 8)
    for (f32 scale : {0.00125f, 0.02f, 1.0f, 6.0f}) check(rng.reals(n, Kind::Unit), scale);
  check(rng.reals(256000, Kind::Unit), 3);  // the logits of Gemma's vocabulary
}

TEST(softcap, SpecialValues) {
  for (Kind kind : kinds)
    for (f32 scale : {1e-6f, 0.02f, 1.0f}) check(rng.reals(256, kind), scale);
  check(std::vector<f32>(8, INFINITY), 1);
  check(std::vector<f32>(8, -INFINITY), 1);
}

TEST(softcap, SingleSteps) {
  SingleSteps guard;
  check(rng.reals(16, Kind::Unit), 0.5f);
}
