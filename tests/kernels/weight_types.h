// weight_types.h - the weight types as the tests see them: how to make weights, and their values.
// Used by matmul_test.cpp and row_test.cpp.  Independent of asm/portable: values come from arithmetic
// on the format's fields, in f64, not from shuffled bits.
//
// A type has blocks of `block` weights in `bytes` bytes, at an alignment of `align`.
#pragma once
#include "harness.h"

// A weight, as a sum of two.  Where a type has no minimum: -0, which changes nothing.
struct Terms {
  f64 product, min = -0.0;
};

struct WeightType {
  const char *suffix;  // of the kernels' names
  u32 block, bytes, align;
  Terms (*terms)(const u8 *block, u32 i);  // weight i of a block
  void (*fill)(u8 *block, Kind kind);      // makes one, of finite weights

  bool quantised() const { return block > 1; }
  usize row_bytes(u32 n) const { return usize(n) / block * bytes; }
  u32 n_step() const { return block > 8 ? block : 8; }  // what n is a multiple of

  // Weights of a whole row.
  Terms at(const u8 *row, u32 i) const { return terms(row + i / block * bytes, i % block); }
  std::vector<u8> row(u32 n, Kind kind) const {
    std::vector<u8> bytes_of_row(row_bytes(n));
    for (usize i = 0; i < bytes_of_row.size(); i += bytes) fill(&bytes_of_row[i], kind);
    return bytes_of_row;
  }
};

// --- Floats

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

struct F32 {
  static constexpr u32 block = 1, bytes = 4, align = 4;
  static Terms terms(const u8 *w, u32) { return {*(const f32 *)w}; }
  static void fill(u8 *w, Kind kind) { *(f32 *)w = rng.real(kind); }
};

struct F16 {
  static constexpr u32 block = 1, bytes = 2, align = 2;
  static Terms terms(const u8 *w, u32) { return {float_value(*(const f16 *)w, 5, 10)}; }
  // Its own denormals are at 2^-24, its huge numbers at 2^15.
  static void fill(u8 *w, Kind kind) {
    f64 scale = kind == Kind::Tiny ? 0x1p112 : kind == Kind::Huge ? 0x1p-113 : 0x1p-9;
    *(f16 *)w = f16_of(rng.real(kind) * scale);
  }
};

struct Bf16 {
  static constexpr u32 block = 1, bytes = 2, align = 2;
  static Terms terms(const u8 *w, u32) { return {float_value(*(const bf16 *)w, 8, 7)}; }
  static void fill(u8 *w, Kind kind) { *(bf16 *)w = bf16(bits_from(rng.real(kind)) >> 16); }
};

// All upper halves of 32 bits; of those types that are longer, a random rest.
inline std::vector<u8> float_patterns(u32 bytes) {
  std::vector<u8> row(65536 * bytes);
  for (u32 i = 0; i < 65536; ++i) {
    u32 bits = i << 16 | (u32(rng.bits()) & 0xffff);
    memcpy(&row[i * bytes], (u8 *)&bits + 4 - bytes, bytes);
  }
  return row;
}

// --- Blocks.  Each is a string of bits, the least significant bit of a byte first.

inline i32 bits_at(const u8 *block, u32 first, u32 count) {
  i32 value = 0;
  for (u32 i = first; i < first + count; ++i) value |= (block[i / 8] >> i % 8 & 1) << (i - first);
  return value;
}
inline i32 i8_at(const u8 *block, u32 byte) {
  i32 value = bits_at(block, byte * 8, 8);
  return value < 128 ? value : value - 256;
}
inline f64 f16_at(const u8 *block, u32 byte) {
  return float_value(u32(bits_at(block, byte * 8, 16)), 5, 10);
}
// Weights i and i + half share a byte.
inline i32 nibble_at(const u8 *block, u32 byte, u32 half, u32 i) {
  return bits_at(block, byte * 8 + i / (2 * half) * half * 8 + i % half * 8 + i / half % 2 * 4, 4);
}

// N weights, with an f16 at each of the bytes F16S.
template <u32 N, u32 BYTES, u32... F16S>
struct Blocks {
  static constexpr u32 block = N, bytes = BYTES, align = 2;
  static void fill(u8 *w, Kind kind) {
    const u8 extremes[] = {0, 0x7f, 0x80, 0x88, 0xff};
    u32 which = rng.below(16);
    for (u32 i = 0; i < bytes; ++i) w[i] = which < 5 ? extremes[which] : u8(rng.bits());
    (F16::fill(w + F16S, kind), ...);
  }
};

struct Q8_0 : Blocks<32, 34, 0> {
  static Terms terms(const u8 *w, u32 i) { return {f16_at(w, 0) * i8_at(w, 2 + i)}; }
};

