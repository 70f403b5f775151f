// matmul.h - the tests of the matmul_* kernels.  Each matmul_*_test.cpp is one line of it.
// Read first: asm/kernels.h, harness.h, weight_types.h.
#pragma once
#include "weight_types.h"

#define MATMUL_TESTS(suffix, Type)                                                         \
  extern "C" decltype(matmul_##suffix) portable_matmul_##suffix;                           \
  static MatmulTest<Type> matmul_test = {matmul_##suffix, portable_matmul_##suffix};       \
  TEST(matmul_##suffix, Shapes) { matmul_test.shapes(); }                                  \
  TEST(matmul_##suffix, LargestShapes) { matmul_test.largest_shapes(); }                   \
  TEST(matmul_##suffix, SpecialValues) { matmul_test.special_values(); }                   \
  TEST(matmul_##suffix, Overflow) { matmul_test.overflow(); }                              \
  TEST(matmul_##suffix, StridesBeyond32Bits) { matmul_test.far(); }                        \
  TEST(matmul_##suffix, SingleSteps) { matmul_test.single_steps(); }

template <class T>
struct MatmulTest {
  using Kernel = decltype(&matmul_f32);
  Kernel kernel, oracle;

  static constexpr u32 n_step = T::block > 8 ? T::block : 8;

  struct Problem {
    u32 n, rows, cols;
    std::vector<u8> w;   // [rows][n / block][bytes]
    std::vector<f32> x;  // [cols][n]

    Problem(u32 n, u32 rows, u32 cols, Kind w_kind, Kind x_kind)
        : n(n), rows(rows), cols(cols), w(rows * row_bytes()), x(rng.reals(cols * n, x_kind)) {
      for (u32 r = 0; r < rows; ++r) T::fill(&w[r * row_bytes()], n, w_kind);
    }
    usize row_bytes() const { return usize(n) / T::block * T::bytes; }
  };

  // The rows that kernel(m, begin, step) makes of columns [col, col + cols): [cols][rows], of which
  // the others are `untouched`.  Rows of w lie apart by any stride.
  std::vector<f32> run(const Problem &p, Place place, u32 begin, u32 step, u32 col, u32 cols) {
    usize bytes = p.row_bytes(), stride = bytes + (rng.below(3) ? rng.below(20) * T::align : 0);
    Buffer w("w", place, (p.rows - 1) * stride + bytes, T::align, fill_in);
    Buffer y("y", place, cols * p.rows * 4, 4, fill_out);
    for (u32 r = 0; r < p.rows; ++r) memcpy(w.at(r * stride), &p.w[r * bytes], bytes);
    auto first = p.x.begin() + col * p.n;
    Buffer x("x", place, std::vector<f32>(first, first + cols * p.n));
    Buffer m("m", place, std::vector<Matmul>{{w.data, x.at(), y.at(), stride, p.n, p.rows, cols}});
    for (u32 c = 0; c < cols; ++c)
      for (u32 r = 0; r < p.rows; ++r)
        if (share(p, r, begin, step) != Share::None) y.writable((c * p.rows + r) * 4, 4);
    call(kernel, m.at<Matmul>(), begin, step);
    return y.values(0, cols * p.rows);
  }
  static f32 untouched() { return f32_from(fill_out * 0x01010101u); }

  // Is row r of those that a call makes, or may make because it makes the last ones, or neither?
  enum class Share { None, Allowed, Due };
  static Share share(const Problem &p, u32 r, u32 begin, u32 step) {
    auto due = [&](u32 row) { return row >= begin && (row - begin) % step < 4; };
    if (due(r)) return Share::Due;
    return p.rows % 4 && r + 4 >= p.rows && due(p.rows - 1) ? Share::Allowed : Share::None;
  }

  // The f64 reference.  The bound: each of 8 partial sums takes n / 8 roundings, the horizontal sum
  // 3, one is left for the second order; a denormal product is off by half of 2^-149 at most.
  static Want want(const Problem &p, u32 r, u32 c) {
    f64 sum = 0, sum_abs = 0;
    for (u32 i = 0; i < p.n; ++i) {
      f64 product = T::value(&p.w[r * p.row_bytes()], i) * p.x[c * p.n + i];
      sum += product;
      sum_abs += std::fabs(product);
    }
    if (sum_abs > 0x1.fffp127) return {sum, INFINITY};  // partial sums may overflow
    return {sum, (p.n / 8 + 4) * 0x1p-24 * sum_abs + p.n * 0x1p-149};
  }

  void check(const Problem &p) {
    SCOPED_TRACE(testing::Message() << "n " << p.n << ", rows " << p.rows << ", cols " << p.cols);
    auto all = everywhere([&](Place place) { return run(p, place, 0, 4, 0, p.cols); });
    std::vector<f32> twin(all.size());
    Matmul m = {p.w.data(), p.x.data(), twin.data(), p.row_bytes(), p.n, p.rows, p.cols};
    oracle(&m, 0, 4);
    for (u32 i = 0; i < all.size(); ++i) {
      Want w = want(p, i % p.rows, i / p.rows);
      if (w.bound == INFINITY) continue;  // see overflow()
      check_close(i, all[i], w);
      check_close(i, all[i], {twin[i], 2 * w.bound});
    }
    check_parts(p, all);
  }

  // The same bits from any share of the rows and any choice of columns.
  void check_parts(const Problem &p, const std::vector<f32> &all) {
    for (int i = 0; i < 6; ++i) {
      u32 threads = rng.between(1, 5), begin = rng.below(threads + 1) * 4;
      u32 col = rng.below(p.cols), cols = i == 1 ? 1 : rng.between(1, p.cols - col);
      SCOPED_TRACE(testing::Message() << "begin " << begin << ", step " << threads * 4
                                      << ", columns from " << col << " to " << col + cols);
      auto part = run(p, Place(rng.below(3)), begin, threads * 4, col, cols);
      for (u32 c = 0; c < cols; ++c)
        for (u32 r = 0; r < p.rows; ++r) {
          f32 &got = part[c * p.rows + r], whole = all[(col + c) * p.rows + r];
          bool due = share(p, r, begin, threads * 4) == Share::Due;
          if (!due && bits_from(got) == bits_from(untouched())) got = whole;
        }
      auto first = all.begin() + col * p.rows;
      expect_same(part, {first, first + cols * p.rows});
    }
  }

  void shapes() {
    for (u32 rows = 4; rows <= 13; ++rows)
      for (u32 cols = 1; cols <= 5; ++cols)
        for (u32 n : {1u, 2u, rng.between(3, 9)})
          check({n_step * n, rows, cols, Kind::Unit, Kind::Unit});
    for (u32 n = 1; n <= 40; ++n)
      check({n_step * n, rng.between(4, 70), rng.between(1, 20), Kind::Unit, Kind::Wide});
  }

  void largest_shapes() {
    check({16384, 7, 3, Kind::Unit, Kind::Unit});
    check({n_step, 16384, 2, Kind::Unit, Kind::Unit});
    check({n_step, 5, 257, Kind::Unit, Kind::Unit});
    Problem same(16384, 4, 1, Kind::Unit, Kind::Unit);  // equal products: roundings add up
    for (u32 i = 1; i < same.n; ++i) {
      same.x[i] = same.x[0];
      if (i % T::block) continue;
      memcpy(&same.w[i / T::block * T::bytes], same.w.data(), T::bytes);
    }
    check(same);
  }

  void special_values() {
    for (Kind w_kind : kinds)
      for (Kind x_kind : kinds)
        for (u32 n : {n_step, n_step * 5})
          check({n, rng.between(4, 9), rng.between(1, 4), w_kind, x_kind});
  }

  // Where all products are huge and positive, so is the sum: infinity.  An infinite activation is
  // infinite in its column alone.
  void overflow() {
    Problem p(n_step * 4, 6, 3, Kind::Unit, Kind::Unit);
    for (u32 r = 0; r < p.rows; ++r) T::fill(&p.w[r * p.row_bytes()], p.n, Kind::Huge);
    for (u32 i = 0; i < p.n; ++i) {  // by the signs of row 0
      f64 w = T::value(p.w.data(), i);
      p.x[i] = w < 0 ? -0x1p127f : 0x1p127f;
      p.x[p.n + i] = 0;
      p.x[2 * p.n + i] = i == 3 ? (w < 0 ? -INFINITY : INFINITY) : 1e-30f;
    }
    for (u32 r = 1; r < p.rows; ++r) memcpy(&p.w[r * p.row_bytes()], p.w.data(), p.row_bytes());
    if (T::value(p.w.data(), 3) == 0) return;  // 0 * infinity
    auto y = everywhere([&](Place place) { return run(p, place, 0, 4, 0, p.cols); });
    for (u32 i = 0; i < y.size(); ++i)
      EXPECT_EQ(y[i], i / p.rows == 1 ? 0 : INFINITY) << "at " << i;
  }

  // As the last rows of a large vocabulary are from the first.
  void far() {
    Problem p(n_step * 3, 5, 3, Kind::Unit, Kind::Unit);
    FarPages w(p.rows);
    for (u32 r = 0; r < p.rows; ++r) memcpy(w.at(r), &p.w[r * p.row_bytes()], p.row_bytes());
    Buffer x("x", Place::Back, p.x), y("y", Place::Back, p.cols * p.rows * 4, 4, fill_out);
    y.writable();
    Matmul m = {w.at(0), x.at(), y.at(), FarPages::stride, p.n, p.rows, p.cols};
    call(kernel, &m, 0, 4);
    expect_same(y.values(0, p.cols * p.rows), run(p, Place::Back, 0, 4, 0, p.cols));
  }

  void single_steps() {
    SingleSteps guard;
    check({n_step, 5, 3, Kind::Unit, Kind::Unit});
  }
};
