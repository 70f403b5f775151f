// exp.h - the exponential that softmax and geglu share.  The x86_64 twin computes the same steps.
#pragma once
#include "weights.h"

// e^x, relative error 2e-7 + 1e-7 |x|, for x in [-88, 88]; 0 below, e^88 above.
// e^x = 2^(k + t) with k = round(x log2 e), |t| <= 1/2.  2^t is a polynomial, fitted to the least
// largest relative error (9e-8) on that interval; k goes straight into the exponent.
inline f32 exp(f32 x) {
  if (x > 88) x = 88;
  x *= 1.44269504f;
  if (!(x >= -126.5f)) return 0;
  i32 k = i32(x + 127.5f) - 127;
  f32 t = x - f32(k);
  const f32 c[] = {0.00132646912f, 0.00967153441f, 0.0555073395f, 0.240222424f, 0.693147004f, 1};
  f32 p = c[0];
  for (u32 i = 1; i < 6; ++i) p = p * t + c[i];
  return p * f32_of_bits(u32(k + 127) << 23);
}
