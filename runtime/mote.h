// mote.h - the engine's one object, and the functions that work on it.
//
// Everything lives in a Mote: no other state, no heap, no writable image.  It begins with the Model,
// so that the one pointer that the engine keeps serves both.
// Reading order: main.cpp, generate.cpp, forward.cpp, threads.cpp, tokenizer.cpp, sampler.cpp, io.cpp.
#pragma once
#include "../asm/kernels.h"
#include "../loader/model.h"

constexpr u32 MAX_BATCH = 64;           // prompt tokens that share one pass over the weights
constexpr u32 DEFAULT_CONTEXT = 8192;   // at most, without -c
constexpr u32 MAX_CONTEXT = 1u << 20;
constexpr u32 MAX_THREADS = 1024;
constexpr u32 THREAD_STACK = 16384;     // bytes
constexpr u32 NO_TOKEN = ~0u;

// Activations: [max_batch] columns of floats.
enum BufferName : u8 {
  X,       // [d_model] the residual stream
  H,       // [d_model] what a norm makes of it
  T,       // [d_model] what a block adds to it
  Q, O,    // [n_head][head_dim]
  K, V,    // [n_kv_head][head_dim]
  GATE, UP,  // [d_ffn]
  SCORES,  // [n_head][padded]
  ROPE,    // [2][head_dim / 2] cosines, sines
  LOGITS,  // [n_vocab], of one token alone
  N_BUFFERS
};

// What passes of one kind have cost: of prompts, or of single tokens.
struct Cost {
  u64 tokens, time;  // ns
};

struct Mote : Model {
  // What is used most stands first, within reach of a one-byte displacement from the base register.
  u32 batch, max_batch;  // tokens in this pass, and at most
  u32 last;              // position of the last of them, which is in column 0: the order is reversed
  u32 padded;            // positions after this pass, up to a multiple of 8
  u32 kv_stride;         // positions that the KV cache has room for
  u32 kv_type;           // of the KV cache: F16, or F32 in a test
  u32 kv_words;          // its words of 4 bytes for each of d_kv
  u32 batch_heads;       // max_batch * n_head
  u32 header_bytes;      // of the file, before the tensor data
  u32 two;               // 2
  u32 group;             // query heads that share a key head
  u32 embed_scale, score_scale;  // as bits: sqrt(d_model), 1 / sqrt(head_dim)
  u32 n_fed;             // tokens that the KV cache holds or will hold,
  u32 n_past;            // and that it holds
  u32 slot_mask;
  u32 longest;           // bytes of the longest token that is matched as a whole
  u32 turn_start, turn_end;
  u8 *arena;             // where the free part of the arena begins

  bool full;             // there was no room for a token

  const char *file_name;  // the model's, for messages

  // The command line, in the order of OPTIONS in main.cpp.
  union {
    u32 option[9];
    struct {
      u32 max_tokens, context, top_k, n_threads, seed;
      f32 temperature, top_p;
      u32 chat, quiet;
    };
  };
  const char *prompt;  // or null: standard input
  u64 prompt_n;

  // Threads.
  void (*job)(u32 thread);
  u32 started, arrived, generation, sleeping;

  // The forward pass.
  void (*kv_store)(void *, const f32 *, u32, u64);
  Cost prompts, answers;
  u64 weight_bytes;  // of all tensors
  u32 n_answered;    // tokens that the model has said

  // What the arena holds, in the order of ARENA in main.cpp.
  f32 *buffer[N_BUFFERS];
  u32 *tokens_fed;   // [context]
  u32 *piece;        // [n_vocab + 1] where the text of each token begins
  u32 *slots;        // [slot_mask + 1] hash table: a token + 1, or 0
  u64 *ranking;      // [n_vocab] a heap, and behind n_heap what has left it
  u8 *pieces;        // the text of all tokens, U+2581 as a space

  // The sampler and the tokenizer.
  u32 n_heap;
  u32 byte_token[256];

  Tensor tensor[MAX_TENSORS];
};

#define mote ((Mote *)(base - BIAS))

// The number of a u32 field, for tables: param[PARAM(field)] is its value.
#define PARAM(field) \
  u8((__builtin_offsetof(Mote, field) - __builtin_offsetof(Mote, param)) / 4)

// main.cpp
void set_up();  // memory for everything, once the model is loaded and the options are known

// generate.cpp
void feed(Cost *cost);             // the pending tokens through the model; then the logits are there
void generate();                   // answers until a stop, -n or a full context

// forward.cpp: jobs for parallel()
void layers(u32 thread);           // the batch through all layers
void head(u32 thread);             // logits of column 0

// threads.cpp
void start_threads();
void barrier();
void parallel(void (*job)(u32 thread));

// tokenizer.cpp
enum TokenType : u8 { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER_DEFINED = 4, BYTE = 6 };
constexpr u32 PLAIN = 1 << USER_DEFINED;                             // text of a user
constexpr u32 SPECIAL = PLAIN | 1 << CONTROL | 1 << UNKNOWN;         // text of the chat template
void read_vocabulary();
void encode(const char *text, u64 n, u32 matched_whole);  // adds the text's tokens
void add_token(u32 token);
u32 token_type(u32 token);
void print_token(u32 token);

// sampler.cpp
u32 sample();

// io.cpp
void *map(u64 bytes);                               // fresh zeroed memory
void unmap(void *p, u64 bytes);
void write_all(u32 fd, const void *p, u64 n);
u64 length(const char *s);
void say(const char *s);                            // to standard error
void say_number(const char *before, u64 n, i32 decimals);  // n is that many powers of ten more
u64 now();                                          // ns
bool is_terminal(u32 fd);
u32 read_input(u8 *text, u32 size, bool line);      // to the end, of a line or of all; the bytes read
[[noreturn]] void leave(u32 status);
