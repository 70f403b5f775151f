// model.h - a Gemma as a GGUF file holds it: hyper-parameters, vocabulary, tensors.
//
// load() reads a whole file that is already in memory, checks everything that the engine will trust
// later, and leaves typed views into it: nothing is copied, the file must outlive the Model.
// Format: GGUF v2 and v3, little-endian (ggml, docs/gguf.md).  Read next: gguf.h, then model.cpp.
#pragma once
#include "../asm/types.h"

constexpr u32 MAX_LAYERS = 128;  // Gemma 3 27B has 62

// A counted thing of the file: a string of n bytes or an array of n elements.
struct [[gnu::packed]] Counted {
  u64 n;
  u8 data[];
};

// A matrix or, with one row, a vector.
struct Tensor {
  const u8 *data;  // [rows][n] of the type, row after row
  u8 *cache;       // the runtime's: where the rows that it makes are kept, for keys and values
  u32 type;        // WeightType
  u32 row_bytes;
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

struct Model {
  struct {               // a Counted of our own: the name of a key or tensor that is looked for
    u64 n;
    char data[56];
  } name;
  const u8 *file, *end;    // the bytes [file, end)
  const u8 *at;            // where the reader stands
  const Counted *subject;  // the key or tensor it is about, or null; fail() names it

  // What the metadata says, a u32 each, in the order of KEYS in model.cpp.  A number or bool is
  // itself, a float its bits, a string or array the offset of its Counted in the file, 0 where there
  // is none.
  union {
    u32 param[1];
    struct {
      u32 architecture, split_count, alignment, context_length;
      u32 block_count, d_model, d_ffn, n_head, n_kv_head, head_dim, value_dim;
      u32 eps, rope_base;
      u32 tokenizer, tokens, scores, token_types, bos, eos, add_bos, add_space_prefix;
      u32 d_q, d_kv, n_vocab, one;  // derived: n_head * head_dim, n_kv_head * head_dim, rows, 1
    };
  };

  const u8 *infos;      // the tensor infos,
  u64 n_infos;          // their count,
  const u8 *data;       // and the tensor data, in the file
  u64 weight_bytes;     // of all tensors together
  Tensor *tensors;      // room for MAX_TENSORS, given by the caller; FIRST_LAYER + layer *
                        // N_LAYER_TENSORS + LayerTensor
};

// The one Model.  The engine keeps it in a register, so that it has no writable image at all, and
// keeps it BIAS bytes into the object, where most of its fields are within a one-byte displacement.
// Hosted tests keep it in a variable.
constexpr u32 BIAS = 192;
#ifdef MOTE_HOSTED
extern u8 *base;
#else
register u8 *volatile base asm("rbx");
#endif
#define model ((Model *)(base - BIAS))

inline const Counted *counted(u32 offset) { return (const Counted *)(model->file + offset); }

bool equal(const void *a, const void *b, u64 n);
bool equal(const Counted *a, const Counted *b);

// Fills *model from the file [model->file, model->end).  Returns only if the model can run.
void load();

// Whoever links the loader says what happens to a file that cannot run.  model->subject tells the key
// or the tensor, if it is not null; what is the fault, in a few words.
[[noreturn]] void fail(const char *what);
