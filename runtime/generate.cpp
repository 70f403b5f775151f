// generate.cpp - prompts in, answers out.  Called by main.cpp.  Read next: forward.cpp, sampler.cpp.
#include "mote.h"

// The next tokens through all layers.
static void pass(u32 batch) {
  mote->batch = batch;
  u32 n = mote->n_past += batch;
  mote->last = n - 1;
  for (Span &span : mote->spans) {
    span.padded = (n + 7) & ~7u;
    if (span.padded > span.slots) span.padded = span.slots;
  }
  parallel(layers);
}

void feed(u32 kind, u32 drafted) {
  mote->time[kind] -= now();
  u32 n;
  while ((n = mote->n_fed - mote->n_past) > mote->max_batch) {
    tell(2, "\rprompt #/#");
    pass(mote->max_batch);
    tell(2, "\33[2K\r");  // erases the line: ECMA-48, 8.3.41
  }
  pass(n);
  mote->batch = drafted + 1;
  parallel(head);
  mote->time[kind] += now();
  mote->passes += kind;
}

// Guesses what comes next: what came when the context last ended as it does now, in as many tokens
// as can be, but at least MIN_MATCH, and no more than MAX_MATCH, for a context may be one token over
// and over (prompt lookup decoding: Saxena, 2023).  Writes mote->lookup guesses behind the context,
// and one more, for what is drawn behind them all.
// Returns how many of them are worth to be verified: as many as were right in a row, up to now.
static u32 guess() {
  u32 *tokens = mote->tokens_fed, *end = tokens + mote->n_fed, *next = nullptr;
  u32 longest = MIN_MATCH - 1, most = mote->lookup;
  for (u32 *p = end; --p > tokens;) {
    u32 n = 0;
    while (n < MAX_MATCH && p - n > tokens && p[~i64(n)] == end[~i64(n)]) ++n;
    if (n > longest) {
      longest = n;
      next = p;
    }
  }
  *end = NO_TOKEN;
  if (!next) return 0;
  for (u32 n = 0; n <= most; ++n) *end++ = *next++;
  return most < mote->luck ? most : mote->luck;
}

void generate() {
  mote->cost[0].tokens += mote->n_fed - mote->n_past;
  u32 n = mote->max_tokens;
  for (u32 kind = 0; n && !mote->full; kind = 1) {
    u32 drafted = 0;
    if (kind & (mote->lookup > 0)) {
      drafted = guess();
      u32 fit = mote->context - mote->n_fed;
      if (drafted > fit) drafted = fit;
      if (drafted >= n) drafted = n - 1;
      mote->n_fed += drafted;
    }
    feed(kind, drafted);
    // The tokens guessed are in the batch: column by column, as long as the guess was right, one is
    // drawn as if each had been fed alone.  What the cache holds of the others is overwritten.
    mote->n_fed -= drafted;
    do {
      mote->n_past = mote->n_fed;
      u32 token = sample(drafted);
      mote->drawn += kind;
      ++mote->luck;
      if (token != mote->tokens_fed[mote->n_fed]) mote->luck = 0;
      if (token == mote->eos || token == mote->turn_end) return;
      print_token(token);
      ++mote->cost[1].tokens;
      add_token(token);
      --n;
      if (!mote->luck) break;
    } while (drafted--);
  }
}
