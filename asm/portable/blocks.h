// blocks.h - GGUF's blocks of quantised weights, and what the portable kernels do with them.
// Read first: weights.h.  The layouts are those of ggml, src/ggml-common.h.
//
// A type is the struct that lies in the file, of PARTS times 32 weights, and unpack(part), which
// makes integers of 32 of them.
#pragma once
#include "weights.h"

// 32 weights: scale * q[i] + min.  A dot product of q with 32 i8 fits in an f32 without rounding.
struct Integers {
  f32 scale, min;
  i32 q[32];
};

// Four bits: the lower halves of the bytes come first, then the upper ones.
inline i32 nibble(const u8 *bytes, u32 n_bytes, u32 i) {
  return bytes[i % n_bytes] >> i / n_bytes * 4 & 15;
}

struct Q8_0 {
  static constexpr u32 PARTS = 1;
  f16 d;
  i8 qs[32];

  Integers unpack(u32) const {
    Integers w = {F16::load(d), 0, {}};
    for (u32 i = 0; i < 32; ++i) w.q[i] = qs[i];
    return w;
  }
};
static_assert(sizeof(Q8_0) == 34);

struct Q4_0 {
  static constexpr u32 PARTS = 1;
  f16 d;
  u8 qs[16];

  Integers unpack(u32) const {
    Integers w = {F16::load(d), 0, {}};
    for (u32 i = 0; i < 32; ++i) w.q[i] = nibble(qs, 16, i) - 8;
    return w;
  }
};
static_assert(sizeof(Q4_0) == 18);

template <class Type>
Integers unpack(const void *row, u32 block) {
  return ((const Type *)row)[block / Type::PARTS].unpack(block % Type::PARTS);
}

template <class Type>
void matmul_blocks(const Matmul *m, u32 begin, u32 step) {
  u32 blocks = m->n / 32;
  for (u32 r = begin; r < m->rows; r = r % 4 == 3 ? r - 3 + step : r + 1) {
    for (u32 c = 0; c < m->cols; ++c) m->y[u64(c) * m->rows + r] = 0;
    for (u32 b = 0; b < blocks; ++b) {
      Integers w = unpack<Type>((const u8 *)m->w + r * m->w_stride, b);
      for (u32 c = 0; c < m->cols; ++c) {
        const Quantised &x = ((const Quantised *)m->x)[u64(c) * blocks + b];
        i32 dot = 0;
        for (u32 i = 0; i < 32; ++i) dot += w.q[i] * x.q[i];
        m->y[u64(c) * m->rows + r] += w.scale * x.scale * f32(dot) + w.min * x.sum;
      }
    }
  }
}

template <class Type>
void row_blocks(f32 *y, const void *row, u32 n, f32 scale) {
  for (u32 b = 0; b < n / 32; ++b) {
    Integers w = unpack<Type>(row, b);
    for (u32 i = 0; i < 32; ++i) *y++ = scale * (w.scale * f32(w.q[i]) + w.min);
  }
}
