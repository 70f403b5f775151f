// matmul_test - the tests of all matmul_* kernels.  Each is asked for by a line: matmul.h.
// Read first: asm/kernels.h, harness.h, weight_types.h.
#include "matmul.h"

#include "weight_types.h"

struct Problem {
  const WeightType &type, &x_type;
  u32 n, rows, cols;
  std::vector<u8> w, x;  // [rows][n], [cols][n]

  Problem(const WeightType &type, u32 n, u32 rows, u32 cols, Kind w_kind, Kind x_kind)
      : type(type), x_type(type.quantised() ? activations_8 : activations_f32), n(n), rows(rows),
        cols(cols), w(type.row(rows * n, w_kind)), x(cols * x_stride(), fill_in) {
    for (u32 c = 0; c < cols; ++c) memcpy(&x[c * x_stride()], x_type.row(n, x_kind).data(), x_bytes());
  }

  usize w_bytes() const { return type.row_bytes(n); }
  usize x_bytes() const { return x_type.row_bytes(n); }
  usize x_stride() const { return (n + (type.quantised() ? COLUMN_PAD : 0)) * sizeof(f32); }
};

// The f64 reference: for each row or column, its values and what errors are measured by.
struct Reference {
  std::vector<Terms> w;  // [rows][n]
  std::vector<f64> x;    // [cols][n]
  const Problem &p;

  explicit Reference(const Problem &p) : p(p) {
    for (u32 i = 0; i < p.rows * p.n; ++i) w.push_back(p.type.at(p.w.data(), i));
    for (u32 i = 0; i < p.cols * p.n; ++i)
      x.push_back(p.x_type.at(&p.x[i / p.n * p.x_stride()], i % p.n).product);
  }

  // Floats: each of 8 partial sums takes n / 8 roundings, the horizontal sum 3, one is left for the
  // second order; a denormal product is off by half of 2^-149 at most.
  //
  // Blocks: the dot product is exact as an i32 and as an f32; two products with scales, a sum for
  // each block of 32, also of the minima, 3 of the horizontal sum: n / 16 + 5.  A minimum times the
  // sum of x: 2 and as many sums.  The product of the scales may be denormal, with an error of
  // 2^-150 that the dot product, < 2^24, makes larger: 2^-126 a block.
  Want want(u32 r, u32 c) const {
    f64 sum = 0, sum_abs = 0;
    for (u32 i = 0; i < p.n; ++i) {
      Terms weight = w[r * p.n + i];
      f64 activation = x[c * p.n + i];
      sum += (weight.product + weight.min) * activation;
      sum_abs += (std::fabs(weight.product) + std::fabs(weight.min)) * std::fabs(activation);
    }
    if (sum_abs > 0x1.fffp127) return {sum, INFINITY};  // partial sums may overflow
    if (p.type.quantised()) return {sum, (p.n / 16 + 8) * 0x1p-24 * sum_abs + p.n * 0x1p-131};
    return {sum, (p.n / 8 + 4) * 0x1p-24 * sum_abs + p.n * 0x1p-149};
  }
};

struct MatmulTest : testing::Test {
  const WeightType &type;
  MatmulKernel kernel, oracle;
  void (MatmulTest::*body)();

  MatmulTest(const WeightType &type, MatmulKernel kernel, MatmulKernel oracle,
             void (MatmulTest::*body)())
      : type(type), kernel(kernel), oracle(oracle), body(body) {}
  void TestBody() override { (this->*body)(); }

  // The rows that kernel(m, begin, end) makes of columns [col, col + cols): [cols][rows], of which
  // the others are `untouched`.  Rows of w lie apart by any stride.
  std::vector<f32> run(const Problem &p, Place place, u32 begin, u32 end, u32 col, u32 cols) {
    usize bytes = p.w_bytes(), stride = bytes + (rng.below(3) ? rng.below(20) * type.align : 0);
    Buffer w("w", place, (p.rows - 1) * stride + bytes, type.align, fill_in);
    Buffer x("x", place, (cols - 1) * p.x_stride() + p.x_bytes(), p.x_type.align, fill_in);
    u32 y_stride = p.rows + rng.below(3) * rng.below(9);
    Buffer y("y", place, ((cols - 1) * y_stride + p.rows) * 4, 4, fill_out);
    for (u32 r = 0; r < p.rows; ++r) memcpy(w.at(r * stride), &p.w[r * bytes], bytes);
    memcpy(x.data, &p.x[col * p.x_stride()], x.size);
    Matmul problem = {w.data, x.data, y.at(), stride, p.n, cols, y_stride};
    Buffer m("m", place, std::vector<Matmul>{problem});
    for (u32 c = 0; c < cols; ++c)
      for (u32 r = 0; r < p.rows; ++r)
        if (share(r, begin, end) != Share::None) y.writable((c * y_stride + r) * 4, 4);
    call(kernel, m.at<Matmul>(), begin, end);
    std::vector<f32> all;
    for (u32 c = 0; c < cols; ++c)
      for (f32 value : y.values(c * y_stride * 4, p.rows)) all.push_back(value);
    return all;
  }
  std::vector<f32> run(const Problem &p) {
    return everywhere([&](Place place) { return run(p, place, 0, p.rows, 0, p.cols); });
  }
  static f32 untouched() { return f32_from(fill_out * 0x01010101u); }

