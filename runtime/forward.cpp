// forward.cpp - a batch of tokens through the transformer.  Gemma Team, arXiv 2403.08295.
//
// A layer is a table of steps; every thread walks it, does its share of each step, and meets the
// others at a barrier where the next step needs what another thread has made.
// A result never depends on the shares: each number is made by one thread, in one order.
// Called by generate.cpp.  Read next: asm/kernels.h, threads.cpp.
#include "mote.h"

enum Op : u8 { NORM, MATMUL, ROTATE, SCORE, SOFTMAX, MIX, ADD, GEGLU, JOIN = 128 };

struct Step {
  u8 op;           // Op; with JOIN, a barrier follows
  u8 dst, src;     // BufferName
  u8 weight;       // LayerTensor
};

static const Step LAYER[] = {
    {NORM | JOIN, H, X, ATTN_NORM},
    {MATMUL, Q, H, ATTN_Q},
    {MATMUL, K, H, ATTN_K},
    {MATMUL | JOIN, V, H, ATTN_V},
    {ROTATE | JOIN, Q, Q, 0},             // and K; K and V into the cache
    {SCORE | JOIN, SCORES, Q, 0},         // q . k for every position
    {SOFTMAX | JOIN, SCORES, SCORES, 0},
    {MIX | JOIN, O, SCORES, 0},           // the sum of v by weight
    {MATMUL | JOIN, T, O, ATTN_OUTPUT},
    {ADD, X, T, 0},                       // a column is one thread's, here and in the norm
    {NORM | JOIN, H, X, FFN_NORM},
    {MATMUL, GATE, H, FFN_GATE},
    {MATMUL | JOIN, UP, H, FFN_UP},
    {GEGLU | JOIN, GATE, UP, 0},
    {MATMUL | JOIN, T, GATE, FFN_DOWN},
    {ADD, X, T, 0},
};

static const Step HEAD[] = {
    {NORM | JOIN, H, X, 0},               // weights: output_norm, token_embd
    {MATMUL | JOIN, LOGITS, H, 1},
};

static void (*const MATMULS[])(const Matmul *, u32, u32) = {matmul_f32, matmul_f16, matmul_bf16};
static void (*const ROWS[])(f32 *, const void *, u32, f32) = {row_f32, row_f16, row_bf16};

static u64 row_bytes(const Tensor *t) { return u64(t->n) * (t->type == F32 ? 4 : 2); }

// Where the share of a thread begins, of n things of which eight stay together.
static u32 share(u32 n, u32 thread) {
  if (thread == mote->n_threads) return n;
  return u32(u64(n) * thread / mote->n_threads) & ~7u;
}

static f32 *column(u8 name, u32 c) {
  Buffer b = mote->buffer[name];
  return b.data + (mote->first + c) * b.stride;
}

// Scores of the keys or a mix of the values, for each token and each group of heads that share them.
static void attend(u32 thread, u32 layer, bool mix) {
  u32 group = mote->n_head / mote->n_kv_head, hd = mote->head_dim, size = mote->kv_size;
  u64 stride = mote->buffer[SCORES].stride * 4;
  u64 cache = u64(layer) * mote->d_kv * mote->kv_stride * size;
  for (u32 c = 0; c < mote->batch; ++c)
    for (u32 j = 0; j < mote->n_kv_head; ++j) {
      u64 head = j * group;
      f32 *scores = column(SCORES, c * mote->n_head) + head * mote->buffer[SCORES].stride;
      Matmul m;
      if (mix) {
        m = {mote->v_cache + cache + u64(j) * hd * mote->kv_stride * size, scores,
             column(O, c) + head * hd, u64(mote->kv_stride) * size, stride, hd * 4ul, mote->padded,
             hd, group};
      } else {
        m = {mote->k_cache + cache + j * hd * size, column(Q, c) + head * hd, scores,
             u64(mote->d_kv) * size, hd * 4ul, stride, hd, mote->padded, group};
      }
      mote->kv_matmul(&m, share(m.rows, thread), share(m.rows, thread + 1));
    }
}

// Queries and keys turn with their position; keys and values go into the cache.
static void rotate(u32 thread, u32 layer) {
  u32 hd = mote->head_dim, size = mote->kv_size;
  u64 cache = u64(layer) * mote->d_kv * mote->kv_stride;
  for (u32 c = thread; c < mote->batch; c += mote->n_threads) {
    u64 position = mote->n_past + c;
    for (u32 i = 0; i < mote->d_q; i += hd) rope(column(Q, c) + i, column(ROPE, c), hd / 2);
    for (u32 i = 0; i < mote->d_kv; i += hd) rope(column(K, c) + i, column(ROPE, c), hd / 2);
    mote->kv_store(mote->k_cache + (cache + position * mote->d_kv) * size, column(K, c), mote->d_kv,
                   size);
    mote->kv_store(mote->v_cache + (cache + position) * size, column(V, c), mote->d_kv,
                   u64(mote->kv_stride) * size);
  }
}

