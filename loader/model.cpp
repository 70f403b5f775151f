// model.cpp - from the bytes of a GGUF file to hyper-parameters and tensors, each of them checked.
// load() is called by runtime/main.cpp.  Read first: model.h.
//
// Keys are read in the file's order, tensors looked for in ours.  All names stand in one table, as
// patterns: spell() writes one out, and is_name() compares the file's name with it.
#include "model.h"

// The number of a value's type.  An array has 16 more than its elements' type.
enum ValueType : u8 { U16 = 2, U32 = 4, I32 = 5, FLOAT = 6, BOOL = 7, STRING = 8, ARRAY = 9 };

// A byte below '.' in a pattern stands for a word: that at 3 * byte - 3.  # is the layer's number,
// @ what the architecture's name has behind "gemma".
static constexpr char WORDS[] =
    "gemma@.\0\0" "general.\0" "_length\0\0" "count\0" "token\0" "norm\0\0" "attn_\0" "ffn_\0\0"
    "blk.#.\0\0\0" ".weight\0\0" "attention.\0\0" "rope.\0" "_softcapping\0\0\0" ".freq_base\0\0"
    "tokenizer.ggml.";
#define GEMMA "\1"
#define GENERAL "\4"
#define LENGTH "\7"
#define COUNT "\12"
#define TOKEN "\14"
#define NORM "\16"
#define ATTN "\20"
#define FFN "\22"
#define BLK "\24"
#define WEIGHT "\27"
#define ATTENTION "\32"
#define ROPE "\36"
#define SOFTCAP "\40"
#define BASE "\45"
#define TOKENIZER "\51"

// A pattern begins with a byte above 0x7f, which ends the one before it.  A key's is
// 0x80 + 32 * rule + type.  The rules for values that must be there:
// 0  1 to 0x637f7f80: a number, a finite float above 0, a place in the file
// 1  1 to 0x637f80, a multiple of 8     2  a token, but for 0     3  1 to MAX_LAYERS
// Those from OR_FLOAT on have no field of their own.
constexpr u32 WITHOUT_FIELD = 0xe6;
#define A_U16 "\x82"
#define A_BOOL "\x87"
#define A_STRING "\x88"
#define OR_FLOAT "\xe6"  // another name of the key that follows
#define VALUE "\xef"     // what the string before may be; a key of that name has no good type
#define A_NUMBER "\x84"
#define A_FLOAT "\x86"
#define EIGHTS "\xa4"
#define A_TOKEN "\xc4"
#define UP_TO_MAX "\xe4"
#define STRINGS "\x98"
#define FLOATS "\x96"
#define INTEGERS "\x95"

// The keys in the order of Model's fields: those that may be missing, those that may not.
#define OPTIONAL_KEYS \
  A_U16 "split." COUNT \
  A_BOOL TOKENIZER "add_bos_" TOKEN \
  A_BOOL TOKENIZER "add_space_prefix" \
  A_STRING GEMMA ROPE "scaling.type" VALUE "linear" VALUE "none"

#define KEYS \
  A_STRING GENERAL "architecture" VALUE "gemma" VALUE "gemma2" VALUE "gemma3" \
  A_STRING TOKENIZER "model" VALUE "llama" \
  UP_TO_MAX GEMMA "block_" COUNT \
  UP_TO_MAX GEMMA ATTENTION "head_" COUNT \
  UP_TO_MAX GEMMA ATTENTION "head_" COUNT "_kv" \
  EIGHTS GEMMA ATTENTION "key" LENGTH \
  EIGHTS GEMMA ATTENTION "value" LENGTH \
  A_NUMBER GEMMA "context" LENGTH \
  A_NUMBER GENERAL "alignment" \
  A_NUMBER GEMMA ATTENTION "sliding_window_pattern" \
  A_FLOAT GEMMA ATTENTION "layer_" NORM "_rms_epsilon" \
  A_FLOAT GEMMA ATTN "logit" SOFTCAP \
  A_FLOAT GEMMA "final_logit" SOFTCAP \
  A_NUMBER GEMMA ATTENTION "sliding_window" \
  OR_FLOAT GEMMA ROPE "local" BASE \
  A_FLOAT GEMMA ROPE "freq_base_swa" \
  OR_FLOAT GEMMA ROPE "scale_linear" \
  A_FLOAT GEMMA ROPE "scaling.factor" \
  OR_FLOAT GEMMA ROPE "global" BASE \
  A_FLOAT GEMMA ROPE "freq_base" \
  A_TOKEN TOKENIZER "bos_" TOKEN "_id" \
  A_TOKEN TOKENIZER "eos_" TOKEN "_id" \
  STRINGS TOKENIZER TOKEN "s" \
  FLOATS TOKENIZER "scores" \
  INTEGERS TOKENIZER TOKEN "_type" \
  EIGHTS GEMMA "embedding" LENGTH \
  EIGHTS GEMMA "feed_forward" LENGTH

// The tensors, in Model's order.  A tensor's first byte has three octal digits.  A vector, of f32:
// 2, the architecture from which on there is one, columns.  A matrix: 3, rows, columns.  Columns and
// rows are 1 d_model, 2 d_ffn, 3 n_vocab, 4 d_q, 5 d_kv, 6 head_dim.
#define TENSORS \
  "\201" "output_" NORM WEIGHT \
  "\331" TOKEN "_embd" WEIGHT \
  "\331" "output" WEIGHT

