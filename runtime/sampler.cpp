// sampler.cpp - from logits to a token.  Called by generate.cpp.
//
// Temperature, then top-k, then top-p (Holtzman et al., arXiv 1904.09751), all exact: tokens are
// ranked by a heap, and only as many leave it as can be drawn.
#include "mote.h"

// Restores the heap below i: no rank is above its parent's.
static void sift(u64 *heap, u32 i, u32 n) {
  for (u32 child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && heap[child] < heap[child + 1]) ++child;
    if (heap[i] >= heap[child]) return;
    u64 up = heap[child];
    heap[child] = heap[i];
    heap[i] = up;
  }
}

static u32 random() {  // xorshift64*: Marsaglia 2003; Vigna, arXiv 1402.6246
  mote->seed ^= mote->seed >> 12;
  mote->seed ^= mote->seed << 25;
  mote->seed ^= mote->seed >> 27;
  return u32(mote->seed * 0x2545f4914f6cdd1d >> 32);
}

// The i-th place of the ranking, counted from its end, where the best stands: its probability.
// The heap is the part below n_heap; what leaves it is in order.
static f64 ranked(u32 i) {
  u64 *heap = mote->ranking;
  if (i < mote->n_heap) {
    u64 best = heap[0];
    heap[0] = heap[--mote->n_heap];
    heap[mote->n_heap] = best;
    sift(heap, 0, mote->n_heap);
  }
  return __builtin_bit_cast(f32, u32(heap[i] >> 32));
}

u32 sample() {
  f32 *p = mote->buffer[LOGITS];
  u32 n = mote->n_vocab, token = 0;
  if (mote->temperature == 0) {
    for (u32 i = 1; i < n; ++i)
      if (p[i] > p[token]) token = i;
    return token;
  }
  softmax(p, nullptr, nullptr, (n + 7) & ~7u, n - 1, 1 / mote->temperature);
  // Probabilities order as their bits; of equal ones the lower token is the better.
  for (u32 i = 0; i < n; ++i) mote->ranking[i] = u64(__builtin_bit_cast(u32, p[i])) << 32 | ~i;
  mote->n_heap = n;
  for (u32 i = n / 2; i--;) sift(mote->ranking, i, n);

  u32 i, last = 0;  // the worst that may be drawn
  f64 mass = 1;     // of all that may be drawn
  if (mote->top_k && mote->top_k < n) {
    mass = 0;
    for (i = n, last = n - u32(mote->top_k); i > last;) mass += ranked(--i);
  }
  if (mote->top_p < 1) {
    f64 enough = mass * mote->top_p;
    for (mass = 0, i = n; i > last && mass < enough;) mass += ranked(--i);
    last = i;
  }
  mass *= random() * 0x1p-32;
  for (i = n; i > last && mass >= 0;) mass -= ranked(--i);
  return ~u32(mote->ranking[i]);
}
