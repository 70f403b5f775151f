// rope - rotates the halves of a head against each other.  Contract: asm/kernels.h
#include "../kernels.h"

void rope(f32 *y, const f32 *x, const void *, u32 n, u32, f32) {
  u32 half = n / 2;
  for (u32 i = 0; i < half; ++i) {
    f32 re = y[i], im = y[i + half], c = x[i], s = x[i + half];
    y[i] = re * c - im * s;
    y[i + half] = re * s + im * c;
  }
}
