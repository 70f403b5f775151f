// kernels.h - the contract of every kernel.  Called by runtime/, implemented in portable/ and <isa>/.
//
// A kernel is a leaf: numbers in, numbers out; no file, no token, no allocation, no global state.
// Every pointer may have any alignment that its element type allows.  Unless a line says so,
// buffers may not overlap, and nothing outside of the stated ranges is read or written.
// Within one ISA a result depends on the values alone: not on addresses, on the rows a call
// covers, or on how many columns it handles.  So the output of the engine is bit-identical for any
// number of threads and any batch size.  "ulp" below is one unit in the last place of an f32.
//
// Calling convention: System V AMD64 psABI, with 8 KB of stack.  An x86_64 kernel may leave the upper
// halves of the vector registers dirty: all code of that ISA is VEX-encoded.
#pragma once
#include "types.h"

// What matmul_* works on: y[c][r] = sum over i < n of w[r][i] * x[c][i], for rows r that the call
// names and all columns c < cols.
struct Matmul {
  const void *w;  // [rows][n] of the weight type; a row every w_stride bytes
  const void *x;  // [cols][n] of f32 or, see below, of room for them
  f32 *y;         // [cols][rows], a column every y_stride
  u64 w_stride;
  u32 n;     // multiple of 8, at least 8
  u32 cols;  // at least 1; of quantised weights at most 64
  u32 y_stride;  // floats, at least rows
};
static_assert(__builtin_offsetof(Matmul, n) == 32 && __builtin_offsetof(Matmul, y_stride) == 40);

// 32 activations, quantised: x[i] is scale * q[i], but for half of scale.  Aligned as an f32.
struct Quantised {
  f32 scale;      // largest |x| / 127
  f32 sum;        // scale * sum of q: what a weight type with a minimum multiplies it with
  i16 halves[2];  // sum of the first 16 q, of the others: what one with an offset does
  i8 q[32];
};
static_assert(sizeof(Quantised) == 44);

// Floats from the end of a column of n floats' room to the next column that is quantised: columns
// that are a power of two apart would meet in the cache.
constexpr u32 COLUMN_PAD = 16;

