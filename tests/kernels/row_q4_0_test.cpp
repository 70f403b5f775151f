// row_q4_0_test - a row of Q4_0 as f32.  Tests: row_test.cpp.  Contract: asm/kernels.h
#include "row.h"

ROW_TESTS(q4_0)
