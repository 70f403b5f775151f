// matmul_f16 - y = W x, weights in f16.  Contract: asm/kernels.h
#include "weights.h"

void matmul_f16(const Matmul *m, u32 begin, u32 end) { matmul<F16>(m, begin, end); }
