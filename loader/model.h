// model.h - a Gemma as a GGUF file holds it: hyper-parameters, vocabulary, tensors.
//
// load() reads a whole file that is already in memory, checks everything that the engine will trust
// later, and leaves typed views into it: nothing is copied, the file must outlive the Model.
// Format: GGUF v2 and v3, little-endian (ggml, docs/gguf.md).  Unaligned reads are the rule here.
// Read next: names.h, model.cpp.
#pragma once
#include "../asm/types.h"

constexpr u32 MAX_LAYERS = 100;  // Gemma 3 27B has 62

// A counted thing of the file: a string of n bytes or an array of n elements.
struct [[gnu::packed]] Counted {
  u64 n;
  u8 data[];
};

// A matrix or a vector, whose shape the hyper-parameters tell.
struct Tensor {
  const u8 *data;  // row after row
  const u8 *end;   // of the data
  u32 type;        // WeightType
  u32 row_bytes;   // of a matrix
};

// The weight types of this build, those without blocks first: name, and suffix of the kernels.  The
// Makefile's TYPES chooses them.
#ifndef WEIGHT_TYPES
#define WEIGHT_TYPES(T) \
  T(F32, f32) T(F16, f16) T(BF16, bf16) T(Q8_0, q8_0) T(Q4_0, q4_0) T(Q4_1, q4_1) \
  T(Q5_0, q5_0) T(Q4_K, q4_k) T(Q5_K, q5_k) T(Q6_K, q6_k)
#endif
#define NAME(name, suffix) name,
enum WeightType : u32 { WEIGHT_TYPES(NAME) N_WEIGHT_TYPES };
#undef NAME
#define IS_FLOAT(name, suffix) +(#name[0] != 'Q')
constexpr u32 N_FLOAT_TYPES = 0 WEIGHT_TYPES(IS_FLOAT);
#undef IS_FLOAT
constexpr bool QUANTISED = N_WEIGHT_TYPES > N_FLOAT_TYPES;

// The tensors of a layer, in the order of LAYER_TENSORS in names.h.  Norms that a model has not
// are empty: no data.
enum LayerTensor : u8 {
  ATTN_NORM, ATTN_Q_NORM, ATTN_K_NORM, ATTN_Q, ATTN_K, ATTN_V, ATTN_OUTPUT, POST_ATTENTION_NORM,
  FFN_NORM, FFN_GATE, FFN_UP, FFN_DOWN, POST_FFW_NORM, N_FILE_TENSORS,
  K_CACHE = N_FILE_TENSORS, V_CACHE,  // the runtime's own: [slots][d_kv], [d_kv][slots]
  N_LAYER_TENSORS
};

// The tensors, in this order: no tensors, but what angles() takes for them; [d_model];
// [n_vocab][d_model] twice, which may be the same one.
enum : u8 { LOCAL, GLOBAL, OUTPUT_NORM, TOKEN_EMBD, OUTPUT, FIRST_LAYER };
constexpr u32 MAX_TENSORS = FIRST_LAYER + MAX_LAYERS * N_LAYER_TENSORS;

enum Architecture : u32 { GEMMA = 1, GEMMA2 = 2, GEMMA3 = 3 };

constexpr u32 NO_SCALING = 2;       // the second VALUE of rope.scaling.type

constexpr u32 NO_CAP = 0x5d800000;  // as bits, 2^60: a softcap that caps nothing

// All 0 at first, but for file, end and tensors.
struct Model {
  const u8 *data;          // the tensor data, in the file
  struct {
    u64 n;                 // a Counted of our own:
    char data[48];         // the name of a key or tensor that is looked for
  } name;

  // The parameters.  A number is itself, a float its bits, an array the offset of its Counted in
  // the file, a string the number of that which it may be, from 1 on.  A bool is true where it is
  // not 0.
  union {
    u32 param[1];
    struct {
      u32 one;  // 1
      // What the metadata says, in the order of the keys in names.h.
      u32 split_count, add_bos, add_space_prefix, rope_scaling;
      u32 architecture;      // Architecture
      u32 tokenizer, block_count, n_head, n_kv_head, key_dim, value_dim, context_length;
      u32 alignment;
      u32 period;              // every so many layers one is global: it looks at the whole context
      u32 eps, attn_cap, final_cap, window, local_base;
      u32 rope_factor, rope_base;  // side by side: angles() reads them
      u32 bos, eos, tokens, scores, token_types, d_model, d_ffn;
      u32 n_vocab, d_q, d_kv;  // rows of token_embd, n_head * head_dim, n_kv_head * head_dim
      u32 head_dim;            // of keys and values
      u32 local_rope[2];       // factor and base for local layers
    };
  };

  const u8 *file, *end;    // the bytes [file, end)
  const u8 *at;            // where the reader stands
  const Counted *subject;  // the key or tensor it is about, or null; fail() names it

  u32 head, layer;         // the first byte of the pattern that the name is made from; its number
  const char *pattern;     // the next pattern
  Tensor *tensors;         // room for MAX_TENSORS, given by the caller; FIRST_LAYER + layer *
                           // N_LAYER_TENSORS + LayerTensor
};

// The one Model.  The engine keeps it in a register, so that it has no writable image at all, and
// keeps it BIAS bytes into the object, where most of its fields are within a one-byte displacement.
// Hosted tests keep it in a variable.
constexpr u32 BIAS = __builtin_offsetof(Model, block_count) + 128;
#ifdef MOTE_HOSTED
extern u8 *base;
#else
register u8 *volatile base asm("rbx");
#endif
#define model ((Model *)(base - BIAS))

inline const Counted *counted(u32 offset) { return (const Counted *)(model->file + offset); }

// Fills *model from the file [model->file, model->end).  Returns only if the model can run.
void load();

// Whoever links the loader says what happens to a file that cannot run.  model->subject tells the
// key or the tensor, if it is not null; what is the fault, in a few words.
[[noreturn]] void fail(const char *what);