extern "C" {

// The rows begin .. end - 1; end is at least 4; none, where begin is not below it.  Where their number
// is no multiple of 4, may write up to 3 rows before begin, too, with the values that they have anyway.
// What lies behind the rows is prefetched: the next ones, if a thread's rows lie side by side.
// Error: products and sums in f32, |error| <= (n/8 + 4) * 2^-24 * sum |w * x| + n * 2^-149.
void matmul_f32(const Matmul *m, u32 begin, u32 end);
void matmul_f16(const Matmul *m, u32 begin, u32 end);
void matmul_bf16(const Matmul *m, u32 begin, u32 end);

// The same with quantised weights, in GGUF's blocks (portable/blocks.h has their layouts; aligned to
// 2), and with quantised activations: m->x points to columns of Quantised[n / 32], as
// quantise() makes them, each n + COLUMN_PAD floats behind the one before.  n is a multiple of 32, for
// the K types of 256.  A weight is scale * q + min; q is an integer, with the
// offset and a K type's integer scale in it.  The dot product of the q of 32 weights (of 16 where a
// scale holds for 16) is exact; its products with the scales, and their sum, are in f32.
// Error for |x| < 2^64, x being what the blocks stand for:
//   (n/16 + 8) * 2^-24 * sum (|scale * q| + |min|) * |x| + n * 2^-131.
// What is larger than that or not finite spoils its own row or column alone.
void matmul_q8_0(const Matmul *m, u32 begin, u32 end);
void matmul_q4_0(const Matmul *m, u32 begin, u32 end);
void matmul_q4_1(const Matmul *m, u32 begin, u32 end);
void matmul_q5_0(const Matmul *m, u32 begin, u32 end);
void matmul_q4_k(const Matmul *m, u32 begin, u32 end);
void matmul_q5_k(const Matmul *m, u32 begin, u32 end);
void matmul_q6_k(const Matmul *m, u32 begin, u32 end);

// The kernels below work on one column.  All of them take the same arguments, so that the forward
// pass can call any of them from a table; what a kernel does not use has no name here.  n is a
// multiple of 8, at least 8, and y holds n floats.

// y[i] = scale * w[i], i < n: one row of a weight matrix as f32; n as for matmul_*.  Exact but for the
// rounding of w[i] to f32, where it has a minimum, and of the product.  Of blocks with a scale that is
// not finite: anything that is not finite; and the sign of a zero is not defined.
void row_f32(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale);
void row_f16(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale);
void row_bf16(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale);
void row_q8_0(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale);
void row_q4_0(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale);
void row_q4_1(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale);
void row_q5_0(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale);
void row_q4_k(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale);
void row_q5_k(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale);
void row_q6_k(f32 *y, const f32 *, const void *w, u32 n, u32, f32 scale);

// Quantises x to y, which is Quantised[n / 32]; what is left of x behind the last 32 is left out.
// Each block's scale is its largest |x|, at least 2^-100, over 127; q = x / scale, an f32, rounded to
// nearest even: |q| <= 127; sum = scale * (sum of q).  These are the same bits in every ISA.  x must
// be finite.
void quantise(f32 *y, const f32 *x, const void *, u32 n, u32, f32);

// y[i] = x[i] * w[i] / sqrt(mean(x^2) + eps), i < n; w: f32[n]; y may be x.  Zhang and Sennrich,
// arXiv 1910.07467.  The sum of squares and x * w must be finite.  Error: (n/16 + 7) * 2^-24 * |y| +
// 2^-149 * (1 + 1/rms).
void rmsnorm(f32 *y, const f32 *x, const void *w, u32 n, u32, f32 eps);

// y[i] += x[i], i < n.  Exact rounding.
void add(f32 *y, const f32 *x, const void *, u32 n, u32, f32);

// The angles of rope: y[i] = cos(a), y[n/2 + i] = sin(a), a = position / w[0] * w[1]^(-2i/n), i <
// n/2.  w: f32[2], a factor above 0 and a base >= 1, finite; n <= 512.  Error: 1e-7 for position <
// 2^20 w[0].
void angles(f32 *y, const f32 *, const void *w, u32 n, u32 position, f32);

// Rotates the pairs (y[i], y[n/2 + i]), i < n/2, by the angles in x, as angles() makes them.  Su et
// al., arXiv 2104.09864, in the half-split order of GPT-NeoX.  Error: 1.5 ulp of the pair's length.
void rope(f32 *y, const f32 *x, const void *, u32 n, u32, f32);

// y[i] = tanh(scale * y[i]), i < n.  scale * y[i] must be no NaN.  Error: 3e-7.
void softcap(f32 *y, const f32 *, const void *, u32 n, u32, f32 scale);

// y[i] = exp(scale * y[i]) / sum over j < n of exp(scale * y[j]), i < n.  scale > 0; y[i] finite or
// -infinity, which becomes 0, but one at least finite.  What lies more than 88 below the largest
// becomes 0, some of it from 87.6 on.  Relative error: 2e-6 + 2e-7 * d + n * 2^-27, where scale *
// y[i] lies d below the largest.
void softmax(f32 *y, const f32 *, const void *, u32 n, u32, f32 scale);

// y[i] = gelu(y[i]) * x[i], i < n.  gelu(z) = z/2 * (1 + tanh(sqrt(2/pi) * (z + 0.044715 z^3))):
// Hendrycks and Gimpel, arXiv 1606.08415, the form that Gemma was trained with; GeGLU: Shazeer,
// arXiv 2002.05202.  Finite for every finite z.  Error: 1e-6 * (1 + min(z, 0)^2 / 2) *
// |gelu(z) * x| + 1e-38 * |z * x| + 2^-149 * (1 + |x|).
void geglu(f32 *y, const f32 *x, const void *, u32 n, u32, f32);

// dst[i] = src[i] as f16 rounded to nearest even, i < n, an element every stride bytes; n at least 1,
// stride at least 2.
void store_f16(void *dst, const f32 *src, u32 n, u64 stride);

// Does this CPU, and the system below, have what the kernels of this build need?
bool cpu_ready();
extern const char cpu_needs[];  // "needs this and that"
}
