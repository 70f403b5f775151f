// matmul_f32 - y = W x, weights in f32.  Contract: asm/kernels.h
#include "weights.h"

void matmul_f32(const Matmul *m, u32 begin, u32 end) { matmul<F32>(m, begin, end); }
