// sampler_test.cpp - what is drawn, against a plain implementation in f64: temperature, then top-k,
// then top-p (the fewest of the best whose probabilities reach p), and ties go to the lower token.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "cases.h"

using namespace engine;

class Sampler : public testing::Test {
 protected:
  std::mt19937 random{7};
  void SetUp() override { open(case_file("gemma-f16.gguf")); }  // for its room; logits are ours

  // n logits, rounded to eighths where there are to be ties.
  Logits logits(unsigned n, bool ties, double spread = 3) {
    std::normal_distribution<double> normal(0, spread);
    Logits l(n);
    for (float &x : l) x = float(ties ? std::round(normal(random)) / 8 : normal(random));
    return l;
  }

  std::vector<Token> ranking(const Logits &l) {
    std::vector<Token> rank(l.size());
    std::iota(rank.begin(), rank.end(), 0u);
    std::stable_sort(rank.begin(), rank.end(), [&](Token a, Token b) { return l[a] > l[b]; });
    return rank;
  }

  // Probabilities of all tokens, 0 for those that may not be drawn.
  std::vector<double> probabilities(const Logits &l, const Sampling &s) {
    std::vector<Token> rank = ranking(l);
    std::vector<double> p(l.size());
    for (Token i : rank) p[i] = std::exp((double(l[i]) - double(l[rank[0]])) / s.temperature);
    size_t keep = s.top_k && s.top_k < l.size() ? s.top_k : l.size();
    auto cut = [&] {
      double sum = 0;
      for (size_t i = 0; i < rank.size(); ++i) i < keep ? sum += p[rank[i]] : p[rank[i]] = 0;
      for (double &x : p) x /= sum;
    };
    cut();
    size_t reach = 0;
    for (double sum = 0; reach < keep && sum < s.top_p; ++reach) sum += p[rank[reach]];
    keep = std::max<size_t>(reach, 1);
    cut();
    return p;
  }

  // Draws often, with a few seeds, and compares; margin is what a sum of f32 may be off.
  void check(const Logits &l, Sampling s, double margin = 3e-6) {
    const unsigned n_draws = 3000;
    std::vector<unsigned> drawn(l.size());
    for (s.seed = 1; s.seed <= 3; ++s.seed) {
      set_sampling(s);
      for (unsigned i = 0; i < n_draws / 3; ++i) {
        Token token = sample(l);
        ASSERT_LT(token, l.size());
        ++drawn[token];
      }
    }
    Sampling more = s;
    more.top_p += float(margin);
    std::vector<double> p = probabilities(l, s), allowed = probabilities(l, more);
    double chi2 = 0, rare = 0, rare_drawn = 0;
    int cells = 0;
    auto add = [&](double expected, double seen) {
      chi2 += (seen - expected) * (seen - expected) / expected;
      ++cells;
    };
    for (Token i = 0; i < l.size(); ++i) {
      EXPECT_TRUE(drawn[i] == 0 || allowed[i] > 0) << "token " << i << " may not be drawn";
      if (p[i] * n_draws < 8) rare += p[i] * n_draws, rare_drawn += drawn[i];
      else add(p[i] * n_draws, drawn[i]);
    }
    if (rare >= 8) add(rare, rare_drawn);
    // Mean cells - 1, deviation sqrt(2 (cells - 1)): six of them and a bit.
    EXPECT_LT(chi2, cells + 6 * std::sqrt(2 * cells) + 8)
        << l.size() << " logits, T " << s.temperature << ", k " << s.top_k << ", p " << s.top_p;
  }
};

TEST_F(Sampler, TakesTheBestAtTemperatureZero) {
  for (unsigned round = 0; round < 50; ++round) {
    Logits l = logits(1 + unsigned(random() % 1021), round % 2);
    set_sampling({.temperature = 0, .top_k = 40, .top_p = 0.5f});
    EXPECT_EQ(sample(l), ranking(l)[0]);  // of equal ones the lower token
  }
  set_sampling({.temperature = 0});
  EXPECT_EQ(sample({-5, 2, -1, 2, 2}), 1u);
  EXPECT_EQ(sample({-1e30f, -1e30f, -1e30f}), 0u);
}

TEST_F(Sampler, DrawsByTemperature) {
  for (float temperature : {0.1f, 0.7f, 1.0f, 3.0f}) {
    check(logits(1021, false), {.temperature = temperature});
    check(logits(1021, true), {.temperature = temperature});
  }
}

// The head leaves the last scale of capped logits to the sampler.
TEST_F(Sampler, DrawsFromCappedLogits) {
  open(case_file("gemma2-q4_0.gguf"));  // capped at 8
  for (float temperature : {0.3f, 1.0f, 2.5f}) {
    Logits l = logits(1021, false);
    for (float &x : l) x = 8 * std::tanh(x / 8);
    check(l, {.temperature = temperature});
    check(l, {.temperature = temperature, .top_k = 50, .top_p = 0.9f});
  }
}

