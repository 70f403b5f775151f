// matmul_q5_k - y = W x, weights in Q5_K.  Contract: asm/kernels.h
#include "blocks.h"

void matmul_q5_k(const Matmul *m, u32 begin, u32 end) {
  matmul_blocks(m, begin, end, unpack<Q5_K>);
}
