// matmul_f16_test - y = W x, weights in f16.  What is tested: matmul.h.  Contract: asm/kernels.h
#include "matmul.h"

MATMUL_TESTS(f16, F16)
