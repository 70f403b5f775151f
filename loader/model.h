// model.h - a Gemma as a GGUF file holds it: hyper-parameters, vocabulary, tensors.
//
// load() reads a whole file that is already in memory, checks everything that the engine will trust
// later, and leaves typed views into it: nothing is copied, the file must outlive the Model.
// Format: GGUF v2 and v3, little-endian (ggml, docs/gguf.md).  Unaligned reads are the rule here.
// Read next: model.cpp.
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
  const u8 *data;   // row after row
  union {
    const u8 *end;  // of the data; for the loader alone
    u8 *cache;      // the runtime's: where the rows that it makes are kept, for keys and values
  };
  u32 type;         // WeightType
  u32 row_bytes;    // of a matrix
};

enum WeightType : u32 { F32, F16, BF16, N_WEIGHT_TYPES };

// The tensors of a layer, in the order of LAYER_TENSORS in model.cpp.
enum LayerTensor : u8 {
  ATTN_NORM, ATTN_Q, ATTN_K, ATTN_V, ATTN_OUTPUT, FFN_NORM, FFN_GATE, FFN_UP, FFN_DOWN,
  N_LAYER_TENSORS
};

// The tensors, in this order.
enum : u32 { OUTPUT_NORM, TOKEN_EMBD, FIRST_LAYER };  // [d_model], [n_vocab][d_model]
constexpr u32 MAX_TENSORS = FIRST_LAYER + MAX_LAYERS * N_LAYER_TENSORS;

// All 0 at first, but for file, end and tensors.
struct Model {
  const u8 *data;          // the tensor data, in the file
  struct {
    u64 n;                 // a Counted of our own:
    char data[48];         // the name of a key or tensor that is looked for
  } name;

  // The parameters.  A number is itself, a float its bits, a string or array the offset of its
  // Counted in the file.  A bool is true where it is not 0.
  union {
    u32 param[1];
    struct {
      u32 one;  // 1
      // What the metadata says, in the order of the keys in model.cpp.
      u32 split_count, add_bos, add_space_prefix;
      u32 architecture, is_gemma, tokenizer, is_llama;
      u32 block_count, n_head, n_kv_head, head_dim, value_dim, context_length;
      u32 alignment, eps, rope_base, bos, eos, tokens, scores, token_types, d_model, d_ffn;
      u32 n_vocab, d_q, d_kv;  // rows of token_embd, n_head * head_dim, n_kv_head * head_dim
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
