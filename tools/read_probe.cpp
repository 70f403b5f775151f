// read_probe.cpp - how fast can this machine read a file that lies in the page cache?
// Called by bench.py, beside the engine: decoding can go no faster.
//     g++ -O2 -std=c++17 -mavx2 -pthread tools/read_probe.cpp -o build/read_probe
//     read_probe FILE [THREADS [PASSES]]
// Each thread reads a contiguous share, as one stream or as four side by side, without and with a
// prefetch some KiB ahead of each.  The last line is the best of all.
#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

enum Hint { NONE, NTA, T0 };

// Reads n bytes from p as STREAMS streams, 128 bytes of each in turn; a multiple of that is read.
template <int STREAMS, Hint HINT, int AHEAD> static uint64_t scan(const char *p, size_t n) {
  size_t length = n / STREAMS / 128 * 128;
  __m256i sum[4] = {};
  for (size_t at = 0; at < length; at += 128) {
#pragma GCC unroll 4
    for (int s = 0; s < STREAMS; ++s) {
      const char *q = p + s * length + at;
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        if (HINT == NTA && i % 2 == 0) _mm_prefetch(q + 32 * i + AHEAD, _MM_HINT_NTA);
        if (HINT == T0 && i % 2 == 0) _mm_prefetch(q + 32 * i + AHEAD, _MM_HINT_T0);
        sum[i] = _mm256_xor_si256(sum[i], _mm256_loadu_si256((const __m256i *)(q + 32 * i)));
      }
    }
  }
  __m256i low = _mm256_xor_si256(sum[0], sum[1]), high = _mm256_xor_si256(sum[2], sum[3]);
  __m256i all = _mm256_xor_si256(low, high);
  return uint64_t(_mm256_extract_epi64(all, 0)) ^ uint64_t(_mm256_extract_epi64(all, 2));
}

using Scan = uint64_t (*)(const char *, size_t);
static const struct { const char *name; Scan scan; } PATTERNS[] = {
    {"1 stream", scan<1, NONE, 0>},
    {"1 stream, prefetchnta 4 KiB ahead", scan<1, NTA, 4096>},
    {"1 stream, prefetcht0 4 KiB ahead", scan<1, T0, 4096>},
    {"4 streams", scan<4, NONE, 0>},
    {"4 streams, prefetchnta 1 KiB ahead", scan<4, NTA, 1024>},
    {"4 streams, prefetcht0 1 KiB ahead", scan<4, T0, 1024>},
};

// One pass over the file: all threads start together, and the last one stops the clock.
struct Pass {
  Scan scan;
  const char *data;
  size_t share;
  pthread_barrier_t barrier;
};
struct Thread {
  pthread_t id;
  Pass *pass;
  size_t number;
  uint64_t result;
};

static void *work(void *argument) {
  auto t = (Thread *)argument;
  pthread_barrier_wait(&t->pass->barrier);
  t->result = t->pass->scan(t->pass->data + t->number * t->pass->share, t->pass->share);
  pthread_barrier_wait(&t->pass->barrier);
  return nullptr;
}

static double seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

static volatile uint64_t result;  // so that the compiler cannot leave out the reading

// GB/s of one pass with n_threads threads.
static double measure(Scan scan, const char *data, size_t size, unsigned n_threads) {
  Pass pass = {scan, data, size / n_threads / 4096 * 4096, {}};
  std::vector<Thread> threads(n_threads);
  pthread_barrier_init(&pass.barrier, nullptr, n_threads + 1);
  for (size_t i = 0; i < n_threads; ++i) {
    threads[i] = {0, &pass, i, 0};
    if (pthread_create(&threads[i].id, nullptr, work, &threads[i])) exit(1);
  }
  pthread_barrier_wait(&pass.barrier);
  double start = seconds();
  pthread_barrier_wait(&pass.barrier);
  double time = seconds() - start;
  for (auto &t : threads) {
    pthread_join(t.id, nullptr);
    result = result ^ t.result;
  }
  pthread_barrier_destroy(&pass.barrier);
  return double(pass.share) * n_threads / time / 1e9;
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
  measure(PATTERNS[0].scan, (const char *)data, size, unsigned(n_threads));  // wakes the cores

  // The patterns take turns, so that a bad moment hits all of them.
  constexpr size_t N = sizeof(PATTERNS) / sizeof(*PATTERNS);
  std::vector<double> speeds[N];
  for (int pass = 0; pass < passes; ++pass)
    for (size_t i = 0; i < N; ++i)
      speeds[i].push_back(measure(PATTERNS[i].scan, (const char *)data, size, unsigned(n_threads)));
  double best = 0;
  for (size_t i = 0; i < N; ++i) {
    std::sort(speeds[i].begin(), speeds[i].end());
    printf("%-36s %7.2f GB/s  (%.2f .. %.2f)\n", PATTERNS[i].name, speeds[i][speeds[i].size() / 2],
           speeds[i].front(), speeds[i].back());
    best = std::max(best, speeds[i].back());
  }
  printf("best %.2f GB/s, %d threads, %.2f GB\n", best, n_threads, double(size) / 1e9);
}
