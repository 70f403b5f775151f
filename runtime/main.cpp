// main.cpp - the command line, and what it asks for.
// boot/ falls into main().  Read next: loader/model.h, generate.cpp.
#include "mote.h"
#include "sys.h"

extern "C" const u8 image_size[];  // linker.ld: the engine's own bytes, as an address

#if CHAT
#define CHAT_OPTION "i"
#else
#define CHAT_OPTION "\1"
#endif

// The options, in the order of their values in Mote: switches, fractions, whole numbers.
static const char OPTIONS[] = "qh" CHAT_OPTION "PT" "tclkns";
enum { FIRST_FRACTION = 3, FIRST_NUMBER = 5, N_OPTIONS = 11 };

static const char HELP[] =
    "usage: mote [options] [MODEL.gguf] [PROMPT]\n"
    " -n N tokens -c N context -T F temperature (0: greedy)\n"
    " -k N top-k (0: off) -P F top-p -s N seed -t N threads -l N lookup\n"
#if CHAT
    " -i chat"
#endif
    " -q quiet -h help\n";

// Help that was asked for, or a command line that nobody can follow.
[[noreturn]] static void help() {
  write_all(2 - mote->help, HELP, sizeof(HELP) - 1);
  leave(2 - 2 * mote->help);
}

// Maps a file from its first byte; the model begins behind the first skip of them.  An engine
// without a model behind it is no failure.
static void open_model(char *path, const u8 *skip) {
  mote->file_name = path;
  mote->file = skip;
  i64 fd = sys(SYS_OPEN, path, 0x800);                 // O_NONBLOCK: never wait for a pipe
  i64 size = sys(SYS_LSEEK, fd, 0, 2);                 // SEEK_END
  i64 p = sys(SYS_MMAP, nullptr, size, 1, 2, fd, 0l);  // PROT_READ, MAP_PRIVATE
  sys(SYS_CLOSE, fd);  // it may be 0, which read_prompt() reads
  if (p < 0 && !mote->file) fail("cannot read");
  if (p < 0 || size <= i64(mote->file)) return;
  mote->file += p;
  mote->end = (u8 *)p + size;
}

// The parts of the arena, in the order of Mote's pointers from buffer on: how many words of four
// bytes, before the logits for each token of a batch, and from them on four times.
static const u8 ARENA[] = {
    PARAM(d_model), PARAM(d_model), PARAM(d_model), PARAM(d_model),  // X, H, H_Q, T
    PARAM(d_q), PARAM(d_q), PARAM(d_q),              // Q, O, O_Q
    PARAM(d_kv), PARAM(d_kv),                        // K, V
    PARAM(d_ffn), PARAM(d_ffn), PARAM(d_ffn),        // GATE, GATE_Q, UP
    PARAM(score_words),                              // SCORES
    PARAM(head_dim), PARAM(head_dim),                // LOCAL_ROPE, GLOBAL_ROPE
    PARAM(logit_quads),                              // LOGITS
    PARAM(one),                                      // ROPE
    PARAM(context),                                  // tokens_fed
    PARAM(n_vocab), PARAM(n_vocab), PARAM(n_vocab),  // slots
    PARAM(n_vocab),                                  // piece
    PARAM(n_vocab),                                  // draws
    PARAM(n_vocab),                                  // ranking
};

// Lays the arena out from here on: the KV cache, and then the parts, each with room for the pads.
// Returns the end of it.
static u8 *lay_out(u8 *arena) {
  Tensor *t = mote->tensors + FIRST_LAYER;
  u32 l = 0;
  do {
    u32 v_row = mote->spans[++l % mote->period == 0].v_row;
    t[K_CACHE] = {arena, nullptr, mote->kv_type, mote->k_row};
    arena += u64(mote->d_kv) * v_row;
    t[V_CACHE] = {arena, nullptr, mote->kv_type, v_row};
    arena += u64(mote->d_kv) * v_row;
    t += N_LAYER_TENSORS;
  } while (l < mote->block_count);
  auto pointers = (u8 **)mote->buffer;
  for (u64 i = 0; i < sizeof(ARENA); ++i) {
    pointers[i] = arena;
    u64 times = mote->max_batch;
    if (i >= LOGITS) times = 4;
    arena += mote->param[ARENA[i]] * times * 4 + 4 * COLUMN_PAD * MAX_BATCH;
  }
  return arena;
}

