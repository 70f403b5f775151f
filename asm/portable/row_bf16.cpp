// row_bf16 - one row of a matrix of bf16, as f32.  Contract: asm/kernels.h
#include "weights.h"

void row_bf16(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale) {
  row<Bf16>(y, w, n, scale);
}
