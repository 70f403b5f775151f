// row_f16_test - a row of f16 as f32.  What is tested: row.h.  Contract: asm/kernels.h
#include "row.h"

ROW_TESTS(f16, F16)
