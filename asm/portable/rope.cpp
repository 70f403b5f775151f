// rope - rotates the halves of a head against each other.  Contract: asm/kernels.h
#include "../kernels.h"

void rope(f32 *x, const f32 *cs, u32 half) {
  for (u32 i = 0; i < half; ++i) {
    f32 re = x[i], im = x[i + half], c = cs[i], s = cs[i + half];
    x[i] = re * c - im * s;
    x[i + half] = re * s + im * c;
  }
}
