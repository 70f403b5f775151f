// matmul_q4_1_test - y = W x, weights in Q4_1.  Tests: matmul_test.cpp.  Contract: asm/kernels.h
#include "matmul.h"

MATMUL_TESTS(q4_1)
