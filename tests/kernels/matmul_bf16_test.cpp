// matmul_bf16_test - y = W x, weights in bf16.  Tests: matmul_test.cpp.  Contract: asm/kernels.h
#include "matmul.h"

MATMUL_TESTS(bf16)
