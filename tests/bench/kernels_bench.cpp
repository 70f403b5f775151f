// kernels_bench.cpp - how fast is each kernel on its own, against the limits of one core?
// Built and run by `make bench-kernels`, with the very objects of the engine.  The counters:
//     GB/s       of weights, or of everything that is read and written where there are none
//     GFLOP/s    of matmul_*: 2 * n * rows * cols
//     of_limit   the time that the limits of a core allow over the time taken: the time to read so
//                many bytes, out of memory or out of the cache, or to compute the operations with
//                the best instructions of the ISA (of x86_64, for the portable one), whichever is
//                longer.  They are measured behind each benchmark.  A kernel that writes much can
//                be above 1, for a core writes beside reading.
// Read first: asm/kernels.h, tools/limits.h.
#include <benchmark/benchmark.h>
#include <time.h>

#include <cstring>

#include "../../asm/kernels.h"
#include "../../tools/limits.h"

constexpr size_t MEMORY = 64 << 20;  // bytes that no cache holds
constexpr u32 N = 2048, ROWS = 512;  // a row of Gemma-2B; rows that the second level holds

// Bytes that are a sensible number in each type: 0x2c2c is 0.065 as f16.
static u8 *room(size_t bytes) {
  auto p = (u8 *)aligned_alloc(4096, (bytes + 8191) / 4096 * 4096);
  memset(p, 0x2c, bytes);
  return p;
}

static f32 *numbers(size_t n, f32 value) {
  auto p = (f32 *)room(n * sizeof(f32));
  std::fill(p, p + n, value);
  return p;
}

// CPU seconds of this thread: others may want the core, too.
static double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) / 1e9;
}

// A kernel of an AVX ISA leaves the upper halves of the registers dirty.
static void clean() {
  if (__builtin_cpu_supports("avx")) asm volatile("vzeroupper");
}

// The shortest of some times that work takes.
template <class Work>
static double shortest(Work work) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    double start = cpu_seconds();
    work();
    best = std::min(best, cpu_seconds() - start);
  }
  return best;
}

// Seconds to read so many bytes again and again.
static double reading_time(double bytes) {
  static const u8 *memory = room(MEMORY);
  if (!__builtin_cpu_supports("avx2")) return 0;
  size_t n = size_t(std::clamp(bytes, 1024.0, double(MEMORY)));
  int passes = int(1e6 / double(n)) + 1;
  double best = 1e9;
  for (auto &pattern : PATTERNS)
    best = std::min(best, shortest([&] {
      for (int i = 0; i < passes; ++i)
        benchmark::DoNotOptimize(pattern.scan((const char *)memory, n));
    }));
  return best / passes * bytes / double(n);
}

// Seconds to compute so many operations, of bytes or of floats.
static double computing_time(double operations, bool bytes) {
  const char *name = strstr(cpu_needs, "512") ? bytes ? "int8 avx512" : "f32 avx512"
                                              : bytes ? "int8 avx2" : "f32 avx2";
  for (auto &peak : PEAKS)
    if (peak.ready && !strcmp(peak.name, name)) {
      long n = 20000;
      return shortest([&] { peak.run(n); }) * operations / (double(n) * CHAINS * peak.ops);
    }
  return 0;
}

// Runs the kernel as often as it takes; bytes and operations are those of one call.
template <class Kernel>
static void measure(benchmark::State &state, double bytes, double operations, bool int8,
                    Kernel kernel) {
  kernel();  // brings what can be there into the cache
  double start = cpu_seconds();
  for (auto _ : state) kernel();
  double time = (cpu_seconds() - start) / double(state.iterations());
  clean();
  double limit = reading_time(bytes);
  state.counters["GB/s"] = bytes / time / 1e9;
  if (operations > 0) {
    state.counters["GFLOP/s"] = operations / time / 1e9;
    limit = std::max(limit, computing_time(operations, int8));
  }
  state.counters["of_limit"] = limit / time;
}

// --- The kernels of a weight type

using MatmulKernel = void(const Matmul *, u32, u32);
using VectorKernel = void(f32 *, const f32 *, const void *, u32, u32, f32);

