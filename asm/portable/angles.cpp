// angles - cosines and sines for rope.  Contract: asm/kernels.h
#include "../kernels.h"

// Cosine and sine of x >= 0 by their Taylor series around 0, after full turns are taken away.
// Errors, 1e-11 for x = 1e5, vanish in the rounding to f32.
static void sincos(f64 x, f32 *cosine, f32 *sine) {
  constexpr f64 TURN = 6.283185307179586477;
  x -= TURN * f64(i64(x / TURN + 0.5));
  f64 re = 1, im = 0, term = 1;
  for (i32 k = 1; k < 31; k += 2) {  // 3.15^31 / 31! = 1e-19
    term *= x / k;
    im += term;
    term *= -x / (k + 1);
    re += term;
  }
  *cosine = f32(re);
  *sine = f32(im);
}

// The frequencies are a geometric series.  Its ratio is the root of ratio^(n/2) = 1 / base,
// found by bisection.
void angles(f32 *y, const f32 *, const void *w, u32 n, u32 position, f32) {
  f64 factor = ((const f32 *)w)[0], base = ((const f32 *)w)[1];
  u32 half = n / 2;
  f64 low = 0, high = 1, x = position / factor;
  for (u32 bit = 0; bit < 64; ++bit) {
    f64 ratio = (low + high) / 2, power = base;
    for (u32 i = 0; i < half; ++i) power *= ratio;
    (power < 1 ? low : high) = ratio;
  }
  for (u32 i = 0; i < half; ++i, x *= low) sincos(x, y + i, y + half + i);
}
