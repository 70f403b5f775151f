// matmul_q5_k - y = W x, weights in Q5_K.  Contract: asm/kernels.h
#include "blocks.h"

void matmul_q5_k(const Matmul *m, u32 begin, u32 step) {
  matmul_blocks(m, begin, step, unpack<Q5_K>);
}
