// row_q4_1_test - a row of Q4_1 as f32.  Tests: row_test.cpp.  Contract: asm/kernels.h
#include "row.h"

ROW_TESTS(q4_1)
