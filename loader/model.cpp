// model.cpp - from the bytes of a GGUF file to hyper-parameters and tensors, each of them checked.
// load() is called by runtime/main.cpp.  Read first: model.h.
//
// Keys are read in the file's order, tensors looked for in ours.  All names stand in one table,
// names.h, as patterns: spell() writes one out, and is_name() compares the file's name with it.
#include "names.h"

// Is the subject called by the name?  The lengths come first: nothing behind a shorter one is read.
static bool is_name() {
  auto s = (const u8 *)model->subject, name = (const u8 *)&model->name;
  u32 n = 8 + u32(model->name.n);
  while (*s++ == *name++)
    if (!--n) return true;
  return false;
}

// Writes the next pattern out, which makes the name.
static void spell() {
  const char *s = model->pattern, *back = s;
  u64 n = 0;
  model->head = u8(*s++);
  for (;;) {
    u32 c = u8(*s);
    if (c & 0x80) break;
    ++s;
    if (c == '#') {
      u32 tens = model->layer * 103 >> 10;  // layer / 10
      if (tens) model->name.data[n++] = char('0' + tens);
      c = '0' + model->layer - 10 * tens;
    }
    if (c == '@') {
      c = '0' + model->architecture;
      if (c == '1') continue;  // and 0, unknown, makes names that no file has
    }
    if (c >= '.') {
      model->name.data[n++] = char(c);
    } else if (c == 0) {
      s = back;  // the end of a word
    } else {
      back = s;
      s = WORDS + 3 * c - 3;
    }
  }
  model->name.n = n;
  model->pattern = s;
}

// Fails for what the name stands for.
[[noreturn]] static void bad(const char *what) {
  model->subject = (const Counted *)&model->name;
  fail(what);
}

// The next n bytes, which the reader leaves behind.
static const u8 *take(u64 n) {
  const u8 *p = model->at;
  if (n > u64(model->end - p)) fail("truncated");
  model->at = p + n;
  return p;
}

static u64 take_u32() { return *(const u32 *)take(4); }
static u64 take_u64() { return *(const u64 *)take(8); }

// The name of a key or tensor becomes the subject.
static void take_subject() { model->subject = (const Counted *)(take(take_u64()) - 8); }

// Reads a key and its value.  Keys that no pattern knows are skipped.
static void take_key() {
  take_subject();
  u64 type = take_u32();
  u32 kind = u32(type);
  u32 bits = u32(u64(model->at)) - u32(u64(model->file));
  u64 count = 1;
  if (type == ARRAY) {
    bits += 4;
    auto p = (const u32 *)take(12);
    type = *p;
    kind = u32(type) + 16;
    count = *(const u64 *)(p + 1);
  }
  if (type > 12 || type == ARRAY) fail("missing or wrong");
  for (; count; --count) {
    static const u8 sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 0, 8, 8, 8};  // of a string: its length
    auto p = (const u64 *)take(sizes[type]);
    if (type == STRING) take(*p);
  }
  // A short number comes with bytes before it, which are the type's upper ones and 0.  So a bool is
  // 0 or not, and a u16 stands in the upper half.
  if (kind < STRING) bits = ((const u32 *)model->at)[-1];

  model->pattern = PATTERNS;
  u32 *p = &model->split_count;
  do {
    spell();
    if (is_name() && model->head != u8(VALUE[0])) {
      if ((model->head & 31) != kind) fail("missing or wrong");
      if (kind == STRING) {
        model->subject = counted(bits);
        bits = 0;
        do {
          ++bits;
          if (*model->pattern != VALUE[0]) fail("not supported");
          spell();
        } while (!is_name());
      }
      *p = bits;
      if (model->split_count >> 16 > 1) fail("not supported");
      return;
    }
    if (model->head < WITHOUT_FIELD) ++p;
  } while (p < &model->n_vocab);
}

// Checks what must be there, by the rules.  While n_vocab is 0, any token passes, and any list.
static void check() {
  model->pattern = REQUIRED;
  u32 *p = &model->architecture;
  do {
    spell();
    if (model->head >= WITHOUT_FIELD) continue;
    u32 n_vocab = model->n_vocab;
    u32 shift = model->head >> 2 & 24, limit = 0x637f7f7fu >> shift;  // 8 * rule
    if (shift == 16) limit = n_vocab - 2;
    if (*p - 1 > limit || (shift == 8 && *p % 8) ||
        (model->head & 16 && counted(*p)->n < n_vocab))
      bad("missing or wrong");
    ++p;
  } while (p < &model->n_vocab);
}

// Fails for a type that the engine, or this build of it, does not know: with its name.
[[noreturn]] static void bad_type(u32 type) {
  if (type > N_TYPES) type = N_TYPES;
  const char *s = TYPE_NAMES;
  for (; type; --type)
    while (*++s != ' ') {}
  auto name = &model->name;
  do name->data[name->n++] = *s;
  while (*++s > ' ');
  bad("type not supported");
}

