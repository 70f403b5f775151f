// types.h - the names of the machine's numbers.  Read by every room; includes nothing.
#pragma once

using u8 = unsigned char;
using i8 = signed char;
using u16 = unsigned short;
using i16 = short;
using u32 = unsigned int;
using u64 = unsigned long;
using i32 = int;
using i64 = long;
using usize = unsigned long;
using f16 = u16;   // IEEE 754 binary16, as bits
using bf16 = u16;  // the upper half of a binary32, as bits
using f32 = float;
using f64 = double;

static_assert(sizeof(u64) == 8 && sizeof(f32) == 4 && sizeof(f64) == 8);
