// add - x += y.  Contract: asm/kernels.h
#include "../kernels.h"

void add(f32 *x, const f32 *y, u32 n) {
  for (u32 i = 0; i < n; ++i) x[i] += y[i];
}