TEST_F(Sampler, DrawsFromTheTopK) {
  for (unsigned k : {1u, 2u, 7u, 64u, 1020u, 1021u, 1022u, ~0u}) {
    check(logits(1021, false), {.temperature = 2, .top_k = k});
    check(logits(1021, true), {.temperature = 2, .top_k = k});
  }
}

TEST_F(Sampler, DrawsFromTheTopP) {
  for (float p : {0.0f, 1e-9f, 0.1f, 0.5f, 0.9f, 0.95f, 0.999f, 1.0f}) {
    check(logits(1021, false), {.temperature = 1, .top_p = p});
    check(logits(1021, true), {.temperature = 1, .top_p = p});
    check(logits(1021, false), {.temperature = 1.5, .top_k = 30, .top_p = p});
    check(logits(1021, true), {.temperature = 1.5, .top_k = 30, .top_p = p});
  }
}

// With k alone the set is exact: every token of it is drawn in the end, no other ever.
TEST_F(Sampler, DrawsAllOfTheTopKAndNoOther) {
  Logits l(1021, -1.0f);  // ties all over, and 9 better ones
  for (unsigned i = 0; i < 9; ++i) l[1000 - 100 * i] = 0;
  for (unsigned k : {5u, 9u, 12u}) {
    std::vector<Token> rank = ranking(l);
    std::set<Token> right(rank.begin(), rank.begin() + k), drawn;
    set_sampling({.temperature = 1, .top_k = k});
    for (unsigned i = 0; i < 2000; ++i) drawn.insert(sample(l));
    EXPECT_EQ(drawn, right);
  }
}

// Powers of two: every sum is exact, so the set is, p hit to the last bit included.
TEST_F(Sampler, DrawsAllOfTheTopPAndNoOther) {
  const Logits l(8, 1.0f);  // 1/8 each
  for (unsigned n = 1; n <= 8; ++n) {
    for (float less : {0.0f, 0.01f}) {
      std::set<Token> drawn, right;
      for (Token token = 0; token < n; ++token) right.insert(token);
      set_sampling({.temperature = 1, .top_p = float(n) / 8 - less});
      for (unsigned i = 0; i < 500; ++i) drawn.insert(sample(l));
      EXPECT_EQ(drawn, right) << "p " << float(n) / 8 - less;
    }
  }
}

TEST_F(Sampler, WorksWithFewTokens) {
  for (unsigned n : {4u, 5u, 7u, 8u, 9u, 16u, 17u})
    for (unsigned k : {0u, 1u, 3u, 40u}) check(logits(n, n % 2), {.temperature = 1, .top_k = k});
}

TEST_F(Sampler, TakesTheBestAtATinyTemperature) {
  for (float temperature : {1e-3f, 1e-10f, 1e-30f, 1e-38f, 1e-40f, 1e-45f}) {
    Logits l = logits(1021, false, 10);
    l[500] = 60;
    set_sampling({.temperature = temperature});
    for (unsigned i = 0; i < 20; ++i) ASSERT_EQ(sample(l), 500u) << "T " << temperature;
  }
}

TEST_F(Sampler, DrawsEvenlyAtAHugeTemperature) {
  for (float temperature : {1e6f, 1e30f, 3e38f})
    check(logits(200, false), {.temperature = temperature}, 1e-3);
}

TEST_F(Sampler, DependsOnTheSeedAlone) {
  Logits l = logits(1021, false, 1);
  auto draws = [&](unsigned seed) {
    set_sampling({.temperature = 1, .seed = seed});
    std::vector<Token> tokens;
    for (unsigned i = 0; i < 40; ++i) tokens.push_back(sample(l));
    return tokens;
  };
  std::set<std::vector<Token>> all;
  const unsigned seeds[] = {0, 1, 2, 3, 42, 1u << 16, 1u << 31, ~0u};
  for (unsigned seed : seeds) {
    std::vector<Token> tokens = draws(seed);
    EXPECT_EQ(tokens, draws(seed)) << "seed " << seed;
    EXPECT_GT(std::set(tokens.begin(), tokens.end()).size(), 10u) << "seed " << seed;
    all.insert(tokens);
  }
  EXPECT_EQ(all.size(), std::size(seeds));
}

TEST_F(Sampler, DoesNotRepeatItself) {
  const Logits l(16, 0.0f);
  for (unsigned seed : {1u, 2u, 1u << 31}) {
    set_sampling({.temperature = 1, .seed = seed});
    std::vector<Token> drawn(1 << 20);
    for (Token &token : drawn) token = sample(l);
    auto again = std::search(drawn.begin() + 1, drawn.end(), drawn.begin(), drawn.begin() + 40);
    EXPECT_EQ(again, drawn.end()) << "seed " << seed << ": after " << again - drawn.begin();
  }
}

// Users take seeds 1, 2, 3 ...: the first token must not be the same for all of them.
TEST_F(Sampler, DrawsByProbabilityAcrossSeeds) {
  Logits l(10, 0.0f);
  std::vector<unsigned> drawn(10);
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    set_sampling({.temperature = 1, .seed = seed});
    ++drawn[sample(l)];
  }
  for (unsigned n : drawn) EXPECT_NEAR(n, 200, 80);
}
