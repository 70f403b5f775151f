// kernels.h - the contract of every kernel.  Called by runtime/, implemented in portable/ and <isa>/.
//
// A kernel is a leaf: numbers in, numbers out; no file, no token, no allocation, no global state.
// Every pointer may have any alignment that its element type allows.  Unless a line says so,
// buffers may not overlap, and nothing outside of the stated ranges is read or written.
// Within one ISA a result depends on the values alone: not on addresses, on the row range a call
// covers, or on how many columns it handles.  So the output of the engine is bit-identical for any
// number of threads and any batch size.  "ulp" below is one unit in the last place of an f32.
//
// Calling convention: System V AMD64 psABI.  An x86_64 kernel may leave the upper halves of the
// vector registers dirty: all code of that ISA is VEX-encoded.
#pragma once
#include "types.h"

// What matmul_* works on: y[c][r] = sum over i < n of w[r][i] * x[c][i], for all columns c < cols.
struct Matmul {
  const void *w;  // [rows][n] of the weight type; a row every w_stride bytes
  const f32 *x;   // [cols][n]; a column every x_stride bytes
  f32 *y;         // [cols][rows]; a column every y_stride bytes
  u64 w_stride, x_stride, y_stride;
  u32 n;     // multiple of 8, at least 8
  u32 rows;  // at least 4
  u32 cols;  // at least 1
};
static_assert(sizeof(Matmul) == 64 && __builtin_offsetof(Matmul, n) == 48);  // matmul.asm

extern "C" {

// Rows [begin, end) of *m.  begin is a multiple of 4; so is end, unless it is m->rows.  May write
// up to 3 rows below begin once more, with the values that they have anyway.
// Error: products and sums in f32, |error| <= n/8 * 2^-23 * sum |w * x|.
void matmul_f32(const Matmul *m, u32 begin, u32 end);
void matmul_f16(const Matmul *m, u32 begin, u32 end);
void matmul_bf16(const Matmul *m, u32 begin, u32 end);

// y[i] = scale * w[i], i < n: one row of a weight matrix as f32.  n a multiple of 8.  Exact but for
// the rounding of the product.
void row_f32(f32 *y, const void *w, u32 n, f32 scale);
void row_f16(f32 *y, const void *w, u32 n, f32 scale);
void row_bf16(f32 *y, const void *w, u32 n, f32 scale);

// y[i] = x[i] * w[i] / sqrt(mean(x^2) + eps), i < n.  n a multiple of 8; y may be x.  Zhang and
// Sennrich, arXiv 1910.07467.  Error: 4 ulp for n <= 16384.
void rmsnorm(f32 *y, const f32 *x, const f32 *w, u32 n, f32 eps);

// x[i] += y[i], i < n.  n a multiple of 8.  Exact rounding.
void add(f32 *x, const f32 *y, u32 n);

// Rotates the pairs (x[i], x[i + half]), i < half, by the angles whose cosines are cs[i] and whose
// sines are cs[half + i].  half a multiple of 4.  Su et al., arXiv 2104.09864, in the half-split
// order of GPT-NeoX.  Error: 1 ulp of |x|.
void rope(f32 *x, const f32 *cs, u32 half);

// x[i] = exp(scale * x[i]) / sum over j < n of exp(scale * x[j]), i < n; x[n..end) = 0.
// end a multiple of 8, 1 <= n <= end; scale > 0.  What lies more than 88 below the largest becomes 0.
// Relative error: 2e-6.
void softmax(f32 *x, u32 n, u32 end, f32 scale);

// gate[i] = gelu(gate[i]) * up[i], i < n.  n a multiple of 8.  gelu(z) = z/2 * (1 + tanh(sqrt(2/pi)
// * (z + 0.044715 z^3))): Hendrycks and Gimpel, arXiv 1606.08415, the form that Gemma was trained
// with; GeGLU: Shazeer, arXiv 2002.05202.  Finite for every finite z.
// Error: 1e-6 * |gelu(z) * up| + 1e-38 * |z * up|.
void geglu(f32 *gate, const f32 *up, u32 n);

// dst[i] = src[i] as f16 rounded to nearest even, i < n, an element every stride bytes.
void store_f16(void *dst, const f32 *src, u32 n, u64 stride);

// Does this CPU, and the system below, have what the kernels of this build need?
bool cpu_ready();
extern const char cpu_needs[];  // what they need, in words
}
