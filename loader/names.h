// names.h - what GGUF files call keys, tensors and types; what holds where they say nothing.
// Included by model.cpp alone.  Read first: model.h.
#pragma once
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