static void run(u32 thread, const Step *step, u32 n_steps, const Tensor *weights, u32 layer) {
  for (; n_steps; --n_steps, ++step) {
    const Tensor *w = weights + step->weight;
    Buffer src = mote->buffer[step->src], dst = mote->buffer[step->dst];
    switch (step->op & ~JOIN) {
      case NORM:
        for (u32 c = thread; c < mote->batch; c += mote->n_threads)
          rmsnorm(column(step->dst, c), column(step->src, c), (const f32 *)w->data, w->n,
                  __builtin_bit_cast(f32, mote->eps));
        break;
      case MATMUL: {
        Matmul m = {w->data, column(step->src, 0), column(step->dst, 0), row_bytes(w),
                    src.stride * 4, dst.stride * 4, w->n, w->rows, mote->batch};
        MATMULS[w->type](&m, share(w->rows, thread), share(w->rows, thread + 1));
        break;
      }
      case ROTATE:
        rotate(thread, layer);
        break;
      case SCORE:
      case MIX:
        attend(thread, layer, (step->op & ~JOIN) == MIX);
        break;
      case SOFTMAX:
        for (u32 i = thread; i < mote->batch * mote->n_head; i += mote->n_threads)
          softmax(column(SCORES, i), mote->n_past + i / mote->n_head + 1, mote->padded,
                  1 / __builtin_sqrtf(f32(mote->head_dim)));
        break;
      case ADD:
        for (u32 c = thread; c < mote->batch; c += mote->n_threads)
          add(column(X, c), column(T, c), mote->d_model);
        break;
      case GEGLU: {
        u32 begin = share(mote->d_ffn, thread), n = share(mote->d_ffn, thread + 1) - begin;
        for (u32 c = 0; n && c < mote->batch; ++c)
          geglu(column(GATE, c) + begin, column(UP, c) + begin, n);
      }
    }
    if (step->op & JOIN) barrier();
  }
}

// Cosine and sine of x >= 0 by their Taylor series around 0, after full turns are taken away.
// In f64, and the same on every machine: errors, 1e-11 for x = 1e5, vanish in the rounding to f32.
static void sincos(f64 x, f32 *cosine, f32 *sine) {
  constexpr f64 TURN = 6.283185307179586477;
  x -= TURN * f64(i64(x / TURN + 0.5));
  f64 re = 1, im = 0, term = 1;
  for (u32 k = 1; k < 31; k += 2) {  // 3.15^31 / 31! = 1e-19
    term *= x / k;
    im += term;
    term *= -x / (k + 1);
    re += term;
  }
  *cosine = f32(re);
  *sine = f32(im);
}

// The frequency of pair i is base^(-2i / head_dim): a geometric series.  Its ratio is the root of
// ratio^(head_dim / 2) = 1 / base, found by bisection.
f64 rope_ratio(f64 base, u32 head_dim) {
  f64 low = 0, high = 1;
  for (u32 bit = 0; bit < 64; ++bit) {
    f64 middle = (low + high) / 2, power = base;
    for (u32 i = 0; i < head_dim / 2; ++i) power *= middle;
    (power < 1 ? low : high) = middle;
  }
  return low;
}

static void embed(u32 thread) {
  const Tensor *w = mote->tensors + TOKEN_EMBD;
  u32 half = mote->head_dim / 2;
  for (u32 c = thread; c < mote->batch; c += mote->n_threads) {
    u32 position = mote->n_past + c;
    ROWS[w->type](column(X, c), w->data + mote->tokens_fed[position] * row_bytes(w), w->n,
                  __builtin_sqrtf(f32(w->n)));
    f64 frequency = 1;
    f32 *cs = column(ROPE, c);
    for (u32 i = 0; i < half; ++i) {
      sincos(position * frequency, cs + i, cs + i + half);
      frequency *= mote->rope_ratio;
    }
  }
  barrier();
}

void layers(u32 thread) {
  embed(thread);
  for (u32 l = 0; l < mote->block_count; ++l)
    run(thread, LAYER, sizeof(LAYER) / sizeof(Step), mote->tensors + FIRST_LAYER + l * N_LAYER_TENSORS, l);
  barrier();
}

void head(u32 thread) { run(thread, HEAD, 2, mote->tensors, 0); }
