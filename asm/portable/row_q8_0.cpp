// row_q8_0 - one row of a matrix of Q8_0, as f32.  Contract: asm/kernels.h
#include "blocks.h"

void row_q8_0(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale) {
  row_blocks(y, w, n, scale, unpack<Q8_0>);
}
