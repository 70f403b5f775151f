// matmul_q4_0_test - y = W x, weights in Q4_0.  Tests: matmul_test.cpp.  Contract: asm/kernels.h
#include "matmul.h"

MATMUL_TESTS(q4_0)
