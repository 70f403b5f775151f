// main.cpp - the command line, and what it asks for.
// Called by _start in boot/.  Read next: loader/model.h, generate.cpp.
#include "mote.h"
#include "sys.h"

extern "C" const u8 image_size[];  // linker.ld: the engine's own bytes, as an address

// The options, in the order of their values in Mote: whole numbers, fractions, switches, help.
static const char OPTIONS[] = "ncktsTPiqh";
enum { FIRST_FRACTION = 5, FIRST_SWITCH = 7, HELP = 9 };

static const char HELP_TEXT[] =
    "usage: mote [options] [MODEL.gguf] [PROMPT]\n"
    "  -n N  stop after N tokens   -c N  context length   -T F  temperature, 0 = greedy\n"
    "  -k N  top-k, 0 = off        -P F  top-p            -s N  seed\n"
    "  -t N  threads               -i    chat             -q    no statistics   -h  help\n";

// Help that was asked for, or a command line that nobody can follow.
[[noreturn]] static void help(u32 fd) {
  write_all(fd, HELP_TEXT, sizeof(HELP_TEXT) - 1);
  leave(2 * (fd - 1));
}

// The value of an option: digits, for a fraction with a point among them.
static void set_option(u32 i, const char *s) {
  f64 value = 0, unit = 0;
  if (!s) help(2);
  do {
    u32 digit = u32(*s - '0');
    if (*s == '.' && i >= FIRST_FRACTION && unit == 0) {
      unit = 1;
      continue;
    }
    if (digit > 9) help(2);
    value = value * 10 + digit;
    unit *= 10;
  } while (*++s);
  if (unit != 0) value /= unit;
  if (i < FIRST_FRACTION) {
    if (value >= 0x1p32) help(2);
    mote->option[i] = u32(value);
  } else {
    mote->option[i] = __builtin_bit_cast(u32, f32(value));
  }
}

// Maps a file from its first byte; the model begins behind the first skip of them.
static bool open_model(char *path, const u8 *skip) {
  mote->file_name = path;
  i64 fd = sys(SYS_OPEN, i64(path));
  i64 size = sys(SYS_LSEEK, fd, 0, 2);                // SEEK_END
  i64 p = sys6(SYS_MMAP, 0, size, 1, 2, fd, 0);  // PROT_READ, MAP_PRIVATE
  sys(SYS_CLOSE, fd);
  if (p < 0) return false;
  mote->file = skip + p;
  mote->end = (u8 *)p + size;
  return mote->file < mote->end;
}

// The parts of the arena, in the order of Mote's pointers from buffer on: the product of two
// parameters, in words of 4 bytes.
static const u8 ARENA[][2] = {
    {PARAM(max_batch), PARAM(d_model)},    // X
    {PARAM(max_batch), PARAM(d_model)},    // H
    {PARAM(max_batch), PARAM(d_model)},    // T
    {PARAM(max_batch), PARAM(d_q)},        // Q
    {PARAM(max_batch), PARAM(d_q)},        // O
    {PARAM(max_batch), PARAM(d_kv)},       // K
    {PARAM(max_batch), PARAM(d_kv)},       // V
    {PARAM(max_batch), PARAM(d_ffn)},      // GATE
    {PARAM(max_batch), PARAM(d_ffn)},      // UP
    {PARAM(batch_heads), PARAM(kv_stride)},  // SCORES
    {PARAM(max_batch), PARAM(head_dim)},   // ROPE
    {PARAM(one), PARAM(n_vocab)},          // LOGITS
    {PARAM(one), PARAM(context)},          // tokens_fed
    {PARAM(one), PARAM(n_vocab)},          // piece
    {PARAM(one), PARAM(slot_mask)},        // slots
    {PARAM(n_vocab), PARAM(two)},          // ranking
    {PARAM(one), PARAM(header_bytes)},     // pieces
};

// The next part of the arena: a multiple of 64 bytes, and 64 to spare.
static u8 *carve(u32 a, u32 b) {
  u8 *p = mote->arena;
  mote->arena += (u64(a) * b * 4 + 127) & ~63ul;
  return p;
}

static void lay_out() {
  auto pointer = (u8 **)mote->buffer;
  for (auto &part : ARENA) *pointer++ = carve(mote->param[part[0]], mote->param[part[1]]);
  Tensor *t = mote->tensors + FIRST_LAYER;
  for (u32 n = mote->block_count; n; --n, t += N_LAYER_TENSORS) {
    t[ATTN_K].cache = carve(mote->d_kv, mote->kv_words);  // [kv_stride][d_kv]
    t[ATTN_V].cache = carve(mote->d_kv, mote->kv_words);  // [d_kv][kv_stride]
  }
}

static u32 bits(f32 x) { return __builtin_bit_cast(u32, x); }

void set_up() {
  if (!mote->context) {
    mote->context = mote->context_length;
    if (mote->context > DEFAULT_CONTEXT) mote->context = DEFAULT_CONTEXT;
  }
  // 8 more than needed: rows of V a power of two apart would meet in the cache
  mote->kv_stride = (mote->context + 15) & ~7u;
  mote->kv_words = mote->kv_type == F32 ? mote->kv_stride : mote->kv_stride / 2;
  mote->slot_mask = 15;
  while (mote->slot_mask < 2 * mote->n_vocab) mote->slot_mask = mote->slot_mask * 2 + 1;
  mote->two = 2;
  mote->batch_heads = mote->max_batch * mote->n_head;
  mote->header_bytes = u32(mote->data - mote->file);
  mote->group = mote->n_head / mote->n_kv_head;
  mote->embed_scale = bits(__builtin_sqrtf(f32(mote->d_model)));
  mote->score_scale = bits(1 / __builtin_sqrtf(f32(mote->head_dim)));
  lay_out();  // once to know the size, and once more in its place
  mote->arena = (u8 *)map(u64(mote->arena));
  lay_out();
  read_vocabulary();
  start_threads();
}

