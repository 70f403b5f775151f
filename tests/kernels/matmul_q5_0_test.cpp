// matmul_q5_0_test - y = W x, weights in Q5_0.  Tests: matmul_test.cpp.  Contract: asm/kernels.h
#include "matmul.h"

MATMUL_TESTS(q5_0)
