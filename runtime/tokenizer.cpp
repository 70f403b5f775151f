// tokenizer.cpp - text to tokens and back, as SentencePiece does it (Kudo and Richardson, arXiv
// 1808.06226): byte-pair encoding by score, with bytes for what has no piece.
// Called by main.cpp and generate.cpp.  rank() is in sampler.cpp.
#include "mote.h"

static const u32 *words(u32 array) { return (const u32 *)counted(array)->data; }

u32 token_type(u32 token) {
  // The turn tokens of some files are marked as normal.
  if (token == mote->turn_start || token == mote->turn_end) return CONTROL;
  return words(mote->token_types)[token] & 31;
}

// The slot of the token with this text and one of these types, or the empty one where it would be.
// Texts are told apart by 64 bits of hash alone, FNV-1a (Fowler, Noll, Vo): among 2^18 pieces one in
// 2^46 texts is mistaken.  U+2581, SentencePiece's visible space, is a space, but not where
// user-defined tokens are matched.
static u32 *find(const u8 *s, u32 n, u32 types) {
  u64 hash = 0xcbf29ce484222325;
  const u8 *end = s + n;
  while (s < end) {
    u64 c = *s++;
    if (*(const u32 *)(s - 1) << 8 == 0x8196e200 && !(types >> USER_DEFINED & 1)) {
      s += 2;
      c = ' ';
    }
    hash = (hash ^ c) * 0x100000001b3;
  }
  mote->hash = hash;
  for (;; ++hash) {
    u32 *slot = mote->slots + (hash & mote->slot_mask), token = *slot - 1;
    if (token == NO_TOKEN) return slot;
    if (mote->hashes[token] == mote->hash && types >> token_type(token) & 1) return slot;
  }
}

static u32 find_token(const char *s, u32 n) { return *find((const u8 *)s, n, ~0u) - 1; }

void read_vocabulary() {
  auto s = words(mote->tokens);
  mote->turn_start = mote->turn_end = NO_TOKEN;
  for (u32 token = 0; token < mote->n_vocab; ++token) {
    auto piece = (const Counted *)s;
    mote->pieces[token] = piece;
    u32 n = u32(piece->n);
    s = (const u32 *)(piece->data + n);
    if (SPECIAL >> token_type(token) & 1 && n > mote->longest) mote->longest = n;
    *find(piece->data, n, 0) = token + 1;
    mote->hashes[token] = mote->hash;
  }
  mote->unknown = find_token("<unk>", 5);
  u32 start = find_token("<start_of_turn>", 15);
  mote->turn_end = find_token("<end_of_turn>", 13);
  mote->turn_start = start;
  if (mote->longest < 15) mote->longest = 15;
}

void add_token(u32 token) {
  mote->tokens_fed[mote->n_fed] = token;  // there is room for one more
  if (mote->n_fed == mote->context) mote->full = true;
  else ++mote->n_fed;
}

// The token of a byte; Gemma has a tab of its own, and no <0x09>.
static u32 byte_token(u32 byte) {
  u8 name[] = "<0x00>", plain = u8(byte);
  name[3] = u8("0123456789ABCDEF"[byte >> 4]);
  name[4] = u8("0123456789ABCDEF"[byte & 15]);
  u32 token = *find(name, 6, 1 << BYTE);
  if (!token) token = *find(&plain, 1, ~0u);
  return token ? token - 1 : mote->unknown;
}

// mote->lengths has, for the place of each byte of the text, the length of the symbol that begins there,
// negative if it takes no part in merges, or 0.  Ranks the merge of the symbol at i with its right
// neighbour.
static void rate(u32 i) {
  u32 value = 0;
  i32 *length = mote->lengths + i;
  if (*length > 0 && length[*length] > 0) {
    u32 token = *find(mote->encoded + i, u32(*length + length[*length]), 1 << NORMAL);
    if (token) {
      // The score as a number above 0 that orders as floats do; -0 is 0.
      value = __builtin_bit_cast(u32, ((const f32 *)words(mote->scores))[token - 1] + 0.0f);
      value ^= u32(i32(value) >> 31) | 0x80000000;
    }
  }
  rank(mote->places - i, value);
}

void encode(const char *text, u64 size, u32 matched_whole) {
  if (size == 0) return;
  if (size >> 28) fail("prompt too long");
  // Place 0 has a symbol that merges with none; a space may stand before the text.
  u32 i = 1, n = u32(size) + 1;
  u64 bytes = size * 21 + 4096;
  auto s = (u8 *)map(bytes);
  mote->encoded = s;
  mote->tree = (u64 *)(s + ((size + 64) & ~7ul));
  if (mote->add_space_prefix & 1 && matched_whole == PLAIN) {
    s[i++] = ' ';
    ++n;
  }
  __builtin_memcpy(s + i, text, size);
  mote->places = n;
  i32 *lengths = mote->lengths = (i32 *)(mote->tree + 2 * n + 2);
  *lengths = -1;
  lengths[1] = 1;

  // Characters, and the tokens that are matched as a whole, the longest first.
  while (i < n) {
    i32 length = i32(mote->longest);
    if (length > i32(n - i)) length = i32(n - i);
    while (length && !*find(s + i, u32(length), matched_whole)) --length;
    lengths[i] = -length;
    if (length == 0) {
      // A UTF-8 lead byte and the bytes that continue it: RFC 3629.  Zeros follow the text.
      u32 follow = s[i] < 0xc0 ? 0 : s[i] < 0xe0 ? 1 : s[i] < 0xf0 ? 2 : 3;
      do ++length;
      while (follow-- && (s[i + u32(length)] & 0xc0) == 0x80);
      lengths[i] = length;
    }
    i += u32(length);
  }

  while (i) rate(--i);
  auto best = (u32 *)(mote->tree + 1);
  while (best[1]) {
    i = n - best[0];
    u32 gone = i + u32(lengths[i]);
    lengths[i] += lengths[gone];
    lengths[gone] = 0;
    rate(gone);
    rate(i);
    do --i;
    while (lengths[i] == 0);
    rate(i);
  }

  for (i = 1; i < n;) {
    i32 length = lengths[i];
    u32 types = 1 << NORMAL;
    if (length < 0) {
      length = -length;
      types = matched_whole;
    }
    u32 token = *find(s + i, u32(length), types);
    if (token) {
      add_token(token - 1);
      i += u32(length);
    } else {
      do add_token(byte_token(s[i++]));
      while (--length);
    }
  }
  unmap(s, bytes);
}

void print_token(u32 token) {
  auto piece = mote->pieces[token];
  const u8 *s = piece->data, *end = s + piece->n;
  u8 *to = mote->printed;
  u32 type = token_type(token);
  if (type == BYTE) {
    // "<0xHH>": a digit is its low four bits, a letter 9 more
    *to++ = u8((s[3] & 15) + (s[3] >> 6) * 9) * 16 + (s[4] & 15) + (s[4] >> 6) * 9;
  } else if (type == NORMAL || type == USER_DEFINED) {
    while (s < end) {
      u8 c = *s++;
      if (*(const u32 *)(s - 1) << 8 == 0x8196e200) {
        s += 2;
        c = ' ';
      }
      *to++ = c;
    }
  }
  if (to > mote->printed) write_all(1, mote->printed, u64(to - mote->printed));
}
