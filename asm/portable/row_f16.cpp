// row_f16 - one row of a matrix of f16, as f32.  Contract: asm/kernels.h
#include "weights.h"

void row_f16(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale) {
  row<F16>(y, w, n, scale);
}
