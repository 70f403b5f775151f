// blocks.h - GGUF's blocks of quantised weights, and what the portable kernels do with them.
// Read first: weights.h.  The layouts are those of ggml, src/ggml-common.h.
#pragma once
#include "weights.h"

// 32 weights: scale * q[i] + min.  Their dot product with 32 i8 is below 2^24: exact, also as an f32.
struct Integers {
  f32 scale, min;
  i32 q[32];
};

// Makes integers of the weights 32 * part .. 32 * part + 31 of a row.
using Unpack = Integers(const void *row, u32 part);

inline void matmul_blocks(const Matmul *m, u32 begin, u32 end, Unpack *unpack) {
  u32 parts = m->n / 32;
  for (u32 r = begin; r < end; ++r) {
    for (u32 c = 0; c < m->cols; ++c) m->y[u64(c) * m->y_stride + r] = 0;
    for (u32 p = 0; p < parts; ++p) {
      Integers w = unpack((const u8 *)m->w + r * m->w_stride, p);
      for (u32 c = 0; c < m->cols; ++c) {
        const Quantised &x = ((const Quantised *)((const f32 *)m->x + u64(c) * (m->n + COLUMN_PAD)))[p];
        i32 dot = 0;
        for (u32 i = 0; i < 32; ++i) dot += w.q[i] * x.q[i];
        m->y[u64(c) * m->y_stride + r] += w.scale * x.scale * f32(dot) + w.min * x.sum;
      }
    }
  }
}

inline void row_blocks(f32 *y, const void *row, u32 n, f32 scale, Unpack *unpack) {
  for (u32 p = 0; p < n / 32; ++p) {
    Integers w = unpack(row, p);
    for (u32 i = 0; i < 32; ++i) *y++ = scale * (w.scale * f32(w.q[i]) + w.min);
  }
}

// A type is the struct that lies in the file, of PARTS times 32 weights, and the member unpack.
template <class Type>
Integers unpack(const void *row, u32 part) {
  return ((const Type *)row)[part / Type::PARTS].unpack(part % Type::PARTS);
}

// Four bits: those in the lower halves of BYTES bytes come first, then those in the upper halves.
template <u32 BYTES>
i32 nibble(const u8 *qs, u32 i) {
  return qs[i % BYTES] >> i / BYTES * 4 & 15;
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
    for (u32 i = 0; i < 32; ++i) w.q[i] = nibble<16>(qs, i) - 8;
    return w;
  }
};
static_assert(sizeof(Q4_0) == 18);

struct Q4_1 {
  static constexpr u32 PARTS = 1;
  f16 d, m;
  u8 qs[16];

  Integers unpack(u32) const {
    Integers w = {F16::load(d), F16::load(m), {}};
    for (u32 i = 0; i < 32; ++i) w.q[i] = nibble<16>(qs, i);
    return w;
  }
};
static_assert(sizeof(Q4_1) == 20);

struct Q5_0 {
  static constexpr u32 PARTS = 1;
  f16 d;
  u8 qh[4];  // the fifth bits
  u8 qs[16];

  Integers unpack(u32) const {
    Integers w = {F16::load(d), 0, {}};
    for (u32 i = 0; i < 32; ++i)
      w.q[i] = (nibble<16>(qs, i) | (qh[i / 8] >> i % 8 & 1) << 4) - 16;
    return w;
  }
};
static_assert(sizeof(Q5_0) == 22);

// What Q4_K and Q5_K begin with: for each part a scale and a minimum, integers of 6 bits, and what
// to multiply them with.  Those of parts 0 to 3 are the lower 6 bits of bytes 0 to 3 and 4 to 7, whose
// upper 2 bits are the upper 2 of parts 4 to 7; the lower 4 of these share bytes 8 to 11.
struct Scales {
  f16 d, dmin;
  u8 bytes[12];

  i32 scale(u32 part) const {
    return part < 4 ? bytes[part] & 63 : (bytes[part + 4] & 15) | bytes[part - 4] >> 6 << 4;
  }
  i32 min(u32 part) const {
    return part < 4 ? bytes[part + 4] & 63 : bytes[part + 4] >> 4 | bytes[part] >> 6 << 4;
  }
  Integers unpack(u32 part) const {
    return {F16::load(d), -F16::load(dmin) * f32(min(part)), {}};
  }
};

struct Q4_K {
  static constexpr u32 PARTS = 8;
  Scales scales;
  u8 qs[128];

  Integers unpack(u32 part) const {
    Integers w = scales.unpack(part);
    i32 scale = scales.scale(part);
    for (u32 i = 0; i < 32; ++i)
      w.q[i] = scale * nibble<32>(qs + part / 2 * 32, part % 2 * 32 + i);
    return w;
  }
};
static_assert(sizeof(Q4_K) == 144);

struct Q5_K {
  static constexpr u32 PARTS = 8;
  Scales scales;
  u8 qh[32];  // the fifth bits: bit 0 of part 0, and so on
  u8 qs[128];

  Integers unpack(u32 part) const {
    Integers w = scales.unpack(part);
    i32 scale = scales.scale(part);
    for (u32 i = 0; i < 32; ++i)
      w.q[i] = scale * (nibble<32>(qs + part / 2 * 32, part % 2 * 32 + i) |
                        (qh[i] >> part & 1) << 4);
    return w;
  }
};
static_assert(sizeof(Q5_K) == 176);

struct Q6_K {
  static constexpr u32 PARTS = 8;
  u8 ql[128];     // the lower four bits
  u8 qh[64];      // the upper two
  i8 scales[16];  // each for 16 weights
  f16 d;

  Integers unpack(u32 part) const {
    Integers w = {F16::load(d), 0, {}};
    for (u32 i = 0; i < 32; ++i) {
      i32 low = nibble<64>(ql + part / 4 * 64, part % 4 * 32 + i);
      i32 high = qh[part / 4 * 32 + i] >> part % 4 * 2 & 3;
      w.q[i] = scales[part * 2 + i / 16] * ((high << 4 | low) - 32);
    }
    return w;
  }
};
static_assert(sizeof(Q6_K) == 210);
