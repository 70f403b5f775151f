// matmul_q4_0 - y = W x, weights in Q4_0.  Contract: asm/kernels.h
#include "blocks.h"

void matmul_q4_0(const Matmul *m, u32 begin, u32 end) {
  matmul_blocks(m, begin, end, unpack<Q4_0>);
}
