// logits_test.cpp - the forward pass against an fp64 oracle, and against itself: within an ISA the
// output is bit-identical for any number of threads, any batch and any size of the KV cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cases.h"

using namespace engine;

struct Split {
  unsigned batch, n_threads, context;
};

// Logits of every position of the model's prompt, one position after another.
static std::vector<float> logits_of(const std::string &model, bool kv_f32, Split run) {
  const Answers &a = answers(model);
  const Guarded &file = case_file(model + ".gguf");
  auto result = shared<float>(a.ids.size() * a.last.size());
  std::string what = in_child([&] {
    open(file, {run.context, 0, run.n_threads, kv_f32});
    float *to = result.data();
    for (size_t i = 0; i < a.ids.size(); i += run.batch) {
      auto end = a.ids.begin() + long(std::min<size_t>(i + run.batch, a.ids.size()));
      for (const Logits &column : feed_batch(Tokens(a.ids.begin() + long(i), end)))
        to = std::copy(column.begin(), column.end(), to);
    }
    if (to != &*result.end()) throw std::runtime_error("not as many logits as expected");
  });
  EXPECT_EQ(what, "") << "batch " << run.batch << ", threads " << run.n_threads;
  std::vector<float> copy(result.begin(), result.end());
  munmap(result.data(), result.size_bytes());
  return copy;
}

// A model and the type of its KV cache.
class Model : public testing::TestWithParam<std::tuple<const char *, bool>> {
 protected:
  const std::string name = std::get<0>(GetParam());
  const bool kv_f32 = std::get<1>(GetParam());
  const Answers &a = answers(name);
  const Answers::Kind &kind = kv_f32 ? a.f32 : a.kv_f16;
  const unsigned whole = unsigned(a.ids.size());

  // The tokens that follow a prompt, always the likeliest, and what they print.
  std::pair<Tokens, std::string> greedy(Tokens prompt, std::string_view text, unsigned n) {
    auto tokens = shared<Token>(n);
    auto printed = shared<char>(4096);
    std::string what = in_child([&] {
      open(case_file(name + ".gguf"), {256, 0, 1, kv_f32});
      if (prompt.empty()) {
        prompt = encode(text);
        prompt.insert(prompt.begin(), bos());
        restart();
      }
      set_sampling({.temperature = 0});
      for (Token &token : tokens) {
        token = sample(feed(prompt));
        prompt = {token};
      }
      std::string s = text_of(Tokens(tokens.begin(), tokens.end()));
      memcpy(printed.data(), s.data(), s.size());
    });
    EXPECT_EQ(what, "");
    return {Tokens(tokens.begin(), tokens.end()), printed.data()};
  }
};

TEST_P(Model, LogitsAreTheOracles) {
  std::vector<float> logits = logits_of(name, kv_f32, {1, 1, 0});
  size_t n_vocab = a.last.size();
  double worst = 0;
  auto check = [&](size_t position, Token token, double right) {
    double error = std::fabs(double(logits[position * n_vocab + token]) - right);
    worst = std::max(worst, error);
    EXPECT_LE(error, kind.tolerance) << "position " << position << ", token " << token;
  };
  for (size_t i = 0; i < a.top.size() && !HasFailure(); ++i)
    for (auto [token, logit] : a.top[i]) check(i, token, logit);
  for (Token token = 0; token < n_vocab && !HasFailure(); ++token)
    check(whole - 1, token, a.last[token]);
  RecordProperty("error_of_tolerance", std::to_string(worst / kind.tolerance));
}

TEST_P(Model, LogitsDependOnNeitherBatchNorThreadsNorContext) {
  std::vector<float> once = logits_of(name, kv_f32, {1, 1, 0});
  std::vector<Split> runs = {{1, 1, 64}, {5, 2, 500}, {whole, 5, 0}};
  for (unsigned batch : {1u, 3u, whole})
    for (unsigned n_threads : {1, 2, 3})
      if (batch * n_threads > 1) runs.push_back({batch, n_threads, 0});
  for (Split run : runs) {
    std::vector<float> again = logits_of(name, kv_f32, run);
    EXPECT_EQ(memcmp(once.data(), again.data(), once.size() * 4), 0)
        << "batch " << run.batch << ", threads " << run.n_threads << ", context " << run.context;
  }
}

TEST_P(Model, GreedyTokensAreTheOracles) {
  auto [tokens, text] = greedy(a.ids, "", unsigned(a.greedy.size()));
  tokens.resize(kind.n_safe);
  EXPECT_EQ(tokens, Tokens(a.greedy.begin(), a.greedy.begin() + kind.n_safe));
  if (kind.n_safe == a.greedy.size()) {
    EXPECT_EQ(text, a.greedy_text);
  }
}

// Prompts at which an engine with a known mistake says something else.
TEST_P(Model, SentinelsShowNoMistake) {
  for (auto &line : read_tsv("sentinels.tsv")) {
    bool strict = line[0] == "strict";  // margins that only f32 throughout is sure to keep
    if (line[1] != name + ".gguf" || (strict && !kv_f32)) continue;
    auto said = greedy({}, from_json(line[3]), unsigned(std::stoul(line[4]))).second;
    EXPECT_EQ(said, from_hex(line[5])) << "the text of the mistake " << line[2] << "?";
  }
}

INSTANTIATE_TEST_SUITE_P(All, Model,
                         testing::Combine(testing::ValuesIn(MODELS), testing::Bool()),
                         [](const auto &info) {
                           std::string s = std::get<0>(info.param) + 6;
                           return s + (std::get<1>(info.param) ? "_kv_f32" : "_kv_f16");
                         });
