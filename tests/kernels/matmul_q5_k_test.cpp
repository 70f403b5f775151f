// matmul_q5_k_test - y = W x, weights in Q5_K.  Tests: matmul_test.cpp.  Contract: asm/kernels.h
#include "matmul.h"

MATMUL_TESTS(q5_k)
