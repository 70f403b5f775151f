// softcap - tanh(scale * y), in place.  Contract: asm/kernels.h
#include "exp.h"

// tanh z = 1 - 2 / (1 + e^(2z))
void softcap(f32 *y, const f32 *, const void *, u32 n, u32, f32 scale) {
  for (u32 i = 0; i < n; ++i) y[i] = 1 - 2 / (1 + exp(2 * scale * y[i]));
}
