// row_q5_k_test - a row of Q5_K as f32.  Tests: row_test.cpp.  Contract: asm/kernels.h
#include "row.h"

ROW_TESTS(q5_k)
