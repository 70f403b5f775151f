// row_test - the tests of all row_* kernels.  Each is asked for by a line: row.h.
// Read first: asm/kernels.h, harness.h, weight_types.h.
#include "row.h"

#include "weight_types.h"

struct RowTest : testing::Test {
  const WeightType &type;
  RowKernel kernel, oracle;
  void (RowTest::*body)();

  RowTest(const WeightType &type, RowKernel kernel, RowKernel oracle, void (RowTest::*body)())
      : type(type), kernel(kernel), oracle(oracle), body(body) {}
  void TestBody() override { (this->*body)(); }

  // What a block with an infinite scale stands for is not finite, and more is not said; nor is the
  // sign of a zero.
  f32 comparable(f32 y, f64 weight) const {
    return !type.quantised() ? y : std::isfinite(weight) ? y + 0.0f : y - y;
  }

  // The weight is rounded to f32, which only matters with a minimum.  The product of two f32 is
  // exact in f64: the f64 reference rounds once, as the contract does.
  void check(const std::vector<u8> &row, f32 scale) {
    u32 n = u32(row.size() / type.bytes * type.block);
    SCOPED_TRACE(testing::Message() << "n " << n << ", scale " << scale);
    auto got = everywhere([&](Place place) {
      Buffer w("w", place, row.size(), type.align, fill_in);
      Buffer y("y", place, n * 4, 4, fill_out);
      memcpy(w.data, row.data(), row.size());
      y.writable();
      call(kernel, y.at(), no_x, w.data, n, no_k, scale);
      return y.values(0, n);
    });
    std::vector<f32> want(n), twin(n);
    oracle(twin.data(), no_x, row.data(), n, no_k, scale);
    for (u32 i = 0; i < n; ++i) {
      Terms w = type.at(row.data(), i);
      f64 weight = f32(w.product + w.min);
      want[i] = comparable(f32(scale * weight), weight);
      got[i] = comparable(got[i], weight);
      twin[i] = comparable(twin[i], weight);
    }
    expect_same(got, want);
    expect_same(got, twin);
  }

  void shapes() {
    u32 step = type.n_step();
    for (u32 n = 1; n <= 40; ++n) check(type.row(step * n, Kind::Unit), rng.real(Kind::Wide));
    for (Kind kind : kinds) check(type.row(step * 5, kind), rng.real(Kind::Unit));
    check(type.row(16384, Kind::Wide), 45.254834f);  // sqrt(2048), as for Gemma-2B's embeddings
  }

  // Blocks: each byte in turn everywhere, among it scales that are not finite; then anything.
  std::vector<u8> blocks() const {
    std::vector<u8> row(512 * type.bytes);
    for (usize i = 0; i < row.size(); ++i)
      row[i] = u8(i < row.size() / 2 ? i / type.bytes : rng.bits());
    return row;
  }

  void every_pattern() {
    auto row = type.quantised() ? blocks() : float_patterns(type.bytes);
    for (f32 scale : {1.0f, -45.254834f, 0.0f, -0.0f, 0x1p-149f, 0x1.8p-100f, 0x1.fffffep127f})
      check(row, scale);
  }

  void single_steps() {
    SingleSteps guard;
    check(type.row(type.n_step(), Kind::Unit), 2);
  }
};

RowTests::RowTests(const char *suffix, RowKernel kernel, RowKernel oracle) {
  const WeightType &type = weight_type_of(suffix);
  auto test = [&](const char *name, void (RowTest::*body)()) {
    auto make = [=, &type] { return new RowTest(type, kernel, oracle, body); };
    auto suite = std::string("row_") + suffix;
    testing::RegisterTest(suite.c_str(), name, nullptr, nullptr, __FILE__, __LINE__, make);
  };
  test("Shapes", &RowTest::shapes);
  test("EveryPattern", &RowTest::every_pattern);
  test("SingleSteps", &RowTest::single_steps);
}
