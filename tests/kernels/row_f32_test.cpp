// row_f32_test - a row of f32 as f32.  What is tested: row.h.  Contract: asm/kernels.h
#include "row.h"

ROW_TESTS(f32, F32)
