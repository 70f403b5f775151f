// store_f16_test - f32 to f16, to nearest even, with a stride.  Contract: asm/kernels.h
#include "weight_types.h"

extern "C" decltype(store_f16) portable_store_f16;

static bool is_nan(f16 x) { return (x & 0x7fff) > 0x7c00; }

static void check(const std::vector<f32> &src, usize stride) {
  u32 n = u32(src.size());
  SCOPED_TRACE(testing::Message() << "n " << n << ", stride " << stride);
  std::vector<f16> twin(n);
  portable_store_f16(twin.data(), src.data(), n, 2);
  for (Place place : {Place::Front, Place::Back, Place::Inside}) {
    Buffer bs("src", place, src), bd("dst", place, (n - 1) * stride + 2, 2, fill_out);
    for (u32 i = 0; i < n; ++i) bd.writable(i * stride, 2);
    call(store_f16, bd.data, bs.at(), n, stride);
    for (u32 i = 0; i < n; ++i) {
      f16 got = *bd.at<f16>(i * stride), want = std::isnan(src[i]) ? 0x7e00 : f16_of(src[i]);
      EXPECT_TRUE(got == want || (is_nan(got) && is_nan(want)))
          << "at " << i << ": " << src[i] << " became 0x" << std::hex << got << ", want 0x" << want;
      EXPECT_TRUE(twin[i] == want || (is_nan(twin[i]) && is_nan(want)))
          << "at " << i << ": the oracle makes 0x" << std::hex << twin[i] << " of " << src[i];
    }
  }
}

TEST(store_f16, Shapes) {
  for (u32 n = 1; n <= 40; ++n) check(rng.reals(n, Kind::Unit), 2 * rng.between(1, 40));
  for (usize stride : {2, 4, 4096}) check(rng.reals(16384 / stride, Kind::Wide), stride);
  check(rng.reals(16384, Kind::Wide), 2);
}

// Every f16, the point half way to the next, and their neighbours among the f32.
TEST(store_f16, EveryRounding) {
  std::vector<f32> src;
  for (u32 h = 0; h < 0x7c00; ++h) {
    f64 low = float_value(h, 5, 10), high = h == 0x7bff ? 65536 : float_value(h + 1, 5, 10);
    for (f64 x : {low, (low + high) / 2}) {
      f32 v = f32(x);
      for (f32 w : {std::nextafterf(v, -1), v, std::nextafterf(v, 1e9f)})
        src.insert(src.end(), {w, -w});
    }
  }
  check(src, 2);
}

TEST(store_f16, EveryPattern) {
  auto bytes = float_patterns(4);
  std::vector<f32> src(65536);
  memcpy(src.data(), bytes.data(), bytes.size());
  check(src, 2);
}

TEST(store_f16, SpecialValues) {
  for (Kind kind : kinds) check(rng.reals(1000, kind), 6);
}

TEST(store_f16, StridesBeyond32Bits) {
  auto src = rng.reals(5, Kind::Unit);
  FarPages dst(5);
  call(store_f16, dst.at(0), src.data(), 5, FarPages::stride);
  for (u32 i = 0; i < 5; ++i) EXPECT_EQ(*dst.at<f16>(i), f16_of(src[i]));
}

TEST(store_f16, SingleSteps) {
  SingleSteps guard;
  check(rng.reals(5, Kind::Unit), 64);
}