#define LAYER_TENSORS \
  "\201" BLK ATTN NORM WEIGHT \
  "\236" BLK ATTN "q_" NORM WEIGHT \
  "\236" BLK ATTN "k_" NORM WEIGHT \
  "\341" BLK ATTN "q" WEIGHT \
  "\351" BLK ATTN "k" WEIGHT \
  "\351" BLK ATTN "v" WEIGHT \
  "\314" BLK ATTN "output" WEIGHT \
  "\221" BLK "post_" "attention_" NORM WEIGHT \
  "\201" BLK FFN NORM WEIGHT \
  "\321" BLK FFN "gate" WEIGHT \
  "\321" BLK FFN "up" WEIGHT \
  "\312" BLK FFN "down" WEIGHT \
  "\221" BLK "post_ffw_" NORM WEIGHT

static constexpr char PATTERNS[] = OPTIONAL_KEYS KEYS TENSORS LAYER_TENSORS "\x80";
static constexpr const char *REQUIRED = PATTERNS + sizeof(OPTIONAL_KEYS) - 1;
static constexpr const char *LAYER = PATTERNS + sizeof(OPTIONAL_KEYS KEYS TENSORS) - 1;

// What the compiler can check of all this.
constexpr bool is_word(const char *code, const char *word) {
  const char *w = WORDS + 3 * code[0] - 3;
  while (*word && *w == *word) ++w, ++word;
  return *w == *word && code[0] < '.' && code[0] != '#';
}
static_assert(is_word(GEMMA, "gemma@.") && is_word(GENERAL, "general.") && is_word(NORM, "norm") &&
              is_word(LENGTH, "_length") && is_word(COUNT, "count") && is_word(TOKEN, "token") &&
              is_word(ATTN, "attn_") && is_word(FFN, "ffn_") && is_word(BLK, "blk.#.") &&
              is_word(WEIGHT, ".weight") && is_word(ATTENTION, "attention.") &&
              is_word(ROPE, "rope.") && is_word(SOFTCAP, "_softcapping") &&
              is_word(BASE, ".freq_base") && is_word(TOKENIZER, "tokenizer.ggml."));

constexpr u32 count_patterns(const char *s, u32 below) {
  u32 n = 0;
  for (; *s; ++s) n += u8(*s) >= 0x80 && u8(*s) < below;
  return n;
}
#define FIELDS(from, to) ((__builtin_offsetof(Model, to) - __builtin_offsetof(Model, from)) / 4)
static_assert(count_patterns(OPTIONAL_KEYS, WITHOUT_FIELD) == FIELDS(split_count, architecture) &&
              count_patterns(KEYS, WITHOUT_FIELD) == FIELDS(architecture, n_vocab));
static_assert(count_patterns(TENSORS, 256) == FIRST_LAYER - OUTPUT_NORM &&
              count_patterns(LAYER_TENSORS, 256) == N_FILE_TENSORS);
static_assert(FIELDS(token_types, d_model) == 1 && FIELDS(token_types, d_ffn) == 2 &&
              FIELDS(token_types, n_vocab) == 3 && FIELDS(token_types, d_q) == 4 &&
              FIELDS(token_types, d_kv) == 5 && FIELDS(token_types, head_dim) == 6);
static_assert(MAX_LAYERS == (0x637f7f7f >> 24) + 1 && MAX_LAYERS <= 100);  // two digits

// What holds where the file says nothing, by Architecture: from Model's period on.  0: the file has
// to say it.
constexpr u32 ONE = 0x3f800000, TEN_THOUSAND = 0x461c4000, NOTHING = 1;
static constexpr u32 DEFAULTS[][8] = {
    // period, epsilon, softcaps 50 and 30, window, base of local layers, rope's factor and base
    {1, 0, NO_CAP, NO_CAP, 4096, TEN_THOUSAND, ONE, TEN_THOUSAND},
    {2, 0, 0x42480000, 0x41f00000, 4096, TEN_THOUSAND, ONE, TEN_THOUSAND},
    {6, 0x358637bd, NO_CAP, NO_CAP, 0, TEN_THOUSAND, NOTHING, NOTHING},  // 1e-6
};
static_assert(FIELDS(period, bos) == 8);

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
      if (c < '0' + GEMMA2) continue;
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
    if (is_name()) {
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

// The names of ggml's types by number: enum ggml_type in ggml.h.
static constexpr char TYPE_NAMES[] =
    " F32 F16 Q4_0 Q4_1 Q4_2 Q4_3 Q5_0 Q5_1 Q8_0 Q8_1 Q2_K Q3_K Q4_K Q5_K Q6_K Q8_K IQ2_XXS IQ2_XS "
    "IQ3_XXS IQ1_S IQ4_NL IQ3_S IQ2_S IQ4_XS I8 I16 I32 I64 F64 IQ1_M BF16 Q4_0_4_4 Q4_0_4_8 "
    "Q4_0_8_8 TQ1_0 TQ2_0 IQ4_NL_4_4 IQ4_NL_4_8 IQ4_NL_8_8 MXFP4 ?";
constexpr u32 N_TYPES = 40;

// The blocks of a row, by WeightType: ggml's number, weights as a power of two, bytes.
struct Block {
  u8 type, log_weights, bytes;
};
constexpr Block BLOCK_F32 = {0, 0, 4}, BLOCK_F16 = {1, 0, 2}, BLOCK_BF16 = {30, 0, 2},
                BLOCK_Q4_0 = {2, 5, 18}, BLOCK_Q4_1 = {3, 5, 20}, BLOCK_Q5_0 = {6, 5, 22},
                BLOCK_Q8_0 = {8, 5, 34}, BLOCK_Q4_K = {12, 8, 144}, BLOCK_Q5_K = {13, 8, 176},
                BLOCK_Q6_K = {14, 8, 210};
#define BLOCK(name, suffix) BLOCK_##name,
static constexpr Block BLOCKS[] = {BLOCK_F32, WEIGHT_TYPES(BLOCK)};  // of vectors; of matrices

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
