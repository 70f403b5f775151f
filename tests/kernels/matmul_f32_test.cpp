// matmul_f32_test - y = W x, weights in f32.  Tests: matmul_test.cpp.  Contract: asm/kernels.h
#include "matmul.h"

MATMUL_TESTS(f32)