struct Q4_0 : Blocks<32, 18, 0> {
  static Terms terms(const u8 *w, u32 i) { return {f16_at(w, 0) * (nibble_at(w, 2, 16, i) - 8)}; }
};

struct Q4_1 : Blocks<32, 20, 0, 2> {
  static Terms terms(const u8 *w, u32 i) {
    return {f16_at(w, 0) * nibble_at(w, 4, 16, i), f16_at(w, 2)};
  }
};

struct Q5_0 : Blocks<32, 22, 0> {
  static Terms terms(const u8 *w, u32 i) {
    return {f16_at(w, 0) * (nibble_at(w, 6, 16, i) + 16 * bits_at(w, 16 + i, 1) - 16)};
  }
};

// The 6 bits of scale (0) or minimum (1) number j, which are in one byte or in two.
inline i32 six_bits(const u8 *w, u32 which, u32 j) {
  const u32 lower[2][4] = {{96, 104, 112, 120}, {100, 108, 116, 124}};
  const u32 upper[2][4] = {{38, 46, 54, 62}, {70, 78, 86, 94}};
  if (j < 4) return bits_at(w, 32 + which * 32 + j * 8, 6);
  return bits_at(w, lower[which][j - 4], 4) + 16 * bits_at(w, upper[which][j - 4], 2);
}

struct Q4_K : Blocks<256, 144, 0, 2> {
  static Terms terms(const u8 *w, u32 i) {
    return {f16_at(w, 0) * six_bits(w, 0, i / 32) * nibble_at(w, 16, 32, i),
            -f16_at(w, 2) * six_bits(w, 1, i / 32)};
  }
};

struct Q5_K : Blocks<256, 176, 0, 2> {
  static Terms terms(const u8 *w, u32 i) {
    i32 fifth = bits_at(w, 128 + i % 32 * 8 + i / 32, 1);
    return {f16_at(w, 0) * six_bits(w, 0, i / 32) * (nibble_at(w, 48, 32, i) + 16 * fifth),
            -f16_at(w, 2) * six_bits(w, 1, i / 32)};
  }
};

struct Q6_K : Blocks<256, 210, 208> {
  static Terms terms(const u8 *w, u32 i) {
    i32 upper = bits_at(w, (128 + i / 128 * 32 + i % 32) * 8 + i / 32 % 4 * 2, 2);
    return {f16_at(w, 208) * i8_at(w, 192 + i / 16) * (nibble_at(w, 0, 64, i) + 16 * upper - 32)};
  }
};

// --- Activations.  As a type: what a matmul_* takes as x, if its weights are quantised.

struct X8 {
  static constexpr u32 block = 32, bytes = sizeof(Quantised), align = 4;
  static Terms terms(const u8 *x, u32 i) {
    return {f64(((const Quantised *)x)->scale) * ((const Quantised *)x)->q[i]};
  }
  // Made by quantise, or anything else that it could have made.  Up to 2^64.
  static void fill(u8 *to, Kind kind) {
    f32 scale = kind == Kind::Huge ? 0x1p-64f : 1;
    if (rng.below(2)) {
      auto x = rng.reals(32, kind);
      for (f32 &value : x) value *= scale;
      quantise((f32 *)to, x.data(), nullptr, 32, 0, 0);
      return;
    }
    auto &x = *(Quantised *)to;
    x.scale = std::max(std::fabs(rng.real(kind)) * scale, 0x1p-100f) / 127;
    x.halves[0] = x.halves[1] = 0;
    u32 extreme = rng.below(16);
    for (u32 i = 0; i < 32; ++i) {
      i32 q = extreme == 0 ? 0 : extreme == 1 ? 127 : extreme == 2 ? -127 : i32(rng.below(255)) - 127;
      x.q[i] = i8(q);
      x.halves[i / 16] += i16(q);
    }
    x.sum = x.scale * f32(x.halves[0] + x.halves[1]);
  }
};

// --- All of them

template <class T>
constexpr WeightType weight_type(const char *suffix) {
  return {suffix, T::block, T::bytes, T::align, T::terms, T::fill};
}
constexpr WeightType activations_f32 = weight_type<F32>(""), activations_8 = weight_type<X8>("");
constexpr WeightType weight_types[] = {
    weight_type<F32>("f32"),   weight_type<F16>("f16"),   weight_type<Bf16>("bf16"),
    weight_type<Q8_0>("q8_0"), weight_type<Q4_0>("q4_0"), weight_type<Q4_1>("q4_1"),
    weight_type<Q5_0>("q5_0"), weight_type<Q4_K>("q4_k"), weight_type<Q5_K>("q5_k"),
    weight_type<Q6_K>("q6_k"),
};

inline const WeightType &weight_type_of(const std::string &suffix) {
  for (const WeightType &type : weight_types)
    if (type.suffix == suffix) return type;
  abort();
}
