// row.h - the tests of the row_* kernels.  Each row_*_test.cpp is one line of it.
// Read first: asm/kernels.h, harness.h, weight_types.h.
#pragma once
#include "weight_types.h"

#define ROW_TESTS(suffix, Type)                                                  \
  extern "C" decltype(row_##suffix) portable_row_##suffix;                       \
  static RowTest<Type> row_test = {row_##suffix, portable_row_##suffix};         \
  TEST(row_##suffix, Shapes) { row_test.shapes(); }                              \
  TEST(row_##suffix, EveryPattern) { row_test.every_pattern(); }                 \
  TEST(row_##suffix, SingleSteps) { row_test.single_steps(); }

template <class T>
struct RowTest {
  using Kernel = decltype(&row_f32);
  Kernel kernel, oracle;

  static constexpr u32 n_step = T::block > 8 ? T::block : 8;

  // The product of two f32 is exact in f64: the f64 reference rounds once, as the contract does.
  void check(const std::vector<u8> &row, f32 scale) {
    u32 n = u32(row.size() / T::bytes * T::block);
    SCOPED_TRACE(testing::Message() << "n " << n << ", scale " << scale);
    auto got = everywhere([&](Place place) {
      Buffer w("w", place, row.size(), T::align, fill_in);
      Buffer y("y", place, n * 4, 4, fill_out);
      memcpy(w.data, row.data(), row.size());
      y.writable();
      call(kernel, y.at(), no_x, w.data, n, no_k, scale);
      return y.values(0, n);
    });
    std::vector<f32> want(n), twin(n);
    for (u32 i = 0; i < n; ++i) want[i] = f32(scale * T::value(row.data(), i));
    oracle(twin.data(), no_x, row.data(), n, no_k, scale);
    expect_same(got, want);
    expect_same(got, twin);
  }

  std::vector<u8> row(u32 n, Kind kind) {
    std::vector<u8> bytes(n / T::block * T::bytes);
    T::fill(bytes.data(), n, kind);
    return bytes;
  }

  void shapes() {
    for (u32 n = 1; n <= 40; ++n) check(row(n_step * n, Kind::Unit), rng.real(Kind::Wide));
    check(row(16384, Kind::Wide), 45.254834f);  // sqrt(2048), as for Gemma-2B's embeddings
  }

  void every_pattern() {
    for (f32 scale : {1.0f, -45.254834f, 0.0f, -0.0f, 0x1p-149f, 0x1.8p-100f, 0x1.fffffep127f})
      check(T::patterns(), scale);
  }

  void single_steps() {
    SingleSteps guard;
    check(row(n_step * 2, Kind::Unit), 2);
  }
};
