// softmax - logits to probabilities, in place.  Contract: asm/kernels.h
#include "exp.h"

void softmax(f32 *x, u32 n, u32 end, f32 scale) {
  f32 max = x[0], sum = 0;
  for (u32 i = 1; i < n; ++i)
    if (x[i] > max) max = x[i];
  for (u32 i = 0; i < n; ++i) sum += x[i] = exp((x[i] - max) * scale);
  for (u32 i = 0; i < n; ++i) x[i] /= sum;
  for (u32 i = n; i < end; ++i) x[i] = 0;
}
