// read_probe.cpp - how fast can this machine read a file that lies in the page cache?
// Called by bench.py, beside the engine: decoding can go no faster.
//     g++ -O2 -std=c++20 -pthread tools/read_probe.cpp -o build/bench/read_probe
//     read_probe FILE [THREADS [PASSES]]
// Each thread reads a contiguous share, as one stream or as four side by side, without and with a
// prefetch some KiB ahead of each.  The last line is the best of all.  Read next: limits.h.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "limits.h"

static volatile uint64_t result;  // so that the compiler cannot leave out the reading

// GB/s of one pass over the file with n_threads threads, each reading a contiguous share.
static double measure(const Pattern &pattern, const char *data, size_t size, unsigned n_threads) {
  size_t share = size / n_threads / 4096 * 4096;
  std::vector<uint64_t> results(n_threads);
  double time = together(n_threads, [&](unsigned i) {
    results[i] = pattern.scan(data + i * share, share);
  });
  for (uint64_t r : results) result = result ^ r;
  return double(share) * n_threads / time / 1e9;
}

int main(int argc, char **argv) {
  struct stat status;
  int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
  int n_threads = argc > 2 ? atoi(argv[2]) : int(sysconf(_SC_NPROCESSORS_ONLN));
  int passes = argc > 3 ? atoi(argv[3]) : 3;
  if (fd < 0 || fstat(fd, &status) || n_threads < 1 || n_threads > 1024 || passes < 1) {
    fprintf(stderr, "usage: read_probe FILE [THREADS [PASSES]]\n");
    return 2;
  }
  size_t size = size_t(status.st_size);
  if (size / size_t(n_threads) < 1 << 20) {
    fprintf(stderr, "read_probe: %s: too small\n", argv[1]);
    return 1;
  }
  // Reads the file into the page cache, and the page tables with it.
  void *data = mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (data == MAP_FAILED) {
    perror(argv[1]);
    return 1;
  }
  measure(PATTERNS[0], (const char *)data, size, unsigned(n_threads));  // wakes the cores

  // The patterns take turns, so that a bad moment hits all of them.
  constexpr size_t N = sizeof(PATTERNS) / sizeof(*PATTERNS);
  std::vector<double> speeds[N];
  for (int pass = 0; pass < passes; ++pass)
    for (size_t i = 0; i < N; ++i)
      speeds[i].push_back(measure(PATTERNS[i], (const char *)data, size, unsigned(n_threads)));
  double best = 0;
  for (size_t i = 0; i < N; ++i) {
    std::sort(speeds[i].begin(), speeds[i].end());
    printf("%-36s %7.2f GB/s  (%.2f .. %.2f)\n", PATTERNS[i].name, speeds[i][speeds[i].size() / 2],
           speeds[i].front(), speeds[i].back());
    best = std::max(best, speeds[i].back());
  }
  printf("best %.2f GB/s, %d threads, %.2f GB\n", best, n_threads, double(size) / 1e9);
}
