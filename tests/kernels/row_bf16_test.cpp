// row_bf16_test - a row of bf16 as f32.  What is tested: row.h.  Contract: asm/kernels.h
#include "row.h"

ROW_TESTS(bf16, Bf16)
