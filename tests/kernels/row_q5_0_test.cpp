// row_q5_0_test - a row of Q5_0 as f32.  Tests: row_test.cpp.  Contract: asm/kernels.h
#include "row.h"

ROW_TESTS(q5_0)
