// engine.h - the engine as the unit tests see it.
//
// engine.cpp is the one file that knows names of loader/ and runtime/: when one of them changes,
// that is what to mend.  Read next: child.h, then the tests, of which sampler_test.cpp is the
// plainest.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

using Token = unsigned;
using Tokens = std::vector<Token>;
using Logits = std::vector<float>;

// Thrown where the program would have said "mote: FILE: SUBJECT: FAULT" and left.
struct Refused {
  std::string subject, fault;
};

struct Options {
  unsigned context = 0;    // 0: what the model asks for
  unsigned max_batch = 0;  // 0: what the engine takes
  unsigned n_threads = 1;
  // For the tight tolerance, what the program never does:
  bool kv_f32 = false;  // a KV cache of f32
  bool exact = false;   // quantised weights are multiplied with floats
};

// There is one engine in a process: each call forgets the one before.  The file must outlive it.
// Threads never end, so an engine with more than one must be a child's only one: see child.h.
void load(std::span<const unsigned char> file);                        // the loader alone
void open(std::span<const unsigned char> file, const Options & = {});  // ready to feed()

// One token of the vocabulary, as the file has it.
struct Piece {
  std::string text;
  float score;
  int type;  // 1 normal, 2 unknown, 3 control, 4 user-defined, 6 byte
};
std::vector<Piece> vocabulary();

// User text, or the chat template's, in which control tokens count.  Without <bos>.
Tokens encode(std::string_view text, bool special = false);
std::string text_of(const Tokens &);  // what the engine prints for them

void restart();                                       // an empty KV cache
Logits feed(const Tokens &);                          // what the engine thinks comes next
std::vector<Logits> feed_batch(const Tokens &batch);  // one batch; the logits of all its columns

struct Sampling {
  float temperature = 1;
  unsigned top_k = 0;  // 0: off
  float top_p = 1;
  unsigned seed = 1;
};
void set_sampling(const Sampling &);
// Draws from logits, at most as many as the model has tokens, and moves the seed on.
Token sample(const Logits &);

Token bos();
unsigned max_batch();

}  // namespace engine
