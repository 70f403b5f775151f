// engine.cpp - the adapter: all that the unit tests know of the engine's insides.  See engine.h.
#include "engine.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../runtime/mote.h"
#include "exact.h"

u8 *base;                                          // the hosted engine's only variable
asm(".global image_size\n.set image_size, 32");    // linker.ld's; no model is appended here

// The fail() of the engine is compiled under another name: unit.mk.
[[noreturn]] void fail(const char *what) {
  auto s = model->subject;
  throw engine::Refused{s ? std::string((const char *)s->data, s->n) : "", what};
}

namespace engine {

static void expect(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "tests/unit/engine.cpp: %s\n", what);
  abort();
}

// As main() begins.
void load(std::span<const u8> file) {
  static u8 *memory = (u8 *)map(sizeof(Mote) + MAX_TEXT);
  memset(memory, 0, sizeof(Mote));
  base = memory + BIAS;
  mote->file_name = "test.gguf";
  mote->tensors = mote->tensor;
  mote->max_batch = MAX_BATCH;
  mote->kv_type = F16;
  mote->kv_size = 2;
  mote->quantised = QUANTISED;
  mote->kv_store = store_f16;
  mote->file = file.data();
  mote->end = file.data() + file.size();
  ::load();
}

static void store_f32(void *dst, const f32 *src, u32 n, u64 stride) {
  for (u32 i = 0; i < n; ++i) memcpy((u8 *)dst + i * stride, src + i, 4);
}

void open(std::span<const u8> file, const Options &options) {
  load(file);
  mote->context = options.context;
  if (options.max_batch) mote->max_batch = options.max_batch;
  mote->n_threads = options.n_threads;
  exact = options.exact;
  if (options.kv_f32) {
    mote->kv_type = F32;
    mote->kv_size = 4;
    mote->kv_store = store_f32;
  }
  set_up();
  model->subject = nullptr;
}

std::vector<Piece> vocabulary() {
  auto scores = (const f32 *)counted(model->scores)->data;
  auto types = (const i32 *)counted(model->token_types)->data;
  auto at = counted(model->tokens)->data;
  std::vector<Piece> pieces(mote->n_vocab);
  for (u32 i = 0; i < mote->n_vocab; ++i) {
    auto text = (const Counted *)at;
    f32 score;
    i32 type;
    memcpy(&score, scores + i, 4);
    memcpy(&type, types + i, 4);
    pieces[i] = {std::string((const char *)text->data, text->n), score, type};
    at = text->data + text->n;
  }
  return pieces;
}

// The control tokens' texts, and those that count as such.
static const std::vector<std::pair<std::string, Token>> &control_tokens() {
  static std::vector<std::pair<std::string, Token>> tokens;
  static const u8 *file = nullptr;
  if (file == mote->file) return tokens;
  file = mote->file;
  tokens.clear();
  auto pieces = vocabulary();
  for (Token t = 0; t < pieces.size(); ++t)
    if (pieces[t].type == CONTROL || pieces[t].type == UNKNOWN || t == mote->turn_start ||
        t == mote->turn_end)
      tokens.push_back({pieces[t].text, t});
  return tokens;
}

// What stands between control tokens is plain text; the engine's chat adds them as main.cpp does.
Tokens encode(std::string_view text, bool special) {
  restart();
  std::string s(text);
  s += "   ";  // encode() may read them
  u64 from = 0;
  for (u64 i = 0; special && i < text.size(); ++i)
    for (auto &[piece, token] : control_tokens())
      if (!piece.empty() && i >= from && !text.compare(i, piece.size(), piece)) {
        ::encode(s.data() + from, i - from);
        add_token(token);
        from = i + piece.size();
      }
  ::encode(s.data() + from, text.size() - from);
  expect(!mote->full, "a text is longer than the context that the test gave");
  return Tokens(mote->tokens_fed, mote->tokens_fed + mote->n_fed);
}

// print_token() writes to standard output, so that is a file for a moment.
std::string text_of(const Tokens &tokens) {
  fflush(stdout);
  int file = memfd_create("stdout", 0), out = dup(1);
  expect(file >= 0 && dup2(file, 1) == 1, "no file for standard output");
  for (Token token : tokens) print_token(token);
  dup2(out, 1);
  close(out);
  std::string text(usize(lseek(file, 0, SEEK_END)), 0);
  expect(pread(file, text.data(), text.size(), 0) == ssize_t(text.size()), "cannot read it back");
  close(file);
  return text;
}

void restart() {
  mote->n_fed = mote->n_past = 0;
  mote->full = false;
}

// The head leaves softcapped logits below 1; their scale is the sampler's business.
static f32 cap() {
  f32 cap;
  memcpy(&cap, &mote->final_cap, 4);
  return mote->final_cap == NO_CAP ? 1 : cap;
}

static Logits logits() {
  const f32 *p = mote->buffer[LOGITS];
  Logits logits(p, p + mote->n_vocab);
  for (f32 &x : logits) x *= cap();
  return logits;
}

Logits feed(const Tokens &tokens) {
  for (Token token : tokens) add_token(token);
  expect(!mote->full, "more tokens than the context that the test gave");
  ::feed(0);
  return logits();
}

// The head takes column 0, in which the last token is; the one before it is in column 1, ...
std::vector<Logits> feed_batch(const Tokens &batch) {
  expect(!batch.empty() && batch.size() <= mote->max_batch, "that is not one batch");
  Logits last = feed(batch);
  std::vector<Logits> all(batch.size());
  u64 n = mote->d_model;
  std::vector<f32> x(mote->buffer[X], mote->buffer[X] + batch.size() * n);
  for (u64 c = 0; c < batch.size(); ++c) {
    memcpy(mote->buffer[X], x.data() + c * n, n * 4);
    parallel(head);
    all[batch.size() - 1 - c] = logits();
  }
  expect(memcmp(last.data(), all.back().data(), last.size() * 4) == 0,
         "the head of a column a second time gave other logits");
  return all;
}

void set_sampling(const Sampling &s) {
  mote->temperature = s.temperature;
  mote->top_k = s.top_k;
  mote->top_p = s.top_p;
  mote->random = 0;
  mote->seed = s.seed;
}

Token sample(const Logits &logits) {
  u32 n_vocab = mote->n_vocab;
  expect(logits.size() <= n_vocab, "a larger vocabulary than the model's");
  mote->n_vocab = u32(logits.size());
  for (usize i = 0; i < logits.size(); ++i) mote->buffer[LOGITS][i] = logits[i] / cap();
  Token token = ::sample();
  mote->n_vocab = n_vocab;
  return token;
}

Token bos() { return model->bos; }
unsigned max_batch() { return mote->max_batch; }

}  // namespace engine