static u64 hundred_times(u64 n, u64 d) { return d ? n * 100 / d : 0; }

static void statistics() {
  say_number("\nprompt ", mote->prompts.tokens, 0);
  say_number(" tokens, ", hundred_times(mote->prompts.tokens * 1000000000, mote->prompts.time), 2);
  say_number(" tok/s; generated ", mote->n_answered, 0);
  say_number(" tokens, ", hundred_times(mote->answers.tokens * 1000000000, mote->answers.time), 2);
  say_number(" tok/s, ", hundred_times(mote->answers.tokens * mote->weight_bytes, mote->answers.time),
             2);
  say_number(" GB/s; seed ", mote->seed, 0);
  say("\n");
}

// A prompt and its answer; of a chat, one turn after the other.
static void converse() {
  u32 size = (mote->context + 1) * mote->longest, n;
  auto text = (char *)map(size);
  // What stands before a user's turn; the first one has no answer to end.
  const char *turn = "<start_of_turn>user\n";
  if (mote->add_bos | mote->chat) add_token(mote->bos);
  do {
    if (!mote->prompt) {
      if (is_terminal(0)) say(mote->chat ? "> " : "The prompt, up to Ctrl-D:\n");
      n = read_input((u8 *)text, size, mote->chat);
      if (!n && mote->chat) return;
      if (n && text[n - 1] == '\n') --n;
      mote->prompt = text;
      mote->prompt_n = n;
    }
    if (mote->chat) encode(turn, length(turn), SPECIAL);
    encode(mote->prompt, mote->prompt_n, PLAIN);
    mote->prompt = nullptr;
    turn = "<end_of_turn>\n<start_of_turn>model\n";
    if (mote->chat) encode(turn, length(turn), SPECIAL);
    if (mote->full && !mote->chat) fail("the prompt is longer than the context");
    if (!mote->n_fed) fail("the prompt is empty");
    if (!mote->full) generate();
    if (mote->chat) write_all(1, "\n", 1);
    turn = "<end_of_turn>\n<start_of_turn>user\n";
    if (mote->full) say("\nmote: the context is full");
  } while (mote->chat && !mote->full);
}

extern "C" [[noreturn]] void main(char **stack) {
  base = (u8 *)map(sizeof(Mote)) + BIAS;
  mote->tensors = mote->tensor;
  mote->max_batch = MAX_BATCH;
  mote->kv_type = F16;
  mote->kv_store = store_f16;
  mote->max_tokens = ~0u;
  mote->top_k = 64;  // the Gemma model card
  mote->top_p = 0.95f;
  mote->temperature = 1;
  mote->seed = u32(now());
  u64 no_signal = 1 << 12;  // SIGPIPE, bit 13 - 1: a dead pipe is an error of write
  sys6(SYS_SIGPROCMASK, 0, i64(&no_signal), 0, 8, 0, 0);

  // The auxiliary vector, behind the environment, has the name of this very file.
  char **argv = stack + 1, **aux = stack + 1;
  while (*aux++) {}
  while (*aux++) {}
  while (*aux && *aux != (char *)31) aux += 2;  // AT_EXECFN: linux/auxvec.h
  bool ready = open_model(aux[1], image_size);
  if (!cpu_ready()) fail(cpu_needs);

  // Options may stand anywhere before "--".  The words of the prompt move together, where they are.
  char *end = nullptr, *s;
  bool options = true;
  if (*argv) ++argv;  // the program's name
  for (; (s = *argv); ++argv) {
    if (options && s[0] == '-' && s[1]) {
      if (s[1] == '-' && !s[2]) {
        options = false;
        continue;
      }
      while (*++s) {
        u32 i = 0;
        while (OPTIONS[i] != *s)
          if (++i > HELP) help(2);
        if (i == HELP) help(1);
        mote->option[i] = 1;
        if (i >= FIRST_SWITCH) continue;
        set_option(i, s[1] ? s + 1 : *++argv);
        break;
      }
    } else if (!ready) {
      ready = true;
      mote->file_name = s;
      mote->end = nullptr;
    } else {
      if (end) *end++ = ' ';
      else mote->prompt = end = s;
      while (*s) *end++ = *s++;
    }
  }
  mote->prompt_n = u64(end - mote->prompt);
  if (!ready || mote->top_p > 1 || mote->context > MAX_CONTEXT || mote->n_threads > MAX_THREADS)
    help(2);
  if (!mote->end && !open_model((char *)mote->file_name, nullptr)) fail("cannot read");
  load();
  if (!mote->n_threads) {
    u8 mask[MAX_THREADS / 8];  // CPUs that this process may use
    for (i64 n = sys(SYS_SCHED_GETAFFINITY, 0, sizeof(mask), i64(mask)); n > 0;)
      for (u32 m = mask[--n]; m; m &= m - 1) ++mote->n_threads;
    if (!mote->n_threads) mote->n_threads = 1;
  }
  if (mote->context > mote->context_length) say("mote: more context than the model was made for\n");
  set_up();
  model->subject = nullptr;
  if (mote->chat && i32(mote->turn_start | mote->turn_end) < 0) fail("no turn tokens: no chat");
  converse();
  if (!mote->quiet) statistics();
  leave(0);
}
