// weight_types.h - the weight types as the tests see them: how to make weights, and their values.
// Used by matmul.h and row.h.  Independent of asm/portable/weights.h: values come from arithmetic
// on the format's fields, in f64, not from shuffled bits.
//
// A type has: block weights in bytes bytes at an alignment of align; value(row, i), weight i of a
// row; fill(row, n, kind), which makes a row; patterns(), weights that show all there is to show.
#pragma once
#include "harness.h"

// sign, exponent bits, mantissa bits as IEEE 754 has them.
inline f64 float_value(u32 bits, int exponent_bits, int mantissa_bits) {
  i32 exponent = i32(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  i32 mantissa = i32(bits & ((1u << mantissa_bits) - 1));
  f64 sign = bits >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
  i32 bias = (1 << (exponent_bits - 1)) - 1;
  if (exponent == 2 * bias + 1) return mantissa ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

// x as f16, rounded to nearest even: x is a multiple of the quantum that its exponent allows.
inline f16 f16_of(f64 x) {
  u32 sign = std::signbit(x) ? 0x8000 : 0;
  x = std::fabs(x);
  if (x >= 65520) return f16(sign | 0x7c00);  // half way between the largest f16 and 2^16
  int exponent = -14;                         // of the least normal number, and of denormals
  if (x >= 0x1p-14) exponent = std::ilogb(x);
  u32 quanta = u32(std::nearbyint(std::ldexp(x, 10 - exponent)));  // 2048: carries by itself
  return f16(sign | (u32(exponent + 14) * 1024 + quanta));
}

// All upper halves of 32 bits; of those types that are longer, a random rest.
template <class T>
std::vector<u8> float_patterns() {
  std::vector<u8> row(65536 * T::bytes);
  for (u32 i = 0; i < 65536; ++i) {
    u32 bits = i << 16 | (u32(rng.bits()) & 0xffff);
    memcpy(&row[i * T::bytes], (u8 *)&bits + 4 - T::bytes, T::bytes);
  }
  return row;
}

struct F32 {
  static constexpr u32 block = 1, bytes = 4, align = 4;
  static f64 value(const u8 *row, u32 i) { return ((const f32 *)row)[i]; }
  static void fill(u8 *row, u32 n, Kind kind) {
    for (u32 i = 0; i < n; ++i) ((f32 *)row)[i] = rng.real(kind);
  }
  static std::vector<u8> patterns() { return float_patterns<F32>(); }
};

struct F16 {
  static constexpr u32 block = 1, bytes = 2, align = 2;
  static f64 value(const u8 *row, u32 i) { return float_value(((const f16 *)row)[i], 5, 10); }
  // Its own denormals are at 2^-24, its huge numbers at 2^15.
  static void fill(u8 *row, u32 n, Kind kind) {
    f64 scale = kind == Kind::Tiny ? 0x1p112 : kind == Kind::Huge ? 0x1p-113 : 0x1p-9;
    for (u32 i = 0; i < n; ++i) ((f16 *)row)[i] = f16_of(rng.real(kind) * scale);
  }
  static std::vector<u8> patterns() { return float_patterns<F16>(); }
};

struct Bf16 {
  static constexpr u32 block = 1, bytes = 2, align = 2;
  static f64 value(const u8 *row, u32 i) { return float_value(((const bf16 *)row)[i], 8, 7); }
  static void fill(u8 *row, u32 n, Kind kind) {
    for (u32 i = 0; i < n; ++i) ((bf16 *)row)[i] = bf16(bits_from(rng.real(kind)) >> 16);
  }
  static std::vector<u8> patterns() { return float_patterns<Bf16>(); }
};
