// matmul_q6_k_test - y = W x, weights in Q6_K.  Tests: matmul_test.cpp.  Contract: asm/kernels.h
#include "matmul.h"

MATMUL_TESTS(q6_k)
