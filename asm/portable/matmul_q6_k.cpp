// matmul_q6_k - y = W x, weights in Q6_K.  Contract: asm/kernels.h
#include "blocks.h"

void matmul_q6_k(const Matmul *m, u32 begin, u32 end) {
  matmul_blocks(m, begin, end, unpack<Q6_K>);
}
