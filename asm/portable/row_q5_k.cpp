// row_q5_k - one row of a matrix of Q5_K, as f32.  Contract: asm/kernels.h
#include "blocks.h"

void row_q5_k(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale) {
  row_blocks(y, w, n, scale, unpack<Q5_K>);
}
