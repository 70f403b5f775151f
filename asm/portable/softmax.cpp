// softmax - logits to probabilities, in place.  Contract: asm/kernels.h
#include "exp.h"

void softmax(f32 *y, const f32 *, const void *, u32 n, u32 last, f32 scale) {
  f32 max = y[0], sum = 0;
  for (u32 i = 1; i <= last; ++i)
    if (y[i] > max) max = y[i];
  for (u32 i = 0; i <= last; ++i) sum += y[i] = exp((y[i] - max) * scale);
  for (u32 i = 0; i <= last; ++i) y[i] /= sum;
  for (u32 i = last + 1; i < n; ++i) y[i] = 0;
}
