// row.h - how a row_*_test.cpp, of one line, asks for the tests of its kernel.
// What they are: row_test.cpp.  GoogleTest is not included here: it takes long to compile.
#pragma once
#include "../../asm/kernels.h"

using RowKernel = decltype(&row_f32);

// A global one registers the tests before main().
struct RowTests {
  RowTests(const char *suffix, RowKernel kernel, RowKernel oracle);
};

#define ROW_TESTS(suffix)                                  \
  extern "C" decltype(row_##suffix) portable_row_##suffix; \
  static RowTests row_tests(#suffix, row_##suffix, portable_row_##suffix);
