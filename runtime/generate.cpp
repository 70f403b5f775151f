// generate.cpp - prompts in, answers out.  Called by main.cpp.  Read next: forward.cpp, sampler.cpp.
#include "mote.h"

void feed(Cost *cost) {
  u64 start = now();
  while (mote->n_past < mote->n_fed) {
    u32 batch = mote->n_fed - mote->n_past;
    if (batch > mote->max_batch) {
      batch = mote->max_batch;
      if (is_terminal(2)) say_number("\rprompt ", mote->n_past, 0);
    }
    cost->tokens += mote->batch = batch;
    mote->n_past += batch;
    mote->last = mote->n_past - 1;
    mote->padded = (mote->n_past + 7) & ~7u;
    parallel(layers);
  }
  mote->batch = 1;
  parallel(head);
  cost->time += now() - start;
}

void generate() {
  Cost *cost = &mote->prompts;
  for (u32 n = mote->max_tokens; n; --n) {
    feed(cost);
    cost = &mote->answers;
    u32 token = sample();
    if (token == mote->eos || token == mote->turn_end) return;
    print_token(token);
    ++mote->n_answered;
    add_token(token);
    if (mote->full) return;
  }
}
