// softmax - logits to probabilities, in place.  Contract: asm/kernels.h
#include "exp.h"

void softmax(f32 *y, const f32 *, const void *, u32 n, u32, f32 scale) {
  f32 max = y[0], sum[8] = {};
  for (u32 i = 1; i < n; ++i)
    if (y[i] > max) max = y[i];
  for (u32 i = 0; i < n; ++i) sum[i % 8] += y[i] = exp((y[i] - max) * scale);
  f32 total = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  for (u32 i = 0; i < n; ++i) y[i] /= total;
}
