// exact.cpp - on request, quantised weights without quantised activations: for the tight tolerance.
//
// unit.mk links the tests so that the engine's calls of matmul_* and quantise come here first
// (ld --wrap).  They go on to the kernels, unless a test has asked for exact arithmetic: then
// quantise copies its floats, and a matrix is multiplied as the floats that row_* makes of it.
#include "exact.h"

#include <map>
#include <vector>

#include "../../asm/kernels.h"
#include "../../loader/model.h"

bool exact = false;

// In one thread: rows are kept.
template <auto row>
static void multiply(const Matmul *m, u32 begin, u32 end) {
  static std::map<const u8 *, std::vector<f32>> rows;
  u64 n = m->n;
  for (u32 r = begin; r < end; ++r) {
    auto at = (const u8 *)m->w + r * m->w_stride;
    auto &w = rows[at];
    if (w.empty()) {
      w.resize(n);
      row(w.data(), nullptr, at, m->n, 0, 1);
    }
    for (u32 c = 0; c < m->cols; ++c) {
      const f32 *x = (const f32 *)m->x + c * (n + COLUMN_PAD), *y = w.data();
      double sums[4] = {};
      for (u32 i = 0; i < n; i += 4)
        for (u32 j = 0; j < 4; ++j) sums[j] += double(x[i + j]) * y[i + j];
      m->y[u64(c) * m->y_stride + r] = f32(sums[0] + sums[1] + sums[2] + sums[3]);
    }
  }
}

static constexpr bool is_quantised(const char *suffix) { return suffix[0] == 'q'; }

extern "C" {

#define WRAP(name, suffix)                                                                  \
  void __real_matmul_##suffix(const Matmul *m, u32 begin, u32 end);                         \
  void __wrap_matmul_##suffix(const Matmul *m, u32 begin, u32 end) {                        \
    if (exact && is_quantised(#suffix)) multiply<row_##suffix>(m, begin, end);              \
    else __real_matmul_##suffix(m, begin, end);                                             \
  }
WEIGHT_TYPES(WRAP)

// Weak: a build without quantised types has none.
[[gnu::weak]] void __real_quantise(f32 *y, const f32 *x, const void *, u32 n, u32, f32);
void __wrap_quantise(f32 *y, const f32 *x, const void *w, u32 n, u32 position, f32 scale) {
  if (!exact) return __real_quantise(y, x, w, n, position, scale);
  for (u32 i = 0; i < n; ++i) y[i] = x[i];
}
}
