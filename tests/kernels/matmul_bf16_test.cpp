// matmul_bf16_test - y = W x, weights in bf16.  What is tested: matmul.h.  Contract: asm/kernels.h
#include "matmul.h"

MATMUL_TESTS(bf16, Bf16)
