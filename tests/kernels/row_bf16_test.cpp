// row_bf16_test - a row of bf16 as f32.  Tests: row_test.cpp.  Contract: asm/kernels.h
#include "row.h"

ROW_TESTS(bf16)
