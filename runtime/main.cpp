// main.cpp - the command line, and what it asks for.
// Called by _start in boot/.  Read next: loader/model.h, generate.cpp.
#include "mote.h"
#include "sys.h"

extern "C" const u8 image_size[];  // linker.ld: the engine's own bytes, as an address

static const char HELP[] =
    "usage: mote [options] [MODEL.gguf] [PROMPT]\n"
    "  -n N  stop after N tokens   -c N  context length    -T F  temperature, 0 = greedy\n"
    "  -k N  top-k, 0 = off        -P F  top-p             -s N  seed\n"
    "  -t N  threads               -i    chat              -q    no statistics    -h  help\n";

[[noreturn]] static void help(u32 fd) {
  write_all(fd, HELP, sizeof(HELP) - 1);
  leave(fd == 1 ? 0 : 2);
}

// The options with a value, in the order of Mote's fields; the last two take a fraction.
static const char OPTIONS[] = "ncktsTP";

// Reads the value of the option OPTIONS[i]: digits, for a fraction with a point among them.
static void set_option(u32 i, const char *s) {
  u64 value = 0;
  f64 scale = 0;
  if (!s || !*s) help(2);
  for (; *s; ++s) {
    if (*s == '.' && i > 4 && scale == 0) {
      scale = 1;
      continue;
    }
    u32 digit = u32(*s - '0');
    if (digit > 9 || value > (~0ul - 9) / 10) help(2);
    value = value * 10 + digit;
    scale *= 10;
  }
  if (i > 4)
    (&mote->temperature)[i - 5] = f32(f64(value) / (scale == 0 ? 1 : scale));
  else
    (&mote->max_tokens)[i] = value;
}

// Maps a file from its first byte; the model begins behind the first skip of them.
static bool open_model(const char *path, u64 skip) {
  u64 stat[18];  // struct stat, asm/stat.h: st_size is the seventh word
  mote->file_name = path;
  i64 fd = sys(SYS_OPEN, i64(path));
  if (fd < 0 || sys(SYS_FSTAT, fd, i64(stat))) return false;
  // PROT_READ, MAP_PRIVATE
  i64 p = sys6(SYS_MMAP, 0, i64(stat[6]), 1, 2, fd, 0);
  sys(SYS_CLOSE, fd);
  if (p < 0 || stat[6] <= skip) return false;
  mote->file = (const u8 *)p + skip;
  mote->end = (const u8 *)p + stat[6];
  return true;
}

// The next bytes of the arena; on the first of two rounds, only their number is found.
static u8 *arena(u8 *&at, u64 bytes) {
  u8 *p = at;
  at += (bytes + 63) & ~63ul;
  return p;
}

static u8 *lay_out(u8 *at) {
  u32 v = mote->n_vocab;
  u64 batch = mote->max_batch;
  // floats for each token, in the order of BufferName
  const u64 floats[] = {mote->d_model, mote->d_model, mote->d_model, mote->d_q, mote->d_q,
                        mote->d_kv, mote->d_kv, mote->d_ffn, mote->d_ffn,
                        u64(mote->n_head) * mote->kv_stride, mote->head_dim};
  for (u32 i = X; i < LOGITS; ++i) mote->buffer[i] = (f32 *)arena(at, batch * floats[i] * 4);
  mote->buffer[LOGITS] = (f32 *)arena(at, u64(v) * 4 + 32);
  // keys as [kv_stride][d_kv], values as [d_kv][kv_stride]
  u64 kv = u64(mote->d_kv) * mote->kv_stride * (mote->kv_type == F32 ? 4 : 2);
  for (u32 i = 0; i < mote->block_count * N_LAYER_TENSORS; i += N_LAYER_TENSORS)
    for (u32 j = ATTN_K; j <= ATTN_V; ++j)
      mote->tensors[FIRST_LAYER + i + j].cache = arena(at, kv);
  mote->tokens_fed = (u32 *)arena(at, mote->context * 4);
  mote->piece = (u32 *)arena(at, u64(v) * 4 + 4);
  mote->slots = (u32 *)arena(at, u64(mote->slot_mask) * 4 + 4);
  mote->ranking = (u64 *)arena(at, u64(v) * 8);
  mote->pieces = arena(at, u64(mote->data - mote->file));
  return at;
}

void set_up() {
  if (!mote->max_batch) mote->max_batch = MAX_BATCH;
  if (!mote->context) {
    mote->context = mote->context_length;
    if (mote->context > DEFAULT_CONTEXT) mote->context = DEFAULT_CONTEXT;
  }
  // 8 more than needed: rows of V a power of two apart would meet in the cache
  mote->kv_stride = u32((mote->context + 7) & ~7ul) + 8;
  for (mote->slot_mask = 15; mote->slot_mask < 2 * mote->n_vocab;)
    mote->slot_mask = mote->slot_mask * 2 + 1;
  lay_out((u8 *)map(u64(lay_out(nullptr))));
  mote->group = mote->n_head / mote->n_kv_head;
  mote->embed_scale = __builtin_bit_cast(u32, __builtin_sqrtf(f32(mote->d_model)));
  mote->score_scale = __builtin_bit_cast(u32, 1 / __builtin_sqrtf(f32(mote->head_dim)));
  read_vocabulary();
  start_threads();
}

