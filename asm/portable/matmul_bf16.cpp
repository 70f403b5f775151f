// matmul_bf16 - y = W x, weights in bf16.  Contract: asm/kernels.h
#include "weights.h"

void matmul_bf16(const Matmul *m, u32 begin, u32 end) { matmul<Bf16>(m, begin, end); }