struct Type {
  const char *name;
  MatmulKernel *matmul;
  VectorKernel *row;
  u32 block, bytes;  // weights in a block, bytes
};
#define TYPE(name, block, bytes) {#name, matmul_##name, row_##name, block, bytes}
static const Type TYPES[] = {
    TYPE(f32, 1, 4),    TYPE(f16, 1, 2),      TYPE(bf16, 1, 2),     TYPE(q8_0, 32, 34),
    TYPE(q4_0, 32, 18), TYPE(q4_1, 32, 20),   TYPE(q5_0, 32, 22),   TYPE(q4_k, 256, 144),
    TYPE(q5_k, 256, 176), TYPE(q6_k, 256, 210),
};

static void run_matmul(benchmark::State &state, const Type &type, u32 cols) {
  u64 stride = N / type.block * type.bytes;
  u32 rows = cols == 1 ? u32(MEMORY / stride) & ~3u : ROWS;
  u8 *w = room(rows * stride), *x = room(size_t(cols) * (N + COLUMN_PAD) * sizeof(f32));
  f32 *y = numbers(size_t(cols) * rows, 0);
  Matmul m = {w, x, y, stride, N, cols, rows};
  measure(state, double(rows * stride), 2.0 * N * rows * cols, type.block > 1,
          [&] { type.matmul(&m, 0, rows); });
  free(w), free(x), free(y);
}

static void run_row(benchmark::State &state, const Type &type) {
  u32 bytes = N / type.block * type.bytes;
  u8 *w = room(bytes);
  f32 *y = numbers(N, 0);
  measure(state, bytes + 4.0 * N, 0, false, [&] { type.row(y, nullptr, w, N, 0, 1); });
  free(w), free(y);
}

// --- The kernels of a vector: y and x are such that nothing grows or fades in a million calls

struct Vector {
  const char *name;
  VectorKernel *kernel;
  u32 n;
  f32 y, x;      // what all elements are
  double bytes;  // read and written for an element
};
static const Vector VECTORS[] = {
    {"quantise", quantise, N, 0, 1, 4 + sizeof(Quantised) / 32.0},
    {"rmsnorm", rmsnorm, N, 0, 1, 12},
    {"add", add, N, 0, 1e-6f, 12},
    {"angles", angles, 256, 0, 0, 4},
    {"rope", rope, 256, 1, 0.70710678f, 12},
    {"softcap", softcap, N, 1, 0, 8},
    {"softmax", softmax, N, 1, 0, 8},
    {"geglu", geglu, 16384, 8, 1, 12},
};

static void run_vector(benchmark::State &state, const Vector &v) {
  f32 *y = numbers(v.n, v.y), *x = numbers(v.n, v.x), *w = numbers(v.n, 1);
  w[1] = 10000;  // the base, for angles()
  measure(state, v.bytes * v.n, 0, false, [&] { v.kernel(y, x, w, v.n, 1000, 1); });
  free(y), free(x), free(w);
}

// A column of the values' cache: elements far apart.
static void run_store(benchmark::State &state, u64 stride) {
  u8 *to = room(256 * stride);
  f32 *from = numbers(256, 1);
  measure(state, 6.0 * 256, 0, false, [&] { store_f16(to, from, 256, stride); });
  free(to), free(from);
}

int main(int argc, char **argv) {
  auto add_case = [](const std::string &name, auto run) {
    benchmark::RegisterBenchmark(name.c_str(), run);
  };
  for (auto &type : TYPES)
    for (u32 cols : {1u, 64u})
      add_case("matmul_" + std::string(type.name) + "/" + std::to_string(cols),
               [&type, cols](benchmark::State &s) { run_matmul(s, type, cols); });
  for (auto &type : TYPES)
    add_case("row_" + std::string(type.name), [&type](benchmark::State &s) { run_row(s, type); });
  for (auto &v : VECTORS)
    add_case(v.name, [&v](benchmark::State &s) { run_vector(s, v); });
  for (u64 stride : {2, 8208})
    add_case("store_f16/" + std::to_string(stride),
             [stride](benchmark::State &s) { run_store(s, stride); });

  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  if (!cpu_ready()) {
    fprintf(stderr, "kernels_bench: this build %s\n", cpu_needs);
    return 1;
  }
  clean();
  benchmark::RunSpecifiedBenchmarks();
}
