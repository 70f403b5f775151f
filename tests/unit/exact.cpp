// exact.cpp - on request, quantised weights without quantised activations: for the tight tolerance.
//
// unit.mk links the tests so that the engine's calls of matmul_* and quantise come here first
// (ld --wrap).  They go on to the kernels, unless a test has asked for exact arithmetic: then quantise
// copies its floats, and a quantised row is multiplied as the floats that row_* makes of it, in f64.
#include "exact.h"

#include <cstring>
#include <vector>

#include "../../asm/kernels.h"
#include "../../loader/model.h"

bool exact = false;

static void multiply(const Matmul *m, u32 begin, u32 step,
                     void (*row)(f32 *, const f32 *, const void *, u32, u32, f32)) {
  std::vector<f32> w(m->n);
  for (u32 first = begin; first < m->rows; first += step)
    for (u32 r = first; r < m->rows && r < first + 4; ++r) {
      row(w.data(), nullptr, (const u8 *)m->w + r * m->w_stride, m->n, 0, 1);
      for (u32 c = 0; c < m->cols; ++c) {
        auto x = (const u8 *)m->x + u64(c) * m->n * 4;
        double sum = 0;
        for (u32 i = 0; i < m->n; ++i) {
          f32 x_i;
          memcpy(&x_i, x + i * 4, 4);
          sum += double(w[i]) * x_i;
        }
        m->y[u64(c) * m->rows + r] = f32(sum);
      }
    }
}

static constexpr bool is_quantised(const char *suffix) { return suffix[0] == 'q'; }

extern "C" {

#define WRAP(name, suffix)                                                    \
  void __real_matmul_##suffix(const Matmul *m, u32 begin, u32 step);          \
  void __wrap_matmul_##suffix(const Matmul *m, u32 begin, u32 step) {         \
    if (exact && is_quantised(#suffix)) multiply(m, begin, step, row_##suffix); \
    else __real_matmul_##suffix(m, begin, step);                              \
  }
WEIGHT_TYPES(WRAP)

// Weak: a build without quantised types has none.
[[gnu::weak]] void __real_quantise(void *y, const f32 *x, const void *, u32 n, u32, f32);
void __wrap_quantise(void *y, const f32 *x, const void *w, u32 n, u32 position, f32 scale) {
  if (exact) memcpy(y, x, u64(n) * 4);
  else __real_quantise(y, x, w, n, position, scale);
}
}
