// matmul_f32_test - y = W x, weights in f32.  What is tested: matmul.h.  Contract: asm/kernels.h
#include "matmul.h"

MATMUL_TESTS(f32, F32)
