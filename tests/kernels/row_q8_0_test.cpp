// row_q8_0_test - a row of Q8_0 as f32.  Tests: row_test.cpp.  Contract: asm/kernels.h
#include "row.h"

ROW_TESTS(q8_0)
