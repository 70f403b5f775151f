// forward.cpp - a batch of tokens through the transformer.  Gemma Team, arXiv 2403.08295.
//
// A layer is a table of steps; every thread walks it, does its share of each step, and meets the
// others at a barrier where the next step needs what another thread has made.
// A result never depends on the shares: each number is made by one thread, in one order.
// Called by generate.cpp.  Read next: asm/kernels.h, threads.cpp.
#include "mote.h"

// What a step does.
enum Op : u8 {
  // Column by column, in shares of columns; the first ones are kernels, in the order of COLUMN_OPS.
  NORM,     // dst = rmsnorm(src)
  ADD,      // dst += src
  ANGLES,   // dst = cosines and sines for the position
  ROTATE,   // dst turns by the angles src
  SOFTCAP,  // dst = tanh(dst), but for a model that has no such cap
  SOFTMAX,  // dst
  GEGLU,    // dst = gelu(dst) src
  EMBED,    // dst = the token's row of the embedding
  NORM_HEAD,  // dst = rmsnorm(dst)
  MASK,     // dst = -infinity for positions that the token does not see
  QUANTISE, // dst = src, for quantised weights, if this build knows any
  STORE,    // src into the cache
  // Row by row, in shares of rows.
  MATMUL,   // dst = weight src
  ATTEND,   // dst = cache src, for each group of heads
};

constexpr u8 JOIN = 128;  // with a step's weight: after the step, all threads meet

// Numbers are those of parameters, see PARAM.
struct Step {
  u8 op;
  u8 dst, src;   // BufferName
  u8 weight;     // Tensor, from the layer's first
  u8 n;          // floats in a column; of src, where rows are multiplied
  u8 per;        // columns of dst for each token; rows, where rows are multiplied
  u8 extra;      // scalar of the kernel; in a cache, bytes from one of a head's elements to the next
  u8 stride;     // floats from column to column of dst, where rows are multiplied; in a cache,
                 // bytes from slot to slot
};

#define COLUMN(op, dst, src, weight, n, per, extra) \
  {op, dst, src, weight, PARAM(n), PARAM(per), PARAM(extra), 0}
#define ROWS(op, dst, src, weight, n, rows) \
  {op, dst, src, weight, PARAM(n), PARAM(rows), 0, PARAM(rows)}

