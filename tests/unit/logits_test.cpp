// logits_test.cpp - the forward pass against an fp64 oracle, and against itself: within an ISA the
// output is bit-identical for any number of threads, any batch and any size of the KV cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cases.h"

using namespace engine;

// How the engine calculates, and how near it must come to the oracle.  As the program does: f16
// keys and values, and 8-bit activations where weights are quantised.  The other ways are for the
// tests alone, with tolerances in which a mistake cannot hide.
struct Kind {
  const char *name;
  bool kv_f32, exact;
  Answers::Kind Answers::*tolerance;
};
static const Kind ACT_Q8 = {"act_q8", false, false, &Answers::act_q8},
                  KV_F16 = {"kv_f16", false, true, &Answers::kv_f16},
                  KV_F32 = {"f32", true, true, &Answers::f32};

struct Case {
  std::string model;
  Kind kind;
  friend void PrintTo(const Case &c, std::ostream *out) { *out << c.model << ' ' << c.kind.name; }
};

static std::vector<Case> in_each_way(std::vector<std::string> models) {
  std::vector<Case> cases;
  for (auto &model : models) {
    if (answers(model).quantised) cases.push_back({model, ACT_Q8});
    cases.push_back({model, KV_F16});
    cases.push_back({model, KV_F32});
  }
  return cases;
}

static std::string name_of(std::string s) {
  for (char &c : s)
    if (c == '-' || c == '.') c = '_';
  return s;
}

struct Split {
  unsigned batch, n_threads, context;
};

