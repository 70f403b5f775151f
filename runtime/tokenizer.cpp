// tokenizer.cpp - text to tokens and back, as SentencePiece does it (Kudo and Richardson, arXiv
// 1808.06226): byte-pair encoding by score, with bytes for what has no piece.
// Called by main.cpp and generate.cpp.
#include "mote.h"

constexpr u32 MERGED = 1 << NORMAL;  // what a merge may make

static u32 hash(const u8 *s, u32 n) {
  u32 h = 0x811c9dc5;  // FNV-1a: Fowler, Noll, Vo
  while (n--) h = (h ^ *s++) * 0x01000193;
  return h;
}

// Copies text with U+2581, SentencePiece's visible space, as a space.  Returns the end of the copy.
static u8 *copy_text(u8 *to, const u8 *s, u64 n) {
  const u8 *end = s + n;
  while (s < end) {
    if (end - s > 2 && s[0] == 0xe2 && s[1] == 0x96 && s[2] == 0x81) {
      s += 3;
      *to++ = ' ';
    } else {
      *to++ = *s++;
    }
  }
  return to;
}

u32 token_type(u32 token) {
  // The turn tokens of some files are marked as normal.
  if (token == mote->turn_start || token == mote->turn_end) return CONTROL;
  return ((const u32 *)counted(mote->token_types)->data)[token] & 31;
}

// The token with this text and one of these types.
static u32 find(const u8 *s, u32 n, u32 types) {
  for (u32 h = hash(s, n);; ++h) {
    u32 token = mote->slots[h & mote->slot_mask];
    if (token-- == 0) return NO_TOKEN;
    u32 at = mote->piece[token];
    if (mote->piece[token + 1] - at == n && equal(mote->pieces + at, s, n) &&
        types >> token_type(token) & 1)
      return token;
  }
}

void read_vocabulary() {
  auto text = counted(mote->tokens)->data;
  u8 *to = mote->pieces;
  mote->turn_start = mote->turn_end = NO_TOKEN;
  for (u32 token = 0; token < mote->n_vocab; ++token) {
    auto s = (const Counted *)text;
    text = s->data + s->n;
    u8 *from = to;
    to = copy_text(to, s->data, s->n);
    u32 n = u32(to - from);
    mote->piece[token + 1] = u32(to - mote->pieces);
    if (SPECIAL >> token_type(token) & 1 && n > mote->longest) mote->longest = n;
    u32 h = hash(from, n);
    while (mote->slots[h & mote->slot_mask]) ++h;
    mote->slots[h & mote->slot_mask] = token + 1;
  }
  u8 name[] = "<0x00>";
  for (u32 byte = 0; byte < 256; ++byte) {
    name[3] = u8("0123456789ABCDEF"[byte >> 4]);
    name[4] = u8("0123456789ABCDEF"[byte & 15]);
    u8 plain = u8(byte);  // Gemma has a tab of its own, and no <0x09>
    u32 token = find(name, 6, 1 << BYTE);
    if (token == NO_TOKEN) token = find(&plain, 1, ~0u);
    if (token == NO_TOKEN) token = find((const u8 *)"<unk>", 5, ~0u);
    mote->byte_token[byte] = token;
  }
  u32 start = find((const u8 *)"<start_of_turn>", 15, ~0u);
  mote->turn_end = find((const u8 *)"<end_of_turn>", 13, ~0u);
  mote->turn_start = start;
  if (mote->longest < 15) mote->longest = 15;
}

void add_token(u32 token) {
  if (token == NO_TOKEN) return;  // a byte, in a vocabulary that has not even an unknown token
  if (mote->n_fed == mote->context)
    mote->full = true;
  else
    mote->tokens_fed[mote->n_fed++] = token;
}

// A piece of the text that is being encoded, at the place of its first byte.
struct Symbol {
  u32 n;      // bytes; 0 at a place where none begins
  u32 left;   // where its left neighbour begins
  u32 whole;  // a token + 1, for a piece that takes no part in merges
};

// What the encoder works on.  rank is a binary tree over the places of the text: a leaf tells how
// good a merge with the right neighbour would be there, 0 for none, and a node the best below it.
struct Encoder {
  u8 *text;
  u32 n;
  u32 leaves;      // a power of two, more than n
  Symbol *symbol;  // [leaves]
  u32 *rank;       // [2 * leaves]
};

