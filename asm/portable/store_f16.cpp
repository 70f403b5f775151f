// store_f16 - f32 to f16, round to nearest even, with a stride.  Contract: asm/kernels.h
#include "weights.h"

static f16 to_f16(f32 x) {
  u32 bits = bits_of_f32(x), sign = bits >> 16 & 0x8000, mag = bits & 0x7fffffff;
  if (mag >= 0x7f800000) return f16(sign | 0x7c00 | (mag > 0x7f800000 ? 0x200 : 0));
  if (mag >= 0x47800000) return f16(sign | 0x7c00);  // 65536 and up
  if (mag < 0x38800000)                              // below 2^-14: denormal in f16
    // The sum's last bit is worth 2^-24, as is a denormal's: the addition rounds as is wanted.
    return f16(sign | (bits_of_f32(f32_of_bits(mag) + 0.5f) - bits_of_f32(0.5f)));
  mag += 0xfff + (mag >> 13 & 1);  // half of the last kept bit, to even
  return f16(sign | (mag - ((127u - 15) << 23)) >> 13);
}

void store_f16(void *dst, const f32 *src, u32 n, u64 stride) {
  for (u32 i = 0; i < n; ++i) *(f16 *)((u8 *)dst + i * stride) = to_f16(src[i]);
}