static constexpr Step STEPS[] = {
    COLUMN(EMBED, X, X, TOKEN_EMBD, d_model, one, embed_scale),
    COLUMN(ANGLES, LOCAL_ROPE, X, LOCAL, head_dim, one, one),
    COLUMN(ANGLES, GLOBAL_ROPE, X, GLOBAL, head_dim, one, one),
    // a layer
    COLUMN(NORM, H, X, ATTN_NORM, d_model, one, eps),
    COLUMN(QUANTISE, H_Q, H, 0 | JOIN, d_model, one, quantised),
    ROWS(MATMUL, Q, H, ATTN_Q, d_model, d_q),
    ROWS(MATMUL, K, H, ATTN_K, d_model, d_kv),
    ROWS(MATMUL, V, H, ATTN_V | JOIN, d_model, d_kv),
    COLUMN(NORM_HEAD, Q, Q, ATTN_Q_NORM, head_dim, n_head, eps),
    COLUMN(ROTATE, Q, ROPE, 0, head_dim, n_head, one),
    COLUMN(NORM_HEAD, K, K, ATTN_K_NORM, head_dim, n_kv_head, eps),
    COLUMN(ROTATE, K, ROPE, 0 | JOIN, head_dim, n_kv_head, one),
    {STORE, X, K, K_CACHE, PARAM(d_kv), PARAM(one), PARAM(kv_size), PARAM(k_row)},
    {STORE, X, V, V_CACHE | JOIN, PARAM(d_kv), PARAM(one), PARAM(span.v_row), PARAM(kv_size)},
    {ATTEND, SCORES, Q, K_CACHE | JOIN, PARAM(head_dim), PARAM(span.padded), PARAM(kv_size),
     PARAM(span.padded)},
    COLUMN(SOFTCAP, SCORES, X, 0, span.padded, n_head, attn_scale),
    COLUMN(MASK, SCORES, X, 0, span.padded, n_head, one),
    COLUMN(SOFTMAX, SCORES, X, 0 | JOIN, span.padded, n_head, softmax_scale),
    {ATTEND, O, SCORES, V_CACHE | JOIN, PARAM(span.padded), PARAM(head_dim), PARAM(span.v_row),
     PARAM(head_dim)},
    COLUMN(QUANTISE, O_Q, O, 0 | JOIN, d_q, one, quantised),
    ROWS(MATMUL, T, O, ATTN_OUTPUT | JOIN, d_q, d_model),
    COLUMN(NORM, T, T, POST_ATTENTION_NORM, d_model, one, eps),
    COLUMN(ADD, X, T, 0, d_model, one, one),  // the next norm's column is the same thread's
    COLUMN(NORM, H, X, FFN_NORM, d_model, one, eps),
    COLUMN(QUANTISE, H_Q, H, 0 | JOIN, d_model, one, quantised),
    ROWS(MATMUL, GATE, H, FFN_GATE, d_model, d_ffn),
    ROWS(MATMUL, UP, H, FFN_UP | JOIN, d_model, d_ffn),
    COLUMN(GEGLU, GATE, UP, 0, d_ffn, one, one),
    COLUMN(QUANTISE, GATE_Q, GATE, 0 | JOIN, d_ffn, one, quantised),
    ROWS(MATMUL, T, GATE, FFN_DOWN | JOIN, d_ffn, d_model),
    COLUMN(NORM, T, T, POST_FFW_NORM, d_model, one, eps),
    COLUMN(ADD, X, T, 0, d_model, one, one),
    // the head
    COLUMN(NORM, H, X, OUTPUT_NORM, d_model, one, eps),
    COLUMN(QUANTISE, H_Q, H, 0 | JOIN, d_model, one, quantised),
    {MATMUL, LOGITS, H, OUTPUT | JOIN, PARAM(d_model), PARAM(n_vocab), 0, PARAM(padded_vocab)},
    COLUMN(SOFTCAP, LOGITS, X, 0 | JOIN, padded_vocab, one, head_scale),
};
constexpr u32 PIECE = 32;           // rows that a thread takes at once
constexpr u32 L2_FLOATS = 12288;    // a twelfth: 12 of Gemma-2B's d_ffn are 768 KB
constexpr u32 LAYER_BEGIN = 3, LAYER_END = 32, HEAD_END = 36;
static_assert(HEAD_END == sizeof(STEPS) / sizeof(Step) &&
              STEPS[LAYER_BEGIN].weight == ATTN_NORM && STEPS[LAYER_END].weight == OUTPUT_NORM);

// The kernels of a weight type.
struct TypeKernels {
  void (*matmul)(const Matmul *, u32, u32);
  void (*row)(f32 *, const f32 *, const void *, u32, u32, f32);
};
#define KERNELS_OF(name, suffix) {matmul_##suffix, row_##suffix},
static const TypeKernels KERNELS[N_WEIGHT_TYPES] = {WEIGHT_TYPES(KERNELS_OF)};

// A token's row of the embedding.
static void embed(f32 *y, const f32 *x, const void *, u32 n, u32 position, f32 scale) {
  const Tensor *w = mote->tensors + TOKEN_EMBD;
  KERNELS[w->type].row(y, x, w->data + u64(mote->tokens_fed[position]) * w->row_bytes, n, position,
                       scale);
}

// A head's norm, in place.
static void norm_head(f32 *y, const f32 *, const void *w, u32 n, u32 position, f32 eps) {
  rmsnorm(y, y, w, n, position, eps);
}

// The slots that a token does not see lie behind its own, and go on in front of the first that it
// sees: the cache of a local layer is a ring.
static void mask(f32 *y, const f32 *, const void *, u32 n, u32 position, f32) {
  u32 slot = position % mote->span.slots, seen = position + 1;
  if (seen > mote->span.window) seen = mote->span.window;
  while (seen++ < n) {
    if (++slot == n) slot = 0;
    y[slot] = -__builtin_inff();
  }
}

static void (*const COLUMN_OPS[])(f32 *, const f32 *, const void *, u32, u32, f32) = {
    rmsnorm, add, angles, rope, softcap, softmax, geglu, embed, norm_head, mask,
    QUANTISED ? quantise : nullptr};

