// mote.h - the engine's one object, and the functions that work on it.
//
// Everything lives in a Mote: no other state, no heap, no writable image.  It begins with the Model,
// so that the one pointer that the engine keeps serves both.
// Reading order: main.cpp, generate.cpp, forward.cpp, threads.cpp, tokenizer.cpp, sampler.cpp, io.cpp.
#pragma once
#include "../asm/kernels.h"
#include "../loader/model.h"

constexpr u32 MAX_BATCH = 60;           // prompt tokens that share a pass: whole threes and fours
constexpr u32 NO_TOKEN = ~0u;
constexpr u32 MIN_MATCH = 2;            // tokens that a guess is made from,
constexpr u32 MAX_MATCH = 32;           // and at most
constexpr u32 DEFAULT_CONTEXT = 8192;   // at most, without -c
constexpr u32 MAX_CONTEXT = 1 << 20;    // -c is less,
constexpr u32 MAX_THREADS = 1024;       // and so is -t
constexpr u32 MAX_MESSAGE = 4096;       // bytes, but for the last one, after which no prompt is needed
constexpr u32 MAX_TEXT = 1 << 24;       // bytes of a prompt, 16 for each token,
constexpr u32 CHUNK = 1 << 16;          // and of them at once
constexpr u32 THREAD_STACK = 16384;     // bytes

// Activations: [max_batch] columns of floats.
enum BufferName : u8 {
  X,       // [d_model] the residual stream
  H, H_Q,  // [d_model] what a norm makes of it; quantised
  T,       // [d_model] what a block adds to it
  Q,       // [n_head][head_dim]
  O, O_Q,  // the same; quantised
  K, V,    // [n_kv_head][head_dim]
  GATE, GATE_Q, UP,  // [d_ffn]; quantised
  SCORES,  // [n_head][padded]
  LOCAL_ROPE, GLOBAL_ROPE,  // [2][head_dim / 2] cosines, sines
  LOGITS,  // [lookup + 1][padded_vocab]
  ROPE,    // the one of the layer's kind
  N_BUFFERS
};

// A place in the hash table of the tokens' texts.
struct Slot {
  u64 hash;
  u32 token;
  i32 kind;   // 0: empty; above 0, the bytes of a user-defined token; below, the score of another
};

// How far the layers of a kind look back, and what follows from that for their KV cache.
struct Span {
  u32 window;  // positions that a token sees, itself among them
  u32 slots;   // of the cache, a multiple of 8: position p is in slot p % slots
  u32 padded;  // slots in use after this pass, up to a multiple of 8
  u32 v_row;   // bytes from one value's slots to the next one's
};

// A token that may be drawn.
struct Draw {
  i32 mass;   // with those that are better: the bits of an f32
  u32 place;  // n_vocab less the token
};

struct Mote : Model {
  // What is used most stands first, within reach of a one-byte displacement from the base register.
  u32 batch;             // tokens in this pass,
  u32 max_batch;         // and at most
  u32 generation, awaited;  // see barrier()
  u32 n_past, n_fed;     // tokens that the KV cache holds, and that it holds or will hold
  u32 size;              // of the text that find() looks up
  u32 places;            // of the tree
  u32 longest;           // bytes of the longest token
  u32 turn_start, turn_end;
  bool full;             // there was no room for a token
  bool only_words;       // there was a "--"

  u8 *pieces;            // the tokens' texts; when they are read, room for one more
  u64 *tree;             // see rank()
  const char *prompt;    // or null: standard input
  u32 kv_type;           // of the KV cache: F16, or F32 in a test
  u32 sleeping;          // threads, in barrier()

  // The command line, in the order of OPTIONS in main.cpp.
  union {
    u32 option[11];
    struct {
      u32 quiet, help, chat;
      f32 top_p, temperature;
      u32 n_threads, context, lookup, top_k, max_tokens, seed;
    };
  };
  // The statistics, in the order in which they are said: the seed, and then these.
  struct {
    u32 tokens, speed;   // speed: tokens a second, in hundredths
  } cost[2];             // of prompts, and of answers
  u32 bandwidth;         // GB/s, in hundredths
  u32 passes, drawn;     // passes over the weights for answers, and the tokens that they gave
  u32 luck;              // tokens guessed right in a row

