// limits.h - what a core can do at best: read memory, multiply and add.
// For read_probe.cpp, flop_probe.cpp and tests/bench/.  Hosted; asks the CPU what it has.
#pragma once
#include <immintrin.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

inline double seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

// Calls work(i) on n threads, i < n.  All start together; returns the seconds from the first one's
// start to the last one's end.
template <class Work>
double together(unsigned n, Work work) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, n);
  std::vector<std::thread> threads;
  std::vector<double> starts(n), ends(n);
  for (unsigned i = 0; i < n; ++i)
    threads.emplace_back([&, i] {
      pthread_barrier_wait(&barrier);
      starts[i] = seconds();
      work(i);
      ends[i] = seconds();
    });
  for (auto &t : threads) t.join();
  pthread_barrier_destroy(&barrier);
  return *std::max_element(ends.begin(), ends.end()) -
         *std::min_element(starts.begin(), starts.end());
}

// --- Reading

enum Hint { NONE, NTA, T0 };

// Reads n bytes from p as STREAMS streams, 128 bytes of each in turn; a multiple of that is read.
template <int STREAMS, Hint HINT, int AHEAD>
[[gnu::target("avx2")]] uint64_t scan(const char *p, size_t n) {
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

struct Pattern {
  const char *name;
  uint64_t (*scan)(const char *, size_t);
};
inline const Pattern PATTERNS[] = {
    {"1 stream", scan<1, NONE, 0>},
    {"1 stream, prefetchnta 4 KiB ahead", scan<1, NTA, 4096>},
    {"1 stream, prefetcht0 4 KiB ahead", scan<1, T0, 4096>},
    {"4 streams", scan<4, NONE, 0>},
    {"4 streams, prefetchnta 1 KiB ahead", scan<4, NTA, 1024>},
    {"4 streams, prefetcht0 1 KiB ahead", scan<4, T0, 1024>},
};

// --- Multiplying and adding: sums in 12 registers, of zeros, which cost what others cost

constexpr int CHAINS = 12;

// n steps of all sums; TEXT is one of sum \i, with zero in register 14 and room in 13.
#define STEPS(NAME, TEXT)                                                                      \
  inline void NAME(long n) {                                                                   \
    asm volatile("vzeroall\n"                                                                  \
                 "1: .irp i,0,1,2,3,4,5,6,7,8,9,10,11\n" TEXT "\n.endr\n"                      \
                 "dec %0\njnz 1b\nvzeroupper"                                                  \
                 : "+r"(n)::"cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", \
                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");      \
  }
STEPS(f32_avx2, "vfmadd231ps %%ymm14, %%ymm14, %%ymm\\i")
STEPS(f32_avx512, "vfmadd231ps %%zmm14, %%zmm14, %%zmm\\i")
// Unsigned by signed bytes, in three instructions.
STEPS(int8_avx2, "vpmaddubsw %%ymm14, %%ymm14, %%ymm13\nvpmaddwd %%ymm14, %%ymm13, %%ymm13\n"
                 "vpaddd %%ymm13, %%ymm\\i, %%ymm\\i")
STEPS(int8_avx512, "vpdpbusd %%zmm14, %%zmm14, %%zmm\\i")
#undef STEPS

struct Peak {
  const char *name;
  void (*run)(long n);
  double ops;  // of a step of one sum
  bool ready;  // has the CPU what it needs?
};
inline const Peak PEAKS[] = {
    {"f32 avx2", f32_avx2, 16, __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")},
    {"f32 avx512", f32_avx512, 32, bool(__builtin_cpu_supports("avx512f"))},
    {"int8 avx2", int8_avx2, 64, bool(__builtin_cpu_supports("avx2"))},
    {"int8 avx512", int8_avx512, 128, bool(__builtin_cpu_supports("avx512vnni"))},
};

// Thousand millions of operations a second, the best of some tries of about that many seconds.
inline double measure(const Peak &peak, unsigned n_threads, double duration) {
  long n = 100000;
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    double time = together(n_threads, [&](unsigned) { peak.run(n); });
    double speed = double(n) * CHAINS * peak.ops * n_threads / time / 1e9;
    if (i && speed > best) best = speed;  // the first one wakes the cores
    n = long(double(n) * duration / time) + 1;
  }
  return best;
}
