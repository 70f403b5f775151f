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

void feed(u32 kind) {
  mote->time[kind] -= now();
  u32 n;
  while ((n = mote->n_fed - mote->n_past) > mote->max_batch) {
    tell(2, "\rprompt #/#");
    pass(mote->max_batch);
    tell(2, "\33[2K\r");  // erases the line: ECMA-48, 8.3.41
  }
  pass(n);
  mote->batch = 1;
  parallel(head);
  mote->time[kind] += now();
  auto cost = mote->cost + kind;
  cost->speed = u32(cost->tokens * 100000000000 / mote->time[kind]);
}

void generate() {
  mote->cost[0].tokens += mote->n_fed - mote->n_past;
  u32 kind = 0;
  for (u32 n = mote->max_tokens; n && !mote->full; --n) {
    feed(kind);
    kind = 1;
    u64 token = sample();
    if (token == mote->eos || token == mote->turn_end) return;
    print_token(token);
    ++mote->cost[1].tokens;
    add_token(token);
  }
}
