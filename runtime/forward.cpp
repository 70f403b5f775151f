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
  SOFTMAX,  // dst, over the positions up to its own
  GEGLU,    // dst = gelu(dst) src
  EMBED,    // dst = the token's row of the embedding
  STORE,    // src into the cache
  // Row by row, in shares of rows.
  MATMUL,   // dst = weight src
  ATTEND,   // dst = cache src, for each group of heads
  JOIN = 128  // after the step, all threads meet
};

static void (*const COLUMN_OPS[])(f32 *, const f32 *, const void *, u32, u32, f32) = {
    rmsnorm, add, angles, rope, softmax, geglu};

// Numbers are those of parameters, see PARAM.
struct Step {
  u8 op;
  u8 dst, src;   // BufferName
  u8 weight;     // Tensor, from the layer's first
  u8 n;          // floats in a column; of src, where rows are multiplied
  u8 per;        // columns of dst for each token; floats in a column of dst, where rows are multiplied
  u8 stride;     // weights from row to row; in a cache, elements from position to position
  u8 extra;      // scalar of the kernel; in a cache, elements from one of a head's to the next
};

#define COLUMN(op, dst, src, weight, n, per, extra) \
  {op, dst, src, weight, PARAM(n), PARAM(per), 0, PARAM(extra)}
#define ROWS(op, dst, src, weight, n, rows) \
  {op, dst, src, weight, PARAM(n), PARAM(rows), PARAM(n), 0}

static const Step STEPS[] = {
    COLUMN(EMBED, X, X, TOKEN_EMBD, d_model, one, embed_scale),
    COLUMN(ANGLES | JOIN, ROPE, X, 0, head_dim, one, rope_base),
    // a layer
    COLUMN(NORM | JOIN, H, X, ATTN_NORM, d_model, one, eps),
    ROWS(MATMUL, Q, H, ATTN_Q, d_model, d_q),
    ROWS(MATMUL, K, H, ATTN_K, d_model, d_kv),
    ROWS(MATMUL | JOIN, V, H, ATTN_V, d_model, d_kv),
    COLUMN(ROTATE, Q, ROPE, 0, head_dim, n_head, one),
    COLUMN(ROTATE | JOIN, K, ROPE, 0, head_dim, n_kv_head, one),
    {STORE, X, K, ATTN_K, PARAM(d_kv), PARAM(one), PARAM(d_kv), PARAM(one)},
    {STORE | JOIN, X, V, ATTN_V, PARAM(d_kv), PARAM(one), PARAM(one), PARAM(kv_stride)},
    {ATTEND | JOIN, SCORES, Q, ATTN_K, PARAM(head_dim), PARAM(padded), PARAM(d_kv), PARAM(one)},
    COLUMN(SOFTMAX | JOIN, SCORES, X, 0, padded, n_head, score_scale),
    {ATTEND | JOIN, O, SCORES, ATTN_V, PARAM(padded), PARAM(head_dim), PARAM(kv_stride),
     PARAM(kv_stride)},
    ROWS(MATMUL | JOIN, T, O, ATTN_OUTPUT, d_q, d_model),
    COLUMN(ADD, X, T, 0, d_model, one, one),  // the next norm's column is the same thread's
    COLUMN(NORM | JOIN, H, X, FFN_NORM, d_model, one, eps),
    ROWS(MATMUL, GATE, H, FFN_GATE, d_model, d_ffn),
    ROWS(MATMUL | JOIN, UP, H, FFN_UP, d_model, d_ffn),
    COLUMN(GEGLU | JOIN, GATE, UP, 0, d_ffn, one, one),
    ROWS(MATMUL | JOIN, T, GATE, FFN_DOWN, d_ffn, d_model),
    COLUMN(ADD, X, T, 0, d_model, one, one),
    // the head
    COLUMN(NORM | JOIN, H, X, OUTPUT_NORM, d_model, one, eps),
    ROWS(MATMUL | JOIN, LOGITS, H, TOKEN_EMBD, d_model, n_vocab),
};
constexpr u32 LAYER_BEGIN = 2, LAYER_END = 21, HEAD_END = 23;

// The kernels of a weight type.
struct TypeKernels {
  void (*matmul)(const Matmul *, u32, u32);
  void (*row)(f32 *, const f32 *, const void *, u32, u32, f32);
};
static const TypeKernels KERNELS[N_WEIGHT_TYPES] = {
    {matmul_f32, row_f32}, {matmul_f16, row_f16}, {matmul_bf16, row_bf16}};

static u32 type_size(u32 type) { return type == F32 ? 4 : 2; }

static void by_columns(u32 thread, const Step *s, const Tensor *w) {
  u32 per = mote->param[s->per], n = mote->param[s->n];
  for (u32 i = thread; i < mote->batch * per; i += mote->n_threads) {
    u32 token = i / per, position = mote->last - token, op = s->op & ~JOIN;
    const f32 *src = mote->buffer[s->src] + u64(token) * n;
    const u8 *data = w->data;
    if (op == STORE) {
      u32 size = type_size(mote->kv_type);
      mote->kv_store(w->cache + u64(position) * mote->param[s->stride] * size, src, n,
                     mote->param[s->extra] * size);
      continue;
    }
    auto kernel = COLUMN_OPS[op];
    if (op == EMBED) {
      kernel = KERNELS[w->type].row;
      data += u64(mote->tokens_fed[position]) * n * type_size(w->type);
    }
    kernel(mote->buffer[s->dst] + u64(i) * n, src, data, n, position,
           __builtin_bit_cast(f32, mote->param[s->extra]));
  }
}

static void by_rows(u32 thread, const Step *s, const Tensor *w) {
  u32 type = w->type, times = 1;
  Matmul m;
  m.w = w->data;
  m.cols = mote->batch;
  if ((s->op & ~JOIN) == ATTEND) {
    type = mote->kv_type;
    m.w = w->cache;
    m.cols = mote->group;
    times = mote->batch * mote->n_kv_head;
  }
  m.x = mote->buffer[s->src];
  m.y = mote->buffer[s->dst];
  m.n = mote->param[s->n];
  m.rows = mote->param[s->per];
  u64 size = type_size(type);
  m.w_stride = mote->param[s->stride] * size;
  auto first = (const u8 *)m.w;
  for (u32 i = 0; i < times; ++i) {
    m.w = first + i % mote->n_kv_head * mote->head_dim * mote->param[s->extra] * size;
    KERNELS[type].matmul(&m, 4 * thread, 4 * mote->n_threads);
    m.x += m.cols * m.n;
    m.y += m.cols * m.rows;
  }
}

static void run(u32 thread, u32 begin, u32 end, const Tensor *weights) {
  for (const Step *s = STEPS + begin; s < STEPS + end; ++s) {
    ((s->op & ~JOIN) < MATMUL ? by_columns : by_rows)(thread, s, weights + s->weight);
    if (s->op & JOIN) barrier();
  }
}

void layers(u32 thread) {
  run(thread, 0, LAYER_BEGIN, mote->tensors);
  for (u32 l = 0; l < mote->block_count; ++l)
    run(thread, LAYER_BEGIN, LAYER_END, mote->tensors + FIRST_LAYER + l * N_LAYER_TENSORS);
  barrier();
}

void head(u32 thread) { run(thread, LAYER_END, HEAD_END, mote->tensors); }
