// gguf.cpp - the reader.  Called by model.cpp.
#include "gguf.h"

const u8 *take(u64 n) {
  const u8 *p = model->at;
  if (n > u64(model->end - p)) fail("truncated");
  model->at = p + n;
  return p;
}

u32 take_u32() { return *(const u32 *)take(4); }
u64 take_u64() { return *(const u64 *)take(8); }

const Counted *take_string() {
  auto s = (const Counted *)take(8);
  take(s->n);
  return s;
}

Value take_value() {
  // Bytes of a value by its type; 0 what has a length of its own.
  static const u8 sizes[13] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  u32 type = take_u32(), kind = type;
  u64 count = 1;
  if (type == ARRAY) {
    type = take_u32();
    kind = array_of(ValueType(type));
  }
  const u8 *value = model->at;
  if (kind != type) count = take_u64();
  if (type > 12 || type == ARRAY) fail("bad type");
  u32 size = sizes[type];
  if (size == 0) {
    while (count--) take_string();
  } else {
    if (count > u64(model->end - model->file)) fail("truncated");  // the product cannot overflow
    take(count * size);
  }
  u32 bits = u32(value - model->file);
  if (kind < STRING) {
    bits = 0;
    __builtin_memcpy(&bits, value, size);
  }
  return {kind, bits};
}
