// row_f32_test - a row of f32 as f32.  Tests: row_test.cpp.  Contract: asm/kernels.h
#include "row.h"

ROW_TESTS(f32)