  // Is row r of those that a call makes, or may make because it makes the last ones, or neither?
  enum class Share { None, Allowed, Due };
  static Share share(u32 r, u32 begin, u32 end) {
    if (begin >= end || r >= end) return Share::None;
    if (r >= begin) return Share::Due;
    return r + (4 - (end - begin) % 4) % 4 >= begin ? Share::Allowed : Share::None;
  }

  void check(const Problem &p) {
    SCOPED_TRACE(testing::Message() << "n " << p.n << ", rows " << p.rows << ", cols " << p.cols);
    auto all = run(p);
    std::vector<f32> twin(all.size());
    Matmul m = {p.w.data(), p.x.data(), twin.data(), p.w_bytes(), p.n, p.cols, p.rows};
    oracle(&m, 0, p.rows);
    Reference reference(p);
    for (u32 i = 0; i < all.size(); ++i) {
      Want w = reference.want(i % p.rows, i / p.rows);
      if (w.bound == INFINITY) continue;  // see overflow()
      check_close(i, all[i], w);
      check_close(i, all[i], {twin[i], 2 * w.bound});
    }
    check_parts(p, all);
  }
  void check(u32 n, u32 rows, u32 cols, Kind w_kind, Kind x_kind) {
    check(Problem(type, n, rows, cols, w_kind, x_kind));
  }

  // The same bits from any share of the rows and any choice of columns.
  void check_parts(const Problem &p, const std::vector<f32> &all) {
    for (int i = 0; i < 6; ++i) {
      u32 begin = rng.below(p.rows + 4), end = rng.between(4, p.rows);
      u32 col = rng.below(p.cols), cols = i == 1 ? 1 : rng.between(1, p.cols - col);
      SCOPED_TRACE(testing::Message() << "begin " << begin << ", end " << end << ", columns from "
                                      << col << " to " << col + cols);
      auto part = run(p, Place(rng.below(3)), begin, end, col, cols);
      for (u32 c = 0; c < cols; ++c)
        for (u32 r = 0; r < p.rows; ++r) {
          f32 &got = part[c * p.rows + r], whole = all[(col + c) * p.rows + r];
          bool due = share(r, begin, end) == Share::Due;
          if (!due && bits_from(got) == bits_from(untouched())) got = whole;
        }
      auto first = all.begin() + col * p.rows;
      expect_same(part, {first, first + cols * p.rows});
    }
  }

  void shapes() {
    u32 n_step = type.n_step();
    for (u32 rows = 4; rows <= 13; ++rows)
      for (u32 cols = 1; cols <= 5; ++cols)
        for (u32 n : {1u, 2u, rng.between(3, 9)})
          check(n_step * n, rows, cols, Kind::Unit, Kind::Unit);
    for (u32 n = 1; n <= 40; n += n_step / 32 + 1)
      check(n_step * n, rng.between(4, 70), rng.between(1, 20), Kind::Unit, Kind::Wide);
  }

  void largest_shapes() {
    u32 n_step = type.n_step();
    check(16384, 7, 3, Kind::Unit, Kind::Unit);
    check(n_step, n_step > 32 ? 2048 : 16384, 2, Kind::Unit, Kind::Unit);
    check(n_step, 5, type.quantised() ? 64 : 257, Kind::Unit, Kind::Unit);
    Problem same(type, 16384, 4, 1, Kind::Unit, Kind::Unit);  // equal products: roundings add up
    for (u32 i = type.bytes; i < same.w_bytes(); ++i) same.w[i] = same.w[i - type.bytes];
    for (u32 i = same.x_type.bytes; i < same.x_bytes(); ++i) same.x[i] = same.x[i - same.x_type.bytes];
    check(same);
  }

  void special_values() {
    for (Kind w_kind : kinds)
      for (Kind x_kind : kinds)
        for (u32 n : {1, 1, 5})
          check(type.n_step() * n, rng.between(4, 9), rng.between(1, 4), w_kind, x_kind);
  }

