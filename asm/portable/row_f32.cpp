// row_f32 - one row of a matrix of f32, as f32.  Contract: asm/kernels.h
#include "weights.h"

void row_f32(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale) {
  row<F32>(y, w, n, scale);
}
