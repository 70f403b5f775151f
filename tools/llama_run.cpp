// llama_run.cpp - runs a model with llama.cpp's library, as bench.py runs it with mote.
// Called by bench.py.  The library is the one in the npm package @node-llama-cpp/linux-x64 3.21.1
// (llama.cpp v0.4.0), or one of another build with the same interface.
//     g++ -O2 -std=c++20 tools/llama_run.cpp -ldl -o build/bench/llama_run
//     llama_run LIBRARY_FOLDER MODEL THREADS PROMPT_TOKENS TOKENS [CONTEXT]
// Reads a prompt of random tokens, decodes greedily behind it and prints the figures as mote does.
// Loading is not counted, and one token is decoded beforehand, so that all of it is ready.  With a
// CONTEXT it starts as a user's program does: a context of that size, nothing beforehand, and the
// number of the first token is printed as soon as it is known.
//
// No header of llama.cpp is used.  The structures are those of include/llama.h of that release, so
// far as to know their size and the fields that are set here; main() checks some values that the
// library puts into them.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

struct ModelParams {  // llama_model_params
  void *devices, *tensor_buffer_overrides;
  int32_t n_gpu_layers, split_mode, load_mode, lazy_mode, main_gpu;
  const float *tensor_split;
  void *callbacks[2], *kv_overrides;
  bool flags[6];
};
struct ContextParams {  // llama_context_params
  uint32_t n_ctx, n_batch, n_ubatch, counts[4];
  int32_t n_threads, n_threads_batch, enums[5];
  float rope_and_yarn[6];
  uint32_t yarn_orig_ctx;
  float defrag_threshold;
  void *eval_callback[2];
  int32_t type_k, type_v;
  void *abort_callback[2];
  bool flags[6];
  void *samplers;
  size_t n_samplers;
  void *other_context;
};
struct Batch {  // llama_batch
  int32_t n_tokens;
  void *arrays[6];
};

[[noreturn]] static void fail(const std::string &what) {
  fprintf(stderr, "llama_run: %s\n", what.c_str());
  exit(1);
}

// Loads STEM.so, which may have a version in its name.
static void *library(const std::string &folder, const std::string &stem) {
  std::error_code none;
  for (auto &file : std::filesystem::directory_iterator(folder, none))
    if (file.path().filename().string().starts_with(stem + ".")) {
      void *handle = dlopen(file.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
      if (!handle) fail(dlerror());
      return handle;
    }
  fail("no " + stem + ".so in " + folder);
}

// The function of that name, of a type that the caller says: call<int(int)>(lib, "abs")(-1).
template <class Type>
Type *call(void *lib, const char *name) {
  void *found = dlsym(lib, name);
  if (!found) fail(std::string("the library has no ") + name);
  return reinterpret_cast<Type *>(found);
}

static double seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

static void no_log(int, const char *, void *) {}

int main(int argc, char **argv) {
  if (argc != 6 && argc != 7)
    fail("usage: llama_run LIBRARY_FOLDER MODEL THREADS PROMPT_TOKENS TOKENS [CONTEXT]");
  std::string folder = argv[1];
  int n_threads = atoi(argv[3]), n_prompt = atoi(argv[4]), n_decode = atoi(argv[5]);
  if (n_threads < 1 || n_prompt < 1 || n_decode < 1) fail("numbers are at least 1");
  bool start = argc == 7;
  int n_context = start ? atoi(argv[6]) : n_prompt + n_decode + 8;
  if (n_context < n_prompt + n_decode) fail("the context is too small");

  library(folder, "libggml-base");
  void *ggml = library(folder, "libggml"), *llama = library(folder, "libllama");
  call<void(void (*)(int, const char *, void *), void *)>(llama, "llama_log_set")(no_log, nullptr);
  call<void(const char *)>(ggml, "ggml_backend_load_all_from_path")(folder.c_str());
  call<void()>(llama, "llama_backend_init")();

  auto model_params = call<ModelParams()>(llama, "llama_model_default_params")();
  if (model_params.split_mode != 1 || model_params.main_gpu != 0)
    fail("another release: llama_model_params");
  auto load = call<void *(const char *, ModelParams)>(llama, "llama_model_load_from_file");
  void *model = load(argv[2], model_params);
  if (!model) fail(std::string("cannot load ") + argv[2]);
  auto vocab = call<const void *(const void *)>(llama, "llama_model_get_vocab")(model);
  int n_vocab = call<int(const void *)>(llama, "llama_vocab_n_tokens")(vocab);

  auto params = call<ContextParams()>(llama, "llama_context_default_params")();
  if (params.n_ctx != 512 || params.n_batch != 2048 || params.n_ubatch != 512 ||
      params.type_k != 1 || params.type_v != 1 || !params.flags[4])
    fail("another release: llama_context_params");
  params.n_ctx = uint32_t(n_context);
  params.n_threads = params.n_threads_batch = n_threads;
  params.flags[4] = false;  // swa_full: as in llama.cpp's own programs, no cache beyond windows
  auto make_context = call<void *(void *, ContextParams)>(llama, "llama_init_from_model");
  void *context = make_context(model, params);
  if (!context) fail("cannot make a context");

  auto one_batch = call<Batch(int32_t *, int32_t)>(llama, "llama_batch_get_one");
  auto llama_decode = call<int(void *, Batch)>(llama, "llama_decode");
  auto logits = call<float *(void *, int)>(llama, "llama_get_logits_ith");
  double time = 0;  // of passes through the model, as mote measures it: without choosing tokens
  // Feeds n tokens and returns the likeliest next one.
  auto feed = [&](int32_t *tokens, int n) {
    time -= seconds();
    for (int at = 0; at < n; at += 2048)
      if (llama_decode(context, one_batch(tokens + at, std::min(n - at, 2048))))
        fail("cannot decode");
    const float *l = logits(context, -1);  // waits for them
    time += seconds();
    return int32_t(std::max_element(l, l + n_vocab) - l);
  };

  std::mt19937 random(1);
  std::vector<int32_t> prompt(size_t(n_prompt), 2);  // <bos>
  for (size_t i = 1; i < prompt.size(); ++i) prompt[i] = int32_t(random() % unsigned(n_vocab));
  if (!start) {
    feed(prompt.data(), 1);
    auto memory = call<void *(const void *)>(llama, "llama_get_memory")(context);
    call<void(void *, bool)>(llama, "llama_memory_clear")(memory, true);
  }

  time = 0;
  int32_t token = feed(prompt.data(), n_prompt);
  double read = time;
  if (start) {
    printf("token %d\n", token);
    fflush(stdout);
  }
  for (int i = 0; i < n_decode; ++i) token = feed(&token, 1);
  printf("prompt %d, %.2f tok/s; answer %d, %.2f tok/s\n", n_prompt,
         n_prompt / read, n_decode, n_decode / (time - read));
}