  // Blocks: weights as large as they get, times activations of the same sign: made byte by byte,
  // in two rounds.  Here integers that are too short overflow or saturate.
  void largest_integers() {
    Problem p(type, type.block, 4, 3, Kind::Unit, Kind::Unit);
    auto size = [&] {
      f64 sum = 0;
      for (u32 i = 0; i < p.n; ++i) sum += std::fabs(type.at(p.w.data(), i).product);
      return sum;
    };
    for (u32 i = 0; i < 2 * type.bytes; ++i)
      for (u8 extreme : {0x00, 0x7f, 0x80, 0xff}) {
        u8 &byte = p.w[i % type.bytes], old = byte;
        f64 before = size();
        byte = extreme;
        if (!(size() > before)) byte = old;  // also where it is a NaN
      }
    for (u32 i = type.bytes; i < p.w.size(); ++i) p.w[i] = p.w[i - type.bytes];
    for (u32 c = 0; c < p.cols; ++c)
      for (u32 part = 0; part < p.n / 32; ++part) {
        auto &x = ((Quantised *)&p.x[c * p.x_stride()])[part];
        x = {1.0f / 127, 0, {}, {}};
        for (u32 i = 0; i < 32; ++i) {
          bool negative = type.at(p.w.data(), part * 32 + i).product < 0;
          x.q[i] = c == 2 || negative == (c == 1) ? 127 : -127;
          x.halves[i / 16] += x.q[i];
        }
        x.sum = x.scale * f32(x.halves[0] + x.halves[1]);
      }
    check(p);
  }

  // Floats: where all products are huge and positive, so is the sum: infinity.  An infinite
  // activation is infinite in its column alone.
  void overflow() {
    Problem p(type, 32, 6, 3, Kind::Huge, Kind::Unit);
    auto x = (f32 *)p.x.data();
    for (u32 i = 0; i < p.n; ++i) {  // by the signs of row 0
      f64 w = type.at(p.w.data(), i).product;
      x[i] = w < 0 ? -0x1p127f : 0x1p127f;
      x[p.n + i] = 0;
      x[2 * p.n + i] = i == 3 ? (w < 0 ? -INFINITY : INFINITY) : 1e-30f;
    }
    for (u32 r = 1; r < p.rows; ++r) memcpy(&p.w[r * p.w_bytes()], p.w.data(), p.w_bytes());
    auto y = run(p);
    for (u32 i = 0; i < y.size(); ++i)
      EXPECT_EQ(y[i], i / p.rows == 1 ? 0 : INFINITY) << "at " << i;
  }

  // Blocks: what is not finite spoils its own row or column, and nothing else.
  void not_finite() {
    Problem p(type, type.block * 3, 6, 3, Kind::Unit, Kind::Unit);
    auto good = run(p);
    for (u32 half = 0; half < type.bytes; half += 2) {
      Problem bad = p;  // wherever the scale lies: some of these are integers, and finite
      u32 row = rng.below(p.rows), col = rng.below(p.cols);
      const u16 patterns[] = {0x7c00, 0xfc00, 0x7e00, 0x7c01};
      *(u16 *)&bad.w[row * p.w_bytes() + type.bytes + half] = patterns[rng.below(4)];
      ((Quantised *)&bad.x[col * p.x_stride()])->scale = rng.below(2) ? INFINITY : 0x1p121f;
      auto y = run(bad);
      for (u32 i = 0; i < y.size(); ++i)
        if (i % p.rows == row || i / p.rows == col) y[i] = good[i];
      expect_same(y, good);
    }
  }

  // As the last rows of a large vocabulary are from the first.
  void far() {
    Problem p(type, type.n_step() * 3, 5, 3, Kind::Unit, Kind::Unit);
    FarPages w(p.rows);
    for (u32 r = 0; r < p.rows; ++r) memcpy(w.at(r), &p.w[r * p.w_bytes()], p.w_bytes());
    Buffer x("x", Place::Back, p.x), y("y", Place::Back, p.cols * p.rows * 4, 4, fill_out);
    y.writable();
    Matmul m = {w.at(0), x.data, y.at(), FarPages::stride, p.n, p.cols, p.rows};
    call(kernel, &m, 0, p.rows);
    expect_same(y.values(0, p.cols * p.rows), run(p, Place::Back, 0, p.rows, 0, p.cols));
  }

  void single_steps() {
    Problem p(type, type.n_step(), 5, 3, Kind::Unit, Kind::Unit);
    auto want = run(p);
    SingleSteps guard;
    expect_same(run(p, Place::Inside, 0, p.rows, 0, 3), want);
  }
};

MatmulTests::MatmulTests(const char *suffix, MatmulKernel kernel, MatmulKernel oracle) {
  const WeightType &type = weight_type_of(suffix);
  auto test = [&](const char *name, void (MatmulTest::*body)()) {
    auto make = [=, &type] { return new MatmulTest(type, kernel, oracle, body); };
    auto suite = std::string("matmul_") + suffix;
    testing::RegisterTest(suite.c_str(), name, nullptr, nullptr, __FILE__, __LINE__, make);
  };
  test("Shapes", &MatmulTest::shapes);
  test("LargestShapes", &MatmulTest::largest_shapes);
  test("SpecialValues", &MatmulTest::special_values);
  if (type.quantised()) {
    test("LargestIntegers", &MatmulTest::largest_integers);
    test("NotFinite", &MatmulTest::not_finite);
  } else {
    test("Overflow", &MatmulTest::overflow);
  }
  test("StridesBeyond32Bits", &MatmulTest::far);
  test("SingleSteps", &MatmulTest::single_steps);
}
