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
  if (__atomic_add_fetch(&mote->arrived, 1, __ATOMIC_SEQ_CST) == mote->n_threads) {
    mote->arrived = 0;
    __atomic_add_fetch(&mote->generation, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&mote->sleeping, __ATOMIC_SEQ_CST))
      sys(SYS_FUTEX, i64(&mote->generation), 129, MAX_THREADS);  // FUTEX_WAKE_PRIVATE
    return;
  }
  for (u32 spins = SPINS; __atomic_load_n(&mote->generation, __ATOMIC_ACQUIRE) == generation;) {
    cpu_relax();
    if (--spins) continue;
    ++spins;
    __atomic_add_fetch(&mote->sleeping, 1, __ATOMIC_SEQ_CST);
    sys6(SYS_FUTEX, i64(&mote->generation), 128, generation, 0, 0, 0);  // FUTEX_WAIT_PRIVATE
    __atomic_add_fetch(&mote->sleeping, -1u, __ATOMIC_SEQ_CST);
  }
}

static void work() {
  u32 thread = __atomic_add_fetch(&mote->started, 1, __ATOMIC_SEQ_CST);
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

void start_threads() {
  for (u32 i = mote->n_threads; --i;)
    if (sys_clone((u8 *)map(THREAD_STACK) + THREAD_STACK, work) < 0) fail("cannot start threads");
}
