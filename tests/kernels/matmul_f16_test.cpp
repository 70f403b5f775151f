// matmul_f16_test - y = W x, weights in f16.  Tests: matmul_test.cpp.  Contract: asm/kernels.h
#include "matmul.h"

MATMUL_TESTS(f16)
