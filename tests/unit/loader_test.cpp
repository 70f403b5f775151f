// loader_test.cpp - whatever the bytes of a file are: the loader refuses them with words, or the
// engine runs on them.  It never crashes, hangs, or reads past the end, where a page faults.
// The file that is bent here, small and good, tests/e2e/bad_cases.py made beside the test program.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "cases.h"

using namespace engine;

class Loader : public testing::Test {
 protected:
  std::string good =
      read_file(std::filesystem::read_symlink("/proc/self/exe").parent_path() / "good.gguf");
  // Where the header ends: the tensors follow, of which the first is the embedding.
  size_t header = [&] {
    size_t last = good.rfind("output_norm.weight");  // the last info: dimensions, type, offset
    return last + strlen("output_norm.weight") + 4 + 8 + 4 + 8;
  }();

  // Loads the file and, where that succeeds, runs it: a prompt, two tokens, their text.
  // Returns what is wrong, or "".
  std::string try_file(const Guarded &file, bool *refused) {
    try {
      open(file, {.context = 24, .max_batch = 4});
    } catch (const Refused &r) {
      *refused = true;
      return r.fault.empty() ? "refused without a word" : "";
    }
    *refused = false;
    Tokens tokens = encode("the rain <b>\t\xff on it", true);
    tokens.resize(std::min<size_t>(tokens.size(), 20));
    restart();
    set_sampling({.top_k = 40, .top_p = 0.9f});
    if (tokens.empty()) tokens = {bos()};
    for (unsigned i = 0; i < 2; ++i) {
      Token token = sample(feed(tokens));
      text_of(tokens = {token});
    }
    return "";
  }

  void expect_nothing(const std::vector<std::string> &wrong) {
    for (auto &what : wrong) ADD_FAILURE() << what;
  }
};

TEST_F(Loader, TakesTheGoodFile) {
  bool refused = true;
  expect_nothing(sweep(1, [&](unsigned long) {
    std::string what = try_file(Guarded(good), &refused);
    return refused ? "refused" : what;
  }));
}

// Keys that files leave out, and what then holds: the good file says the same.
TEST_F(Loader, KnowsTheDefaults) {
  auto answer = [&](const Guarded &file) {
    open(file, {.context = 64});
    Tokens tokens = encode("the rain on the hill");
    tokens.insert(tokens.begin(), bos());
    restart();
    return feed(tokens);
  };
  for (const char *key : {"rope.freq_base", "attention.value_length", "ggml.bos_token_id",
                          "ggml.eos_token_id", "ggml.add_bos_token", "ggml.add_space_prefix"}) {
    std::string without = good;
    ASSERT_NE(without.find(key), std::string::npos) << key;
    without[without.find(key)] ^= 1;  // now it is another key
    std::string what = in_child([&] {
      if (answer(Guarded(without)) != answer(Guarded(good)))
        throw std::runtime_error("other logits");
    });
    EXPECT_EQ(what, "") << key;
  }
}

TEST_F(Loader, RefusesAFileCutAnywhereInItsHeader) {
  ASSERT_GT(header, 4000u);
  expect_nothing(sweep(header, [&](unsigned long n) -> std::string {
    bool refused;
    std::string what = try_file(Guarded(good.substr(0, n)), &refused);
    return refused ? what : "was taken";
  }));
}

TEST_F(Loader, RefusesAFileCutInItsTensors) {
  std::mt19937 random(3);
  expect_nothing(sweep(300, [&](unsigned long i) -> std::string {
    size_t n = i == 0 ? good.size() - 1 : header + random() % (good.size() - header);
    bool refused;
    std::string what = try_file(Guarded(good.substr(0, n)), &refused);
    return refused ? what : "was taken, cut at " + std::to_string(n);
  }));
}

TEST_F(Loader, SurvivesAnyByteOfTheHeader) {
  expect_nothing(sweep(header * 5, [&](unsigned long i) {
    std::string bent = good;
    char &c = bent[i / 5];
    const int values[] = {c ^ 1, c ^ 0x80, c + 1, 0, 0xff};
    c = char(values[i % 5]);
    bool refused;
    return try_file(Guarded(bent), &refused);
  }));
}

TEST_F(Loader, SurvivesAnyNumberInTheHeader) {
  static const unsigned long values[] = {~0ul, 1ul << 63, 1ul << 32, 0xffffffff, 0x7fffffff, 8};
  expect_nothing(sweep((header - 8) * 6, [&](unsigned long i) {
    std::string bent = good;
    memcpy(&bent[i / 6], &values[i % 6], i % 6 < 3 ? 8 : 4);
    bool refused;
    return try_file(Guarded(bent), &refused);
  }));
}

// Several faults at once, some far apart, and stretches that move.
TEST_F(Loader, SurvivesRandomDamage) {
  expect_nothing(sweep(20000, [&](unsigned long i) {
    std::mt19937 random{unsigned(i)};
    std::string bent = good;
    for (unsigned n = 1 + random() % 4; n--;) {
      size_t at = random() % header, length = 1 + random() % 16;
      switch (random() % 4) {
        case 0: bent[at] = char(random()); break;
        case 1: bent.erase(at, length); break;
        case 2: bent.insert(at, length, char(random())); break;
        default: bent.replace(at, length, bent.substr(random() % header, length));
      }
    }
    bool refused;
    return try_file(Guarded(bent), &refused);
  }));
}