// Ranks the merge of the symbol at i with its right neighbour.
static void rate(const Encoder *e, u32 i) {
  const Symbol *s = e->symbol + i, *right = s + s->n;
  u32 rank = 0;
  if (s->n && i + s->n < e->n && !s->whole && !right->whole) {
    u32 token = find(e->text + i, s->n + right->n, MERGED);
    if (token != NO_TOKEN) {
      // The score as a number that orders as floats do; -0 is 0.
      rank = __builtin_bit_cast(u32, ((const f32 *)counted(mote->scores)->data)[token] + 0.0f);
      rank ^= u32(i32(rank) >> 31) | 0x80000000;
    }
  }
  u32 k = e->leaves + i;
  e->rank[k] = rank;
  while (k /= 2) {
    u32 a = e->rank[2 * k], b = e->rank[2 * k + 1];
    e->rank[k] = a < b ? b : a;
  }
}

void encode(const char *text, u64 n, u32 matched_whole) {
  if (n == 0) return;
  if (n >> 30) fail("the prompt is too long");
  Encoder e = {};
  for (e.leaves = 8; e.leaves < n + 2; e.leaves *= 2) {}
  u64 bytes = u64(e.leaves) * 32;
  e.rank = (u32 *)map(bytes);
  e.symbol = (Symbol *)(e.rank + 2 * e.leaves);
  e.text = (u8 *)(e.symbol + e.leaves);
  u32 left = 0;
  if (mote->add_space_prefix && matched_whole == PLAIN) {
    e.text[0] = ' ';
    e.symbol[0].n = e.n = 1;
  }

  // Characters, and the tokens that are matched as a whole, the longest first.
  auto s = (const u8 *)text, end = s + n;
  while (s < end) {
    u32 token = NO_TOKEN, bytes = mote->longest;
    if (bytes > end - s) bytes = u32(end - s);
    while (bytes && (token = find(s, bytes, matched_whole)) == NO_TOKEN) --bytes;
    if (bytes == 0) {
      // A UTF-8 lead byte and the bytes that continue it: RFC 3629.
      u32 follow = *s < 0xc0 ? 0 : *s < 0xe0 ? 1 : *s < 0xf0 ? 2 : 3;
      for (bytes = 1; follow && s + bytes < end && (s[bytes] & 0xc0) == 0x80; --follow) ++bytes;
    }
    u8 *to = e.text + e.n;
    u32 copied = u32(copy_text(to, s, bytes) - to);
    e.symbol[e.n] = {copied, left, token + 1};
    left = e.n;
    e.n += copied;
    s += bytes;
  }
  for (u32 i = 0; i < e.n; i += e.symbol[i].n) rate(&e, i);

  while (e.rank[1]) {
    u32 k = 1;
    while (k < e.leaves) {
      k *= 2;
      if (e.rank[k] != e.rank[k / 2]) ++k;  // the leftmost of the best
    }
    u32 i = k - e.leaves;
    Symbol *s = e.symbol + i, *right = s + s->n;
    s->n += right->n;
    u32 gone = u32(right - e.symbol);
    right->n = 0;
    e.symbol[i + s->n].left = i;
    rate(&e, gone);
    rate(&e, i);
    rate(&e, s->left);
  }

  for (u32 i = 0; i < e.n; i += e.symbol[i].n) {
    Symbol s = e.symbol[i];
    u32 token = s.whole ? s.whole - 1 : find(e.text + i, s.n, MERGED);
    if (token != NO_TOKEN) {
      add_token(token);
    } else {
      for (u32 j = 0; j < s.n; ++j) add_token(mote->byte_token[e.text[i + j]]);
    }
  }
  unmap(e.rank, bytes);
}

void print_token(u32 token) {
  u32 type = token_type(token);
  if (type == BYTE) {
    for (u32 byte = 0; byte < 256; ++byte)
      if (mote->byte_token[byte] == token) write_all(1, &byte, 1);
  } else if (type == NORMAL || type == USER_DEFINED) {
    write_all(1, mote->pieces + mote->piece[token], mote->piece[token + 1] - mote->piece[token]);
  }
}
