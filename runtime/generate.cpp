// generate.cpp - prompts in, answers out.  Called by main.cpp.  Read next: forward.cpp, sampler.cpp.
#include "mote.h"

void feed(bool answer) {
  Cost *cost = &mote->cost[answer];
  u64 start = now();
  while (mote->n_past < mote->n_fed) {
    mote->batch = mote->n_fed - mote->n_past;
    if (mote->batch > mote->max_batch) mote->batch = mote->max_batch;
    mote->n_past += mote->batch;
    mote->last = mote->n_past - 1;
    mote->padded = (mote->n_past + 7) & ~7u;
    parallel(layers);
    cost->tokens += mote->batch;
    if (!answer && mote->n_past < mote->n_fed && is_terminal(2)) {
      say("\rprompt ");
      say_number(mote->n_past);
      say("/");
      say_number(mote->n_fed);
      say("\r");
    }
  }
  mote->batch = 1;
  parallel(head);
  cost->time += now() - start;
}

void generate() {
  bool answer = false;
  for (u64 n = 0; n < mote->max_tokens; ++n) {
    feed(answer);
    u32 token = sample();
    if (token == mote->eos || token == mote->turn_end) return;
    print_token(token);
    ++mote->n_answered;
    add_token(token);
    if (mote->full) {
      say("\nmote: the context is full\n");
      return;
    }
    answer = true;
  }
}
