// matmul.h - how a matmul_*_test.cpp, of one line, asks for the tests of its kernel.
// What they are: matmul_test.cpp.  GoogleTest is not included here: it takes long to compile.
#pragma once
#include "../../asm/kernels.h"

using MatmulKernel = decltype(&matmul_f32);

// A global one registers the tests before main().
struct MatmulTests {
  MatmulTests(const char *suffix, MatmulKernel kernel, MatmulKernel oracle);
};

#define MATMUL_TESTS(suffix)                                     \
  extern "C" decltype(matmul_##suffix) portable_matmul_##suffix; \
  static MatmulTests matmul_tests(#suffix, matmul_##suffix, portable_matmul_##suffix);
