// row_q6_k_test - a row of Q6_K as f32.  Tests: row_test.cpp.  Contract: asm/kernels.h
#include "row.h"

ROW_TESTS(q6_k)