// Logits of every position of the model's prompt, one position after another.
static std::vector<float> logits_of(const std::string &model, const Kind &kind, Split run) {
  const Answers &a = answers(model);
  const Guarded &file = case_file(model + ".gguf");
  auto result = shared<float>(a.ids.size() * a.last.size());
  std::string what = in_child([&] {
    open(file, {run.context, 0, run.n_threads, kind.kv_f32, kind.exact});
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

constexpr unsigned MOST = 60;  // tokens of a batch

class Model : public testing::TestWithParam<Case> {
 protected:
  const std::string name = GetParam().model;
  const Kind &kind = GetParam().kind;
  const Answers &a = answers(name);
  const Answers::Kind &right = a.*kind.tolerance;

  // The tokens that follow a prompt, always the likeliest, and what they print.
  std::pair<Tokens, std::string> greedy(Tokens prompt, std::string_view text, unsigned n) {
    auto tokens = shared<Token>(n);
    auto printed = shared<char>(4096);
    std::string what = in_child([&] {
      open(case_file(name + ".gguf"), {256, 0, 1, kind.kv_f32, kind.exact});
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
  double worst = 0;
  for (unsigned batch : {1u, MOST}) {
    std::vector<float> logits = logits_of(name, kind, {batch, 1, 0});
    size_t n_vocab = a.last.size(), last = a.ids.size() - 1;
    auto check = [&](size_t position, Token token, double logit) {
      double error = std::fabs(double(logits[position * n_vocab + token]) - logit);
      worst = std::max(worst, error);
      EXPECT_LE(error, right.tolerance) << "position " << position << ", token " << token;
    };
    for (size_t i = 0; i < a.top.size() && !HasFailure(); ++i)
      for (auto [token, logit] : a.top[i]) check(i, token, logit);
    for (Token token = 0; token < n_vocab && !HasFailure(); ++token)
      check(last, token, a.last[token]);
  }
  RecordProperty("error", std::to_string(worst));
  RecordProperty("error_of_tolerance", std::to_string(worst / right.tolerance));
}

TEST_P(Model, GreedyTokensAreTheOracles) {
  auto [tokens, text] = greedy(a.ids, "", unsigned(a.greedy.size()));
  tokens.resize(right.n_safe);
  EXPECT_EQ(tokens, Tokens(a.greedy.begin(), a.greedy.begin() + right.n_safe));
  if (right.n_safe == a.greedy.size()) {
    EXPECT_EQ(text, a.greedy_text);
  }
}

// Prompts at which an engine with a known mistake says something else.
TEST_P(Model, SentinelsShowNoMistake) {
  for (auto &line : read_tsv("sentinels.tsv")) {
    bool strict = line[0] == "strict";  // margins that only f32 throughout is sure to keep
    if (line[1] != name + ".gguf" || (strict && !kind.kv_f32)) continue;
    auto said = greedy({}, from_json(line[3]), unsigned(std::stoul(line[4]))).second;
    EXPECT_EQ(said, from_hex(line[5])) << "the text of the mistake " << line[2] << "?";
  }
}

static std::string case_name(const testing::TestParamInfo<Case> &info) {
  return name_of(info.param.model) + "_" + info.param.kind.name;
}
INSTANTIATE_TEST_SUITE_P(Cases, Model, testing::ValuesIn(in_each_way(MODELS)), case_name);
INSTANTIATE_TEST_SUITE_P(Published, Model, testing::ValuesIn(in_each_way(PUBLISHED)), case_name);

class Text : public testing::TestWithParam<std::string> {};

TEST_P(Text, GivesTheIds) {
  const Answers &a = answers(GetParam());
  std::string what = in_child([&] {
    open(case_file(GetParam() + ".gguf"), {.context = 256});
    Tokens ids = encode(a.text);
    ids.insert(ids.begin(), bos());
    if (ids != a.ids) throw std::runtime_error(testing::PrintToString(ids));
  });
  EXPECT_EQ(what, "");
}

static std::string model_name(const testing::TestParamInfo<std::string> &info) {
  return name_of(info.param);
}
INSTANTIATE_TEST_SUITE_P(Cases, Text, testing::ValuesIn(MODELS), model_name);
INSTANTIATE_TEST_SUITE_P(Published, Text, testing::ValuesIn(PUBLISHED), model_name);

// As the program calculates.
class Bits : public testing::TestWithParam<std::string> {};

TEST_P(Bits, DependOnNeitherBatchNorThreadsNorContext) {
  std::vector<float> once = logits_of(GetParam(), ACT_Q8, {1, 1, 0});
  unsigned n = unsigned(answers(GetParam()).ids.size());
  std::vector<Split> runs = {{MOST, 1, 500}, {3, 2, n + 9}, {MOST, 3, 0}};
  std::vector<Split> more = {{3, 1, 0}, {1, 2, 0},    {1, 3, n},
                             {3, 3, 0}, {MOST, 2, n}, {MOST, 5, 0}};
  for (const char *model : {"gemma-f32", "gemma2-f16", "gemma3-q8_0", "gemma-q4_k_m"})
    if (GetParam() == model) runs.insert(runs.end(), more.begin(), more.end());
  for (Split run : runs) {
    std::vector<float> again = logits_of(GetParam(), ACT_Q8, run);
    EXPECT_EQ(memcmp(once.data(), again.data(), once.size() * 4), 0)
        << "batch " << run.batch << ", threads " << run.n_threads << ", context " << run.context;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Bits, testing::ValuesIn(MODELS), model_name);

// A text that is many times longer than the sliding window.
class Window : public testing::TestWithParam<Case> {
 protected:
  const std::string name = GetParam().model;
  const Kind &kind = GetParam().kind;
  const LongText &text = long_text(name);
  const double tolerance = (answers(name).*kind.tolerance).tolerance;

  void start(unsigned max_batch, unsigned context) {
    engine::open(case_file(name + ".gguf"), {context, max_batch, 1, kind.kv_f32, kind.exact});
  }
  Tokens cut(unsigned begin, unsigned end) {
    return Tokens(text.ids.begin() + begin, text.ids.begin() + end);
  }
  void compare(const Logits &logits, unsigned position) {
    for (auto [token, right] : text.at.at(position))
      if (!(std::fabs(double(logits[token]) - right) <= tolerance))
        throw std::runtime_error("position " + std::to_string(position) + ", token " +
                                 std::to_string(token) + ": " + std::to_string(logits[token]) +
                                 ", not " + std::to_string(right));
  }
};

// Prompts that end at the window's edge, or near it, and are then continued token by token.
TEST_P(Window, EdgeIsWhereItShouldBe) {
  std::string what = in_child([&] {
    for (unsigned max_batch : {MOST, 5u, 1u}) {
      start(max_batch, 128);
      for (unsigned n = text.window - 1; n <= text.window + 2; ++n) {
        restart();
        compare(feed(cut(0, n)), n - 1);
        for (unsigned i = n; i <= text.window + 1; ++i) compare(feed({text.ids[i]}), i);
      }
    }
  });
  EXPECT_EQ(what, "");
}

// The ring that keys and values are kept in comes round several times: in batches of any size; in a
// context that is just long enough, and in one that is much longer.
TEST_P(Window, RingComesRound) {
  unsigned n = unsigned(text.ids.size());
  std::string what = in_child([&] {
    std::vector<Logits> once;
    std::vector<std::pair<unsigned, unsigned>> runs = {{MOST, 5000}, {3, 2 * n}, {1, n}};
    if (kind.kv_f32) runs = {{61, n}, {7, n}};
    for (auto [max_batch, context] : runs) {
      start(max_batch, context);
      std::vector<Logits> here;
      unsigned done = 0;
      for (auto &[position, best] : text.at) {
        here.push_back(feed(cut(done, position + 1)));
        compare(here.back(), position);
        done = position + 1;
      }
      if (once.empty()) once = here;
      if (here != once) throw std::runtime_error("other logits in batches of " +
                                                 std::to_string(max_batch));
    }
    start(0, n);
    feed(cut(0, 17));
    if (feed(cut(17, n)) != once.back()) throw std::runtime_error("other logits at last");
  });
  EXPECT_EQ(what, "");
}

// As the program calculates, and as tight as can be.
static std::vector<Case> with_window() {
  std::vector<Case> cases = in_each_way(MODELS);
  std::erase_if(cases, [](const Case &c) {
    bool between = answers(c.model).quantised && c.kind.name == KV_F16.name;
    return between || c.model.find("gemma-") == 0;
  });
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Cases, Window, testing::ValuesIn(with_window()), case_name);