// Finds the tensor of the next pattern, checks it and puts it down in *t.
static void find(Tensor *t, const u8 *infos) {
  spell();
  const u32 *info = nullptr;
  model->at = infos;
  u64 n = ((const u64 *)model->file)[1];
  do {
    take_subject();
    if (is_name()) {
      if (info) bad("missing or wrong");
      info = (const u32 *)model->at;
    }
    take(8 * take_u32() + 12);  // the dimensions, a u64 each; type, u32; offset, u64
  } while (--n);

  u32 head = model->head, shape = head & 63;
  if (head < 0xc0) {  // a vector
    if (shape >> 3 > model->architecture) return;
    shape &= 7;
  }
  if (!info && t == model->tensors + OUTPUT) {
    *t = t[-1];
    return;
  }
  if (!info || (head >> 6) - 1u != *info++) bad("missing or wrong");
  u64 size = 1;
  u32 columns = *info;
  do {
    u32 dim = (&model->token_types)[shape & 7];
    if (!dim) model->n_vocab = dim = *info;
    if (*(const u64 *)info != dim || dim < 4) bad("missing or wrong");  // 4 rows: kernels.h
    size *= dim;
    info += 2;
  } while (shape >>= 3);

  u32 type = 0, n_types = 0;
  const Block *block = BLOCKS;
  if (head >= 0xc0) {
    n_types = N_WEIGHT_TYPES;
    ++block;
  }
  for (; block->type != *info; ++block)
    if (++type >= n_types) bad_type(*info);
  ++info;
  t->type = type;
  u32 log_weights = block->log_weights;
  t->row_bytes = (columns >> log_weights) * block->bytes;
  size = (size >> log_weights) * block->bytes;
  if (columns >> log_weights << log_weights != columns) bad("row of broken blocks");

  // The tensor data begins behind the infos, at a multiple of the alignment, 8 or more.
  u64 alignment = model->alignment, mask = (alignment - 1) | 7;
  u64 offset = *(const u64 *)info, begin, end;
  auto file = model->file;
  u64 header = (u64(model->at - file - 1) | mask) + 1;
  auto data = file + header;
  model->data = data;
  if (header >> 32 || (alignment | offset) & mask ||
      __builtin_add_overflow(u64(data), offset, &begin) ||
      __builtin_add_overflow(begin, size, &end) || end > u64(model->end))
    bad("misplaced or truncated");
  t->data = (const u8 *)begin;
  t->end = (const u8 *)end;
  for (Tensor *u = model->tensors; u < t; ++u)
    if (u->data < t->end && t->data < u->end) bad("misplaced or truncated");
}

// Reads all keys.
static void take_keys() {
  model->at = model->file;
  auto header = (const u32 *)take(24);  // "GGUF", version, u64 number of tensors, u64 of keys
  if (header[0] != 0x46554747 || header[1] - 2 > 1) fail("not GGUF 2 or 3");
  u64 n_keys = *(const u64 *)(header + 4);  // of none, the reading ends at the end of the file
  do take_key();
  while (--n_keys);
}

void load() {
  take_keys();  // for the architecture, which the names of others hold
  u32 architecture = model->architecture - 1;
  if (architecture >= GEMMA3) fail("no architecture");
  // What holds where the file says nothing.
  u32 i = 0;
  do (&model->period)[i] = DEFAULTS[architecture][i];
  while (++i < 8);
  model->alignment |= 32;
  model->add_bos |= 1;
  model->one |= 1;
  model->bos |= 2;
  model->eos |= 1;
  take_keys();

  // Gemma 3 that says nothing of rope is Ollama's, of 4B or more, where positions are stretched.
  u32 factor = ONE;
  if (model->rope_base == NOTHING) {
    model->rope_base = 0x49742400;  // 1e6
    factor = 0x41000000;            // 8
  }
  if (model->rope_factor == NOTHING) model->rope_factor = factor;
  if (model->rope_scaling == NO_SCALING) model->rope_factor = ONE;
  // What does not fit becomes 0, and check() tells.
  if (model->rope_base < ONE) model->rope_base = 0;
  if (model->local_base < ONE) model->local_base = 0;
  model->context_length &= 0x3fffffff;  // some say 2^32 - 1
  u32 n = model->n_head;
  if (n) {
    if (!model->n_kv_head) model->n_kv_head = n;
    if (n % model->n_kv_head) model->n_kv_head = 0;
    if (!model->key_dim) model->key_dim = model->d_model / n;
  }
  u32 dim = model->value_dim, key_dim = model->key_dim;
  if (!dim) dim = key_dim;
  if (dim != key_dim) dim = 0;
  model->value_dim = dim;
  check();
  model->head_dim = dim;
  model->d_q = model->n_head * dim;
  model->d_kv = model->n_kv_head * dim;
  model->local_rope[0] = ONE;
  model->local_rope[1] = model->local_base;
  if (architecture + 1 < GEMMA3) {
    model->local_rope[0] = model->rope_factor;
    model->local_rope[1] = model->rope_base;
  }

  auto infos = model->at;
  Tensor *t = model->tensors;
  t[LOCAL].data = (const u8 *)model->local_rope;
  t[GLOBAL].data = (const u8 *)&model->rope_factor;
  t += OUTPUT_NORM;
  do {
    do find(t++, infos);
    while (*model->pattern != '\x80');
    t += N_LAYER_TENSORS - N_FILE_TENSORS;
    model->pattern = LAYER;
  } while (++model->layer < model->block_count);
  check();
}
