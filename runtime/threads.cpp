// threads.cpp - the same job on every thread, and a barrier between its steps.
// Called by generate.cpp (parallel) and forward.cpp (barrier).
#include "mote.h"
#include "sys.h"

constexpr u32 SPINS = 4000;  // about 50 us: longer than a step's imbalance, shorter than a quantum

// Waits until all threads are here.
// generation tells a passed barrier from the next one.  Whoever finds it unchanged after a while
// sleeps on it; whoever changes it wakes the sleepers.  Both announce first and look then, and the
// locked additions keep that order: a sleeper is seen, or sees the change.
void barrier() {
  u32 generation = __atomic_load_n(&mote->generation, __ATOMIC_ACQUIRE);
  if (__atomic_sub_fetch(&mote->awaited, 1, __ATOMIC_SEQ_CST) == 0) {
    u32 n = mote->n_threads;
    mote->awaited = n;
    __atomic_add_fetch(&mote->generation, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&mote->sleeping, __ATOMIC_SEQ_CST))
      sys(SYS_FUTEX, &mote->generation, 1, n);  // FUTEX_WAKE
    return;
  }
  for (u32 spins = SPINS; __atomic_load_n(&mote->generation, __ATOMIC_ACQUIRE) == generation;) {
    cpu_relax();
    if (--spins) continue;
    ++spins;
    __atomic_add_fetch(&mote->sleeping, 1, __ATOMIC_SEQ_CST);
    sys(SYS_FUTEX, &mote->generation, 0, generation, 0);  // FUTEX_WAIT, no time limit
    __atomic_sub_fetch(&mote->sleeping, 1, __ATOMIC_SEQ_CST);
  }
}

static void work(u64, void *, u32 thread) {
  for (;;) {
    barrier();
    mote->job(thread);
  }
}

// Every job ends with a barrier of its own: then all are done.
void parallel(void (*job)(u32 thread)) {
  mote->job = job;
  barrier();
  job(0);
}

// As many threads as are wanted, or as the system gives.
void start_threads() {
  u32 n = 0;
  while (++n < mote->n_threads && sys_clone<work>((u8 *)map(THREAD_STACK) + THREAD_STACK, n) > 0) {}
  mote->n_threads = n;
  __atomic_add_fetch(&mote->awaited, n, __ATOMIC_SEQ_CST);
}
