// quantise - activations to 8 bits, with a scale for each 32.  Contract: asm/kernels.h
#include "weights.h"

void quantise(f32 *y, const f32 *x, const void *, u32 n, u32, f32) {
  for (auto block = (Quantised *)y; n >= 32; n -= 32, x += 32, ++block) {
    f32 max = 0x1p-100f;
    for (u32 i = 0; i < 32; ++i)
      if (__builtin_fabsf(x[i]) > max) max = __builtin_fabsf(x[i]);
    f32 scale = max / 127;
    block->halves[0] = block->halves[1] = 0;
    for (u32 i = 0; i < 32; ++i) {
      // The sum's last bit is worth 1: the addition rounds, and leaves the integer in the low byte.
      block->q[i] = i8(bits_of_f32(x[i] / scale + 0x1.8p23f));
      block->halves[i / 16] += block->q[i];
    }
    block->scale = scale;
    block->sum = scale * f32(block->halves[0] + block->halves[1]);
  }
}
