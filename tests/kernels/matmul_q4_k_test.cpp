// matmul_q4_k_test - y = W x, weights in Q4_K.  Tests: matmul_test.cpp.  Contract: asm/kernels.h
#include "matmul.h"

MATMUL_TESTS(q4_k)
