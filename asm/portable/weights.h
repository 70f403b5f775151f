// weights.h - how one weight of each type becomes an f32.  Used by the portable kernels alone.
#pragma once
#include "../kernels.h"

inline f32 f32_of_bits(u32 bits) { return __builtin_bit_cast(f32, bits); }
inline u32 bits_of_f32(f32 x) { return __builtin_bit_cast(u32, x); }

struct F32 {
  using Bits = f32;
  static f32 load(f32 w) { return w; }
};

struct Bf16 {
  using Bits = bf16;
  static f32 load(bf16 w) { return f32_of_bits(u32(w) << 16); }
};

struct F16 {
  using Bits = f16;
  // The exponent is too small by 127 - 15 once the bits stand where an f32 has them: a product with
  // 2^112 puts it right, for denormals too.  All ones (infinity, NaN) needs all ones in an f32.
  static f32 load(f16 w) {
    u32 bits = (w & 0x7fffu) << 13;
    bits = bits_of_f32(f32_of_bits(bits) * 0x1p112f) | (bits >= 0x7c00u << 13 ? 0x7f800000u : 0u);
    return f32_of_bits(bits | (w & 0x8000u) << 16);
  }
};

template <class Type>
void matmul(const Matmul *m, u32 begin, u32 end) {
  for (u32 r = begin; r < end; ++r) {
    auto w = (const typename Type::Bits *)((const u8 *)m->w + r * m->w_stride);
    for (u32 c = 0; c < m->cols; ++c) {
      auto x = (const f32 *)m->x + u64(c) * m->n;
      f32 sum[8] = {};  // as many as a vector register has lanes: smaller rounding errors than one
      for (u32 i = 0; i < m->n; ++i) sum[i % 8] += Type::load(w[i]) * x[i];
      m->y[u64(c) * m->y_stride + r] =
          ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }
  }
}

template <class Type>
void row(f32 *y, const void *w, u32 n, f32 scale) {
  for (u32 i = 0; i < n; ++i) y[i] = scale * Type::load(((const typename Type::Bits *)w)[i]);
}
