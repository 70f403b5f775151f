// row_q4_k_test - a row of Q4_K as f32.  Tests: row_test.cpp.  Contract: asm/kernels.h
#include "row.h"

ROW_TESTS(q4_k)
