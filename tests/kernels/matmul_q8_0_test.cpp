// matmul_q8_0_test - y = W x, weights in Q8_0.  Tests: matmul_test.cpp.  Contract: asm/kernels.h
#include "matmul.h"

MATMUL_TESTS(q8_0)