static u32 bits(f32 x) { return __builtin_bit_cast(u32, x); }

// The scales of softmax(scale x), or softmax(cap tanh(scale / cap x)).
static void set_cap(u32 *scales, u32 cap, f32 scale) {
  scales[1] = bits(scale);
  if (cap == NO_CAP) return;
  scales[0] = bits(scale / __builtin_bit_cast(f32, cap));
  scales[1] = cap;
}

void set_up() {
  u32 context = mote->context;
  if (!context) {
    context = mote->context_length;
    if (context > DEFAULT_CONTEXT) context = DEFAULT_CONTEXT;
  }
  mote->context = context;
  // 8 more than needed: rows of V a power of two apart would meet in the cache
  u32 slots = (context + 15) & ~7u;
  mote->spans[1] = {~0u, slots, 0, slots * mote->kv_size};
  // A local layer's ring has room for a batch besides what its first token sees.
  u32 window = mote->window, ring = (window + MAX_BATCH + 7) & ~7u;
  if (ring > slots) ring = slots;
  mote->spans[0] = {window, ring, 0, ring * mote->kv_size};
  mote->k_row = mote->d_kv * mote->kv_size;
  mote->score_words = mote->n_head * slots;
  mote->padded_vocab = (mote->n_vocab + 7) & ~7u;
  mote->logit_quads = mote->padded_vocab / 4 * (mote->lookup + 1);
  mote->group = mote->n_head / mote->n_kv_head;
  mote->embed_scale = bits(__builtin_sqrtf(f32(i32(mote->d_model))));
  // The 27B models of Gemma 2 and 3, with 46 and 62 layers, have heads of another size than this.
  u32 query_dim = mote->head_dim;
  if (mote->block_count == 14 + 16 * mote->architecture && mote->architecture > GEMMA)
    query_dim = mote->d_model / mote->n_head;
  set_cap(&mote->attn_scale, mote->attn_cap, 1 / __builtin_sqrtf(f32(i32(query_dim))));
  set_cap(&mote->head_scale, mote->final_cap, 1);
  // Once to know the size, and once more in its place.
  u64 header = u64(mote->data - mote->file);
  mote->pieces = lay_out((u8 *)map(u64(lay_out(nullptr)) + 4 * header));
  read_vocabulary();
  start_threads();
}

void finish() {
  u64 prompt = mote->cost[0].tokens, answer = mote->drawn;
  mote->cost[0].speed = u32(prompt * 100000000000 / (mote->time[0] | 1));
  mote->cost[1].speed = u32(answer * 100000000000 / (mote->time[1] | 1));
  mote->bandwidth = u32(mote->passes * u64(mote->end - mote->data) * 100 / (mote->time[1] | 1));
  if (!mote->quiet)
    say("\nseed #; prompt #, % tok/s; answer #, % tok/s, % GB/s\n", &mote->seed);
  leave(0);
}

// In a chat, what stands between the texts of the two: the end of a turn, the beginning of another.
// role: 0 user, 1 model.
static void turn(u32 role) {
  if (!chats()) return;
  if (mote->n_fed > 1) {  // more than <bos>
    add_token(mote->turn_end);
    encode("\n", 1);
  }
  add_token(mote->turn_start);
  encode("user\nmodel\n" + 5 * role, 5 + role);
}

// A prompt and its answer; of a chat, one turn after the other.
[[noreturn]] static void converse() {
  if (mote->add_bos | chats()) add_token(mote->bos);
  for (;;) {
    if (!mote->prompt) read_prompt();
    turn(0);
    auto start = (char *)mote->prompt;
    if (mote->add_space_prefix) *--start = ' ';
    encode(start, u64(mote->prompt_end - start - 1));
    mote->prompt = nullptr;
    turn(1);
    if (!mote->n_fed) add_token(mote->bos);  // an empty prompt is one
    if (mote->full > chats()) fail("prompt too long");
    generate();
    if (!chats()) break;
    write_all(1, "\n", 1);
    if (mote->full) break;
  }
  if (mote->full) say("\nmote: context is full\n", nullptr);
  finish();
}

