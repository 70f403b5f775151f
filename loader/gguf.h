// gguf.h - reading the bytes of a GGUF file, in order and never past their end.
// Used by model.cpp alone.  Format: ggml, docs/gguf.md.  Unaligned reads are the rule here.
#pragma once
#include "model.h"

// The number of a metadata value's type, and of an array with elements of that type.
enum ValueType : u8 { U16 = 2, U32 = 4, I32 = 5, FLOAT = 6, BOOL = 7, STRING = 8, ARRAY = 9 };
constexpr u8 array_of(ValueType t) { return 16 + t; }

// The next n bytes, which the reader leaves behind.  Fails if the file has no n more.
const u8 *take(u64 n);
u32 take_u32();
u64 take_u64();
const Counted *take_string();

// A metadata value, which the reader leaves behind.
struct Value {
  u32 type;        // ValueType or array_of() one
  u32 bits;        // of a number, a float or a bool; else the offset of its Counted
};
Value take_value();