static void by_columns(u32 thread, const Step *s, const Tensor *w) {
  u32 per = mote->param[s->per], n = mote->param[s->n], extra = mote->param[s->extra];
  u32 room = n;  // of a column of dst
  if (s->op == QUANTISE) room += COLUMN_PAD;
  if (!w->data || !extra) return;  // no such norm or softcap
  for (u32 i = thread; i < mote->batch * per; i += mote->n_threads) {
    u32 token = i / per, position = mote->last - token;
    const f32 *src = mote->buffer[s->src] + u64(token) * n;
    if (s->op == STORE)
      mote->kv_store((u8 *)w->data + u64(position % mote->span.slots) * mote->param[s->stride],
                     src, n, extra);
    else
      COLUMN_OPS[s->op](mote->buffer[s->dst] + u64(i) * room, src, w->data, n, position,
                        __builtin_bit_cast(f32, extra));
  }
}

// Rows of dst.  Columns by twelves, for tiles of three and of four, and as many as stay in 1 MB of L2
// while all these rows meet them.
static void multiply(const Step *s, const Tensor *w, u32 begin, u32 end) {
  u32 n = mote->param[s->n], left = mote->batch, heads = 1, room = n, src = s->src;
  u32 cols = 12 * (L2_FLOATS / n + 1);
  if (w->type >= N_FLOAT_TYPES) {  // with what follows behind the buffer: its columns, quantised
    ++src;
    room += COLUMN_PAD;
    cols *= 3;
  }
  Matmul m = {w->data, mote->buffer[src], mote->buffer[s->dst], w->row_bytes, n, cols,
              mote->param[s->stride]};
  if (s->op == ATTEND) {
    heads = mote->n_kv_head;
    left *= mote->group * heads;
    if (heads > 1) m.cols = mote->group;  // one head's cache is every token's
  }
  for (u32 i = 0; left; ++i) {
    if (m.cols > left) m.cols = left;
    m.w = w->data + u64(i % heads * mote->head_dim) * mote->param[s->extra];
    KERNELS[w->type].matmul(&m, begin, end);
    m.x = (const f32 *)m.x + m.cols * room;
    m.y += m.cols * m.y_stride;
    left -= m.cols;
  }
}

// A thread has rows side by side, for memory likes a sequence, and takes them piece by piece; who is
// done goes on with those of the others, which may have slower cores, or busy ones.
static void by_rows(u32 thread, const Step *s, const Tensor *w) {
  u32 n_threads = mote->n_threads, rows = mote->param[s->per], unit = 4 * n_threads;
  u32 share = (rows + unit - 1) / unit * 4;
  for (u32 owner = thread, i = 0; i < n_threads; ++i) {
    u32 *taken = mote->taken[owner] + (s - STEPS);
    while (__atomic_load_n(taken, __ATOMIC_RELAXED) < share) {
      u32 begin = __atomic_fetch_add(taken, PIECE, __ATOMIC_RELAXED), end = begin + PIECE;
      if (end > share) end = share;
      begin += owner * share;
      end += owner * share;
      if (end > rows) end = rows;
      multiply(s, w, begin, end);
    }
    if (++owner == n_threads) owner = 0;
  }
}

static void run(u32 thread, u32 begin, u32 end, const Tensor *weights) {
  // Nobody takes rows before the first barrier, or behind the last one.
  for (u32 &taken : mote->taken[thread]) taken = 0;
  for (const Step *s = STEPS + begin; s < STEPS + end; ++s) {
    (s->op < MATMUL ? by_columns : by_rows)(thread, s, weights + s->weight % JOIN);
    if (s->weight & JOIN) barrier();
  }
}

void layers(u32 thread) {
  run(thread, 0, LAYER_BEGIN, mote->tensors);
  for (u32 l = 0; l < mote->block_count;) {
    const Tensor *weights = mote->tensors + FIRST_LAYER + l * N_LAYER_TENSORS;
    u32 global = ++l % mote->period == 0;
    // Nobody needs these before the layer's first barrier, or after its last one but one.
    if (!thread) {
      mote->span = mote->spans[global];
      mote->buffer[ROPE] = mote->buffer[LOCAL_ROPE + global];
    }
    run(thread, LAYER_BEGIN, LAYER_END, weights);
  }
  barrier();
}

void head(u32 thread) { run(thread, LAYER_END, HEAD_END, mote->tensors); }
