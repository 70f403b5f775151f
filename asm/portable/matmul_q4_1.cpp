// matmul_q4_1 - y = W x, weights in Q4_1.  Contract: asm/kernels.h
#include "blocks.h"

void matmul_q4_1(const Matmul *m, u32 begin, u32 end) {
  matmul_blocks(m, begin, end, unpack<Q4_1>);
}
