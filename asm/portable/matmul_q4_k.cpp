// matmul_q4_k - y = W x, weights in Q4_K.  Contract: asm/kernels.h
#include "blocks.h"

void matmul_q4_k(const Matmul *m, u32 begin, u32 end) {
  matmul_blocks(m, begin, end, unpack<Q4_K>);
}
