// rmsnorm - y = x * w / rms(x).  Contract: asm/kernels.h
#include "../kernels.h"

void rmsnorm(f32 *y, const f32 *x, const void *weights, u32 n, u32, f32 eps) {
  auto w = (const f32 *)weights;
  f32 sum[8] = {};
  for (u32 i = 0; i < n; ++i) sum[i % 8] += x[i] * x[i];
  f32 total = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  f32 rms = __builtin_sqrtf(total / f32(n) + eps);
  for (u32 i = 0; i < n; ++i) y[i] = x[i] * w[i] / rms;
}