// As many threads as this process may use CPUs.
static void count_cpus() {
  auto mask = (u8 *)text();
  for (i64 n = sys(SYS_SCHED_GETAFFINITY, 0, MAX_THREADS / 8, mask); --n >= 0;)
    for (u32 m = mask[n]; m; m &= m - 1) ++mote->n_threads;
}

// argv[0] is the name of this very file, whatever the caller has called it: boot/ sees to that.
extern "C" [[noreturn, gnu::section(".text.main")]] void main(char **argv) {
  base = (u8 *)map(sizeof(Mote) + MAX_TEXT) + BIAS;
  mote->seed = u32(now());
  mote->tensors = mote->tensor;
  // Zeros become these: shorter than to write all of a word.
  mote->max_batch |= MAX_BATCH;
  mote->kv_type |= F16;
  mote->kv_size |= 2;
  mote->quantised |= QUANTISED;
  mote->lookup |= 7;  // columns that cost little beside one: README.md
  mote->kv_store = store_f16;
  mote->max_tokens = ~0u;
  mote->top_k |= 64;  // the Gemma model card
  mote->top_p = 0.95f;
  mote->temperature = 1;
  u64 no_signal = 1 << 12;  // SIGPIPE, bit 13 - 1: a dead pipe is an error of write
  sys(SYS_SIGPROCMASK, 0, &no_signal, 0, 8);
  open_model(*argv, image_size);
  if (!cpu_ready()) fail(cpu_needs);

  // Options may stand anywhere before "--".
  for (++argv; auto s = (u8 *)*argv; ++argv) {
    if (mote->only_words || s[0] != '-' || !s[1]) {
      if (!mote->end) {
        open_model((char *)s, nullptr);
        continue;
      }
      auto to = (u8 *)mote->prompt_end;
      if (!to) mote->prompt = (char *)(to = (u8 *)text() + MAX_MESSAGE);
      do *to++ = *s;
      while (*s++);
      to[-1] = ' ';
      mote->prompt_end = (char *)to;
      continue;
    }
    ++s;
    if (*(const u16 *)s == '-') {  // and nothing behind it
      mote->only_words = true;
      continue;
    }
    while (u8 c = *s++) {
      i64 i = N_OPTIONS;
      do
        if (--i < 0) help();
      while (u8(OPTIONS[i]) != c);
      u32 *option = mote->option + i;
      ++*option;
      if (mote->help) help();
      if (i < FIRST_FRACTION) continue;
      if (!*s) {
        s = (u8 *)*++argv;
        if (!s) help();
      }
      if (*(const u16 *)s == '.') help();  // a point alone
      u64 value = 0;
      u32 unit = 0;  // of the last digit, behind a point
      do {
        u32 digit = *s - u32('0');
        if (digit <= 9) {
          if (unit < 10000000) {  // more digits would make no difference
            value = value * 10 + digit;
            unit *= 10;
            if (value >> 32) help();
          }
        } else {
          if (*s != '.' || i >= FIRST_NUMBER || unit) help();
          unit = 1;
        }
      } while (*++s);
      if (i < FIRST_NUMBER) {
        f32 f = f32(i64(value));
        if (unit) f /= f32(i32(unit));
        value = bits(f);
      }
      *option = u32(value);
    }
  }
  if (!mote->end || bits(mote->top_p) > bits(1)) help();
  static_assert(MAX_CONTEXT == MAX_THREADS * MAX_THREADS);  // so both are looked at at once
  if ((mote->context / MAX_THREADS | mote->n_threads) / MAX_THREADS | mote->lookup / MAX_BATCH)
    help();
  load();
  if (mote->context > mote->context_length) say("mote: -c beyond the model\n", nullptr);
  if (!mote->n_threads) count_cpus();
  model->subject = nullptr;
  set_up();
  converse();
}
