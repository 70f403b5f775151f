// tokenizer.cpp - text to tokens and back, as SentencePiece does it (Kudo and Richardson, arXiv
// 1808.06226): byte-pair encoding by score, with bytes for what has no piece.
// Called by main.cpp and generate.cpp.  rank() is in sampler.cpp.
//
// Texts are told apart by 64 bits of hash alone.  All the look-ups of a megabyte of text together
// take one for another with a chance of 10^-11.
#include "mote.h"

constexpr u32 SHOWN = 1 << NORMAL | 1 << USER_DEFINED | 1 << BYTE;  // types that have a text

// A multiplicative hash, as Knuth's (TAOCP 3, 6.4): the factor is 2^32 over the golden ratio.
constexpr u64 next_hash(u64 hash, u64 c) { return hash * u64(i32(0x9e3779b9)) ^ c; }

// The lower half, which tells two names from 2^18 pieces, of Gemma 1 to 3 for certain.
constexpr u32 hash_of(const char *s) {
  u64 hash = 1;
  while (*s) hash = next_hash(hash, u8(*s++));
  return u32(hash);
}

// Looks up a text: mote->size bytes, 1 or more, from a place on that is counted back from
// mote->encoded, so that of two places the left one is the higher.  Returns its slot, or the empty
// one where it would be.  U+2581, SentencePiece's visible space, is a space.
// Looks up what the text begins with, too: mote->match is the length of the longest symbol there
// that is no merge.  That is a character or a byte, 1 even if it has no token; or negative, a
// user-defined token, which has to stand there byte for byte.
// Writes the text, as it is shown, to mote->pieces, up to mote->pieces_end.
static Slot *find(u64 place) {
  auto start = (const u8 *)mote->encoded - place, s = start;
  u8 *to = mote->pieces;
  u64 hash = 1;
  u32 characters = 0, size;
  i32 match = 1;
  Slot *slot;
  do {
    u64 c = *s++;
    if ((signed char)c >= -64) ++characters;  // no byte that continues one: RFC 3629
    if (*(const u32 *)(s - 1) << 8 == 0x8196e200) {
      s += 2;
      c = ' ';
    }
    *to++ = u8(c);
    hash = next_hash(hash, c);
    slot = mote->slots[0] + u64(u32(hash) % mote->n_vocab) * 2;
    while (slot->kind && slot->hash != hash) ++slot;
    slot->hash = hash;
    size = u32(u64(s)) - u32(u64(start));
    if (slot->kind == i32(size)) match = -i32(size);
    if (slot->kind < 0 && characters < 2) match = i32(size);
  } while (size < mote->size);
  mote->match = match;
  mote->pieces_end = to;
  return slot;
}

void read_vocabulary() {
  auto next = counted(mote->tokens)->data;
  for (u64 token = 0;; ++token) {
    mote->piece[token] = mote->pieces;
    if (token == mote->n_vocab) break;
    auto s = next + 8;
    u32 n = *(const u32 *)next;
    next = s + n;
    if (mote->longest < n) mote->longest = n;
    auto entry = mote->file + token * 4 + 8;
    u32 type = *(const u32 *)(entry + mote->token_types);
    u32 score = *(const u32 *)(entry + mote->scores);
    if (type == BYTE) {
      // The text of "<0xHH>" is the byte.  A digit is its low four bits, a letter 9 more.
      n = *(const u32 *)(s + 3);
      n = (n & 0x0f0f) + (n >> 6 & 0x0101) * 9;
      u8 *to = mote->pieces;
      *to = u8(n * 0x1001 >> 8);
      s = to;
      n = 1;
      score = ~0u;  // it gives way to a piece of the same text
    }
    mote->size = n;
    Slot *slot = find(-u64(s));
    // The turn tokens are no text, whatever their type: some files have them as normal.
    if (u32(slot->hash) == hash_of("<start_of_turn>")) mote->turn_start = u32(token);
    else if (u32(slot->hash) == hash_of("<end_of_turn>")) mote->turn_end = u32(token);
    else if (type == UNKNOWN) mote->unknown = u32(token);
    else if (SHOWN >> (type & 31) & 1 && mote->size) {
      u8 *end = mote->pieces_end;
      // Scores are at most 0: the ranks of the merges, negated.
      i32 kind = i32(~(score & 0x7fffffff));
      if (type == USER_DEFINED) kind = i32(end - mote->pieces);
      if (slot->kind << 1 == 0) {
        slot->token = u32(token);
        slot->kind = kind;
      }
      mote->pieces = end;
    }
  }
  if (chats() && !(mote->turn_start && mote->turn_end)) fail("no turn tokens");
}

void add_token(u64 token) {
  u32 n = mote->n_fed;
  mote->tokens_fed[n] = u32(token);  // there is room for one more
  if (n == mote->context) mote->full = true;
  else ++mote->n_fed;
}

void encode(const char *text, u64 n) {
  mote->encoded = text + n;
  mote->places = u32(n);
  // For each place the length of the symbol that begins there, as find() tells it; else 0.  The
  // mapping stays: all that a context holds is little.
  auto length = (u32 *)map(n * 20 + 64);
  u64 place = mote->places, best = place;
  length[place + 1] = ~0u;  // left of the text stands a symbol that merges with none
  mote->tree = (u64 *)(length + place + 8);

  while (place) {
    mote->size = mote->longest;
    if (mote->size > u32(place)) mote->size = u32(place);
    find(place);
    u32 match = u32(mote->match);
    length[place] = match;
    if (i32(match) < 0) match = -match;
    place -= match;
  }

  // Merges two neighbours as long as any two make a token, the best first.
  for (;;) {
    // Ranks symbols by the token that they make with their right neighbours: at first all of them,
    // later from the one that is gone on to the left neighbour of the one that it has joined.
    do {
      ++place;
      u32 value = 0, a = length[place];
      if (i32(a) > 0) {
        u32 b = length[place - a];
        if (i32(b) > 0) {
          mote->size = a + b;
          Slot *slot = find(place);
          if (slot->kind < 0) value = u32(slot->kind);
        }
      }
      rank(place, value);
    } while (place <= best || !length[place]);
    auto root = (const u32 *)(mote->tree + 1);
    if (root[1] == 0) break;
    best = root[0];
    place = best - length[best];
    u32 gone = length[place];
    length[place] = 0;
    length[best] += gone;
    --place;
  }

  place = mote->places;
  while (place) {
    i32 a = i32(length[place]);
    mote->size = u32(a < 0 ? -a : a);
    Slot *slot = find(place);
    u32 token = slot->token;
    if (!slot->kind) token = mote->unknown;
    add_token(token);
    place -= mote->size;
  }
}

void print_token(u64 token) {
  u8 **piece = mote->piece + token;
  write_all(1, piece[0], u64(piece[1] - piece[0]));
}
