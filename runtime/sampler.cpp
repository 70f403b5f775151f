// sampler.cpp - from logits to a token.  Called by generate.cpp; the tokenizer ranks with it, too.
//
// Temperature, then top-k, then top-p (Holtzman et al., arXiv 1904.09751), all exact: a tournament
// ranks the tokens, and only as many leave it, the best first, as can be drawn.
#include "mote.h"

// Sets the value of a place, 1 to mote->places, in the tournament mote->tree: a binary tree of
// which node k has the greater of nodes 2k and 2k + 1, so that node 1 has the greatest value.  The
// lower half of a node tells its place; of equal values the higher place wins.
void rank(u64 place, u64 value) {
  u64 key = value << 32 | place, k = mote->places + place;
  u64 *tree = mote->tree;
  do {
    tree[k] = key;
    if (key < tree[k ^ 1]) key = tree[k ^ 1];
    k >>= 1;
  } while (tree[k] != key);
}

static i32 bits(f32 x) { return __builtin_bit_cast(i32, x); }
static f32 value(u32 bits) { return __builtin_bit_cast(f32, bits); }

// The first of those drawn, in their order, up to whom there is so much mass.
static const Draw *reach(const Draw *draw, i32 mass) {
  do ++draw;
  while (draw->mass < mass);
  return draw;
}

u32 sample() {
  // At temperature 0 all but the best are out of reach.
  f32 *p = mote->buffer[LOGITS];
  for (u32 i = mote->n_vocab; i < mote->padded_vocab; ++i) p[i] = -__builtin_inff();
  softmax(p, nullptr, nullptr, mote->padded_vocab, 0,
          value(mote->sampler_scale) / (mote->temperature + 1e-30f));
  // Probabilities order as their bits.  A place is counted from the end: the lower token is better.
  u64 place = mote->n_vocab;
  mote->places = u32(place);
  mote->tree = mote->ranking;
  do rank(place, u32(bits(*p++)));
  while (--place);

  // k tokens, or without a limit as many as make up the mass top_p.
  Draw *draws = mote->draws, *draw = draws;
  auto root = (const u32 *)(mote->tree + 1);
  i32 k = bits(mote->temperature) ? i32(mote->top_k) : 1;
  do {
    place = root[0];
    draw[1].mass = bits(value(u32(draw->mass)) + value(root[1]));
    ++draw;
    draw->place = u32(place);
    rank(place, 0);
  } while (--k && root[1] && (k > 0 || draw->mass < bits(mote->top_p)));
  f32 mass = value(u32(draw->mass));
  if (k >= 0) mass *= mote->top_p;

  // xorshift64*: Marsaglia 2003; Vigna, arXiv 1402.6246.  Its state must not be 0.
  u64 x = mote->random;
  if (!x) x = ~u64(mote->seed);
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  mote->random = x;
  // The mass of the nucleus, times 63 random bits, over 2^63.
  mass = value(u32(reach(draws, bits(mass))->mass)) * f32(i64(x * 0x2545f4914f6cdd1d >> 1));
  return mote->n_vocab - reach(draws, bits(mass) - (63 << 23))->place;
}
