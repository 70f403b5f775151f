// sampler.cpp - from logits to a token.  Called by generate.cpp; the tokenizer ranks with it, too.
//
// Temperature, then top-k, then top-p (Holtzman et al., arXiv 1904.09751), all exact: a tournament
// ranks the tokens, and only as many leave it, the best first, as can be drawn.
#include "mote.h"

// Sets the value of a place, 1 to mote->places, in the tournament mote->tree: a binary tree of which
// node k has the greater of nodes 2k and 2k + 1, so that node 1 has the greatest value.  The lower
// half of a node tells its place; of equal values the higher place wins.
void rank(u32 place, u32 value) {
  u64 key = u64(value) << 32 | place, k = mote->places + place;
  u64 *tree = mote->tree;
  do {
    tree[k] = key;
    if (key < tree[k ^ 1]) key = tree[k ^ 1];
    k >>= 1;
  } while (tree[k] != key);
}

static u32 bits(f32 x) { return __builtin_bit_cast(u32, x); }

// The first of those drawn, in their order, up to whom there is so much mass.
static const Draw *reach(const Draw *draw, f32 mass) {
  do ++draw;
  while (draw->mass < mass);
  return draw;
}

u32 sample() {
  u32 n = mote->n_vocab, k = mote->top_k;
  f32 scale = 1 / mote->temperature, *p = mote->buffer[LOGITS];
  if (!(scale < 1e30f)) {  // at temperature 0 the best, of equals the first
    scale = 1e30f;
    k = 1;
  }
  softmax(p, nullptr, nullptr, (n + 7) & ~7u, n - 1, scale);
  mote->tree = mote->ranking;
  mote->places = n;
  // Probabilities order as their bits.  A place is counted from the end: the lower token is better.
  do rank(n, bits(*p++));
  while (--n);
  Draw *draw = mote->draws;
  auto best = (u32 *)(mote->tree + 1);
  // k tokens, or without a limit as many as make up the mass top_p.
  do {
    n = best[0];
    draw[1].mass = draw->mass + __builtin_bit_cast(f32, best[1]);
    ++draw;
    draw->place = n;
    rank(n, 0);
  } while (--k && best[1] && (i32(k) > 0 || draw->mass < mote->top_p));
  f32 mass = draw->mass;
  if (i32(k) >= 0) mass *= mote->top_p;
  mass = reach(mote->draws, mass)->mass;  // of the nucleus

  // xorshift64*: Marsaglia 2003; Vigna, arXiv 1402.6246.  Its state must not be 0.
  u64 x = mote->random ? mote->random : ~u64(mote->seed);
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  mote->random = x;
  mass *= f32(i64(x * 0x2545f4914f6cdd1dul >> 40)) * 0x1p-24f;
  return mote->n_vocab - reach(mote->draws, mass)->place;
}
