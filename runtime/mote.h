// mote.h - the engine's one object, and who works on it.
//
// Everything lives in a Mote: there is no other state, no heap, no writable image.  It begins with
// the Model, so that the one pointer that the engine keeps serves both.  Reading order: main.cpp,
// generate.cpp, forward.cpp, tokenizer.cpp, sampler.cpp, threads.cpp, io.cpp.
#pragma once
#include "../asm/kernels.h"
#include "../loader/model.h"

constexpr u32 MAX_BATCH = 64;        // prompt tokens that share one pass over the weights
constexpr u32 MAX_CONTEXT = 8192;    // without -c: of what the file allows
constexpr u32 MAX_THREADS = 1024;
constexpr u32 THREAD_STACK = 16384;  // bytes

// Activations of a batch: columns of floats, one per token.
struct Buffer {
  f32 *data;   // [batch][stride]
  u64 stride;  // floats from one column to the next
};

enum BufferName : u8 { X, H, Q, K, V, O, T, GATE, UP, N_BUFFERS };

struct Mote : Model {
  const char *file_name;  // the model's, for messages

  // What the command line says.
  u32 max_tokens, n_threads, top_k, context;
  u64 seed;
  f32 temperature, top_p;
  bool chat, quiet;

  // Tokens: the prompt, the answers, everything that the KV cache holds or will hold.
  u32 *tokens_fed;  // [context]
  u32 n_tokens;     // of them there are so many,
  u32 n_past;       // and so many of those are in the KV cache

  // Threads.
  void (*job)(u32 thread);
  u32 started, arrived, generation, sleeping;

  // The forward pass.
  u32 batch;        // tokens in this pass, at most max_batch
  u32 max_batch;
  u64 weights_read; // bytes, by all passes so far

  Buffer buffer[N_BUFFERS];
};