static void statistics() {
  Cost *prompt = &mote->cost[0], *answer = &mote->cost[1];
  say("\nprompt ");
  say_number(prompt->tokens);
  say(" tokens, ");
  say_ratio(prompt->tokens * 1000000000, prompt->time);
  say(" tok/s; generated ");
  say_number(mote->n_answered);
  say(" tokens, ");
  say_ratio(answer->tokens * 1000000000, answer->time);
  say(" tok/s, ");
  say_ratio(answer->tokens * mote->weight_bytes, answer->time);
  say(" GB/s; seed ");
  say_number(mote->seed_told);
  say("\n");
}

static void chat() {
  // What stands between two turns; the first turn of all has nothing to end.
  const char *start = "<end_of_turn>\n<start_of_turn>user\n", *end = "<end_of_turn>\n<start_of_turn>model\n";
  u32 skip = 14;
  add_token(mote->bos);
  for (;;) {
    u8 *line = (u8 *)mote->prompt;
    i64 n = i64(mote->prompt_n);
    mote->prompt = nullptr;
    if (!line) {
      if (is_terminal(0)) say("> ");
      n = read_input(true, &line);
      if (n < 0) return;
    }
    encode(start + skip, length(start) - skip, SPECIAL);
    encode((const char *)line, u64(n), PLAIN);
    encode(end, length(end), SPECIAL);
    skip = 0;
    if (mote->full) {
      say("mote: the context is full\n");
      return;
    }
    generate();
    write_all(1, "\n", 1);
    if (mote->full) return;
  }
}

extern "C" [[noreturn]] void main(char **stack) {
  if (!cpu_ready()) {
    say("mote: this build needs a CPU with ");
    die(cpu_needs);
  }
  base = (u8 *)map(sizeof(Mote)) + BIAS;
  mote->tensors = mote->tensor;
  mote->max_tokens = ~0ul;
  mote->kv_type = F16;
  mote->kv_store = store_f16;
  mote->top_k = 64;  // the Gemma model card
  mote->top_p = 0.95f;
  mote->temperature = 1;
  u64 no_signal = 1 << 12;  // SIGPIPE, bit 13 - 1: a dead pipe is an error of write
  sys6(SYS_SIGPROCMASK, 0, i64(&no_signal), 0, 8, 0, 0);
  mote->seed = now();

  // The auxiliary vector, behind the environment, has the name of this very file.
  char **argv = stack + 1, **aux = stack + 1;
  while (*aux++) {}
  while (*aux++) {}
  while (aux[0] && aux[0] != (char *)31) aux += 2;  // AT_EXECFN: linux/auxvec.h
  bool ready = aux[0] && open_model(aux[1], u64(image_size));

  // Options may stand anywhere before "--".  The words of the prompt move together, where they are.
  char *prompt_end = nullptr;
  bool options = true;
  if (*argv) ++argv;  // the program's name
  for (; *argv; ++argv) {
    char *s = *argv;
    if (options && s[0] == '-' && s[1]) {
      if (s[1] == '-' && !s[2]) options = false;
      else
        for (++s; s && *s; ++s) {
          if (*s == 'i') mote->chat = true;
          else if (*s == 'q') mote->quiet = true;
          else if (*s == 'h') help(1);
          else {
            u32 i = 0;
            while (OPTIONS[i] != *s)
              if (!OPTIONS[++i]) help(2);
            if (!*++s) s = *++argv;
            set_option(i, s);
            break;
          }
        }
      if (!*argv) break;
    } else if (!ready) {
      ready = true;
      mote->file_name = s;
      mote->end = nullptr;
    } else {
      if (!mote->prompt) mote->prompt = prompt_end = s;
      else *prompt_end++ = ' ';
      while (*s) *prompt_end++ = *s++;
    }
  }
  mote->prompt_n = u64(prompt_end - mote->prompt);
  if (!ready || mote->top_p > 1 || mote->context > MAX_CONTEXT || mote->n_threads > MAX_THREADS)
    help(2);
  if (!mote->end && !open_model(mote->file_name, 0)) fail("cannot read");
  mote->seed_told = mote->seed;
  load();
  if (!mote->n_threads) {
    u64 mask[16] = {};  // CPUs that this process may use
    sys(SYS_SCHED_GETAFFINITY, 0, sizeof(mask), i64(mask));
    for (u64 m : mask)
      for (; m; m &= m - 1) ++mote->n_threads;
    if (!mote->n_threads) mote->n_threads = 1;
  }
  if (mote->context > mote->context_length) say("mote: a longer context than the model was made for\n");
  set_up();
  model->subject = nullptr;
  if (mote->chat) {
    if (mote->turn_start == NO_TOKEN || mote->turn_end == NO_TOKEN) fail("has no turn tokens: no chat");
    chat();
  } else {
    if (!mote->prompt) {
      if (is_terminal(0)) say("mote: the prompt, to the end of input (Ctrl-D):\n");
      u8 *text;
      i64 n = read_input(false, &text);
      mote->prompt = (const char *)text;
      mote->prompt_n = n < 0 ? 0 : u64(n);
    }
    if (mote->add_bos) add_token(mote->bos);
    encode(mote->prompt, mote->prompt_n, PLAIN);
    if (mote->full) die("the prompt is longer than the context");
    if (!mote->n_fed) die("the prompt is empty");
    generate();
  }
  if (!mote->quiet) statistics();
  leave(0);
}
