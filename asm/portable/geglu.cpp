// geglu - gelu(y) * x.  Contract: asm/kernels.h
#include "exp.h"

// gelu(z) = z/2 (1 + tanh u) = z / (1 + e^(-2u)), u = sqrt(2/pi) (z + 0.044715 z^3).
void geglu(f32 *y, const f32 *x, const void *, u32 n, u32, f32) {
  for (u32 i = 0; i < n; ++i) {
    f32 z = y[i];
    y[i] = z / (1 + exp(z * (-1.59576912f - 0.0713548163f * z * z))) * x[i];
  }
}