  char *prompt_end;      // behind the one character that ends it

  const char *file_name, *what;  // of a failure: the model's file, and what is wrong

  // Of tables, see PARAM.
  u32 last;              // position of the last token, in column 0: the order is reversed
  Span span;             // of the layer at hand
  u32 group;             // query heads that share a key head
  u32 quantised;         // 1, if activations are quantised
  u32 kv_size;           // bytes of the KV cache's elements,
  u32 k_row;             // from one slot's keys to the next one's
  u32 score_words;       // n_head * slots
  u32 padded_vocab;      // n_vocab, up to a multiple of 8
  u32 logit_quads;       // padded_vocab / 4 * (lookup + 1)
  // As bits.  Scores s become softmax(softmax_scale tanh(attn_scale s)), logits the like, or without
  // the tanh, where the other scale is 0.
  u32 embed_scale;       // sqrt(d_model)
  u32 attn_scale, softmax_scale, head_scale, sampler_scale;
  Span spans[2];         // of local layers, and of global ones

  // Threads.
  void (*job)(u32 thread);

  // The forward pass.
  void (*kv_store)(void *, const f32 *, u32, u64);
  u64 time[2];       // ns that prompts and answers took
  u64 scratch[9];    // of the small functions in io.cpp

  // What the arena holds, in the order of ARENA in main.cpp.
  f32 *buffer[N_BUFFERS];
  u32 *tokens_fed;   // [context], and room for guesses
  Slot *slots[3];    // [3 * n_vocab], in three parts that lie side by side
  u8 **piece;        // [n_vocab + 1] where the text of each token begins
  Draw *draws;       // [n_vocab + 1] what may be drawn, from the second on
  u64 *ranking;      // [2 * n_vocab + 2] the sampler's tournament

  // The sampler and the tokenizer.
  const char *encoded;   // the end of the text that is being encoded
  u8 *pieces_end;        // see find()
  i32 match;
  u32 unknown;           // the token for what has none
  u64 random;            // see sample()

  u32 taken[MAX_THREADS][64];  // of each thread's rows, by step, so many are taken; 64: far apart

  Tensor tensor[MAX_TENSORS];
};

#define mote ((Mote *)(base - BIAS))

#ifndef CHAT
#define CHAT 1  // the Makefile's: 0 builds an engine without -i
#endif
inline bool chats() { return CHAT && mote->chat; }

// A message and, MAX_MESSAGE behind it, the prompt: [MAX_TEXT], behind the Mote.
inline char *text() { return (char *)(mote + 1); }

// The number of a u32 field, for tables: param[PARAM(field)] is its value.
#define PARAM(field) \
  u8((__builtin_offsetof(Mote, field) - __builtin_offsetof(Mote, param)) / 4)

// main.cpp
void set_up();  // memory for everything, once the model is loaded and the options are known
[[noreturn]] void finish();  // with the statistics

// generate.cpp
// Feeds the pending tokens, for logits: of the last one, and of as many before it as were drafted.
// kind 0: a prompt's, 1: an answer's.
void feed(u32 kind, u32 drafted);
void generate();                   // answers until a stop, -n or a full context

// forward.cpp: jobs for parallel()
void layers(u32 thread);           // the batch through all layers
void head(u32 thread);             // logits of the first columns, the newest tokens'

// threads.cpp
void start_threads();
void barrier();
void parallel(void (*job)(u32 thread));

// tokenizer.cpp
enum TokenType : u8 { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER_DEFINED = 4, BYTE = 6 };
void read_vocabulary();
void encode(const char *text, u64 n);  // adds the text's tokens; 3 bytes behind it are read, too
void add_token(u64 token);
void print_token(u64 token);

// sampler.cpp
u32 sample(u32 column);  // from its logits
void rank(u64 place, u64 value);

// io.cpp
void *map(u64 bytes);                               // fresh zeroed memory
void write_all(u32 fd, const void *p, u64 n);
// Says s on standard error, with the next of the values for each # (a u32), % (a u32, in
// hundredths) and $ (a string).
void say(const char *s, const void *values);
void tell(u32 fd, const char *s);  // says it if that is a terminal; the values are n_past, n_fed
u64 now();                                          // ns
void read_prompt();                                 // in a chat a line, which may be the last
[[noreturn]] void leave(u32 status);
