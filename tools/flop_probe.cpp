// flop_probe.cpp - how fast can this machine multiply and add, out of registers alone?
// Called by bench.py, beside the engine: a prompt can be read no faster.
//     g++ -O2 -std=c++20 -pthread tools/flop_probe.cpp -o build/bench/flop_probe
//     flop_probe [THREADS [MILLISECONDS]]
// f32: fused multiply-adds.  int8: dot products of bytes, with sums of 32 bits.  A line for each
// that the CPU has; an operation is a multiplication or an addition.  Read next: limits.h.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "limits.h"

int main(int argc, char **argv) {
  int n_threads = argc > 1 ? atoi(argv[1]) : int(sysconf(_SC_NPROCESSORS_ONLN));
  double duration = (argc > 2 ? atof(argv[2]) : 20) / 1000;
  if (n_threads < 1 || n_threads > 1024 || duration <= 0) {
    fprintf(stderr, "usage: flop_probe [THREADS [MILLISECONDS]]\n");
    return 2;
  }
  for (auto &peak : PEAKS)
    if (peak.ready)
      printf("%-12s %8.1f GFLOP/s\n", peak.name, measure(peak, unsigned(n_threads), duration));
}
