// loader_test.cpp - whatever the bytes of a file are: the loader refuses them with words, or the
// engine runs on them.  It never crashes, hangs, or reads past the end, where a page faults.
// The files that are bent here, small and good, are made by tests/e2e/bad_cases.py.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <set>

#include "cases.h"

using namespace engine;

static const auto FOLDER = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "good";

// Loads the file and, where that succeeds, runs it: a prompt, two tokens, their text.
// Returns what is wrong, or "".
static std::string try_file(const Guarded &file, bool *refused) {
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

static void expect_nothing(const std::vector<std::string> &wrong) {
  for (auto &what : wrong) ADD_FAILURE() << what;
}

class Loader : public testing::TestWithParam<const char *> {
 protected:
  std::string good = read_file(FOLDER / ("good-" + std::string(GetParam()) + ".gguf"));
  // Where the header ends: the tensors follow, of which the first is the embedding.
  size_t header = [&] {
    size_t last = good.rfind("output_norm.weight");  // the last info: dimensions, type, offset
    return last + strlen("output_norm.weight") + 4 + 8 + 4 + 8;
  }();
  // Of one file all places are tried, of the others one of so many, by chance.
  unsigned sparse = GetParam() == std::string("gemma") ? 1 : 16;

  void sweep_places(size_t places, const std::function<std::string(size_t)> &f) {
    expect_nothing(sweep(places / sparse, [&](unsigned long i) {
      std::mt19937 random{unsigned(i)};
      return f(i * sparse + random() % sparse);
    }));
  }
};

TEST_P(Loader, TakesTheGoodFile) {
  bool refused = true;
  expect_nothing(sweep(1, [&](unsigned long) {
    std::string what = try_file(Guarded(good), &refused);
    return refused ? "refused" : what;
  }));
}

TEST_P(Loader, RefusesAFileCutAnywhereInItsHeader) {
  ASSERT_GT(header, 4000u);
  sweep_places(header, [&](size_t n) -> std::string {
    bool refused;
    std::string what = try_file(Guarded(good.substr(0, n)), &refused);
    return refused ? what : "was taken";
  });
}

TEST_P(Loader, RefusesAFileCutInItsTensors) {
  std::mt19937 random(3);
  expect_nothing(sweep(300, [&](unsigned long i) -> std::string {
    size_t n = i == 0 ? good.size() - 1 : header + random() % (good.size() - header);
    bool refused;
    std::string what = try_file(Guarded(good.substr(0, n)), &refused);
    return refused ? what : "was taken, cut at " + std::to_string(n);
  }));
}

TEST_P(Loader, SurvivesAnyByteOfTheHeader) {
  sweep_places(header * 5, [&](size_t i) {
    std::string bent = good;
    char &c = bent[i / 5];
    const int values[] = {c ^ 1, c ^ 0x80, c + 1, 0, 0xff};
    c = char(values[i % 5]);
    bool refused;
    return try_file(Guarded(bent), &refused);
  });
}

TEST_P(Loader, SurvivesAnyNumberInTheHeader) {
  static const unsigned long values[] = {~0ul, 1ul << 63, 1ul << 32, 0xffffffff, 0x7fffffff, 8};
  sweep_places((header - 8) * 6, [&](size_t i) {
    std::string bent = good;
    memcpy(&bent[i / 6], &values[i % 6], i % 6 < 3 ? 8 : 4);
    bool refused;
    return try_file(Guarded(bent), &refused);
  });
}

// Several faults at once, some far apart, and stretches that move.
TEST_P(Loader, SurvivesRandomDamage) {
  expect_nothing(sweep(sparse > 1 ? 4000 : 20000, [&](unsigned long i) {
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

// Names of keys and tensors, and other strings, with the types behind them, change places.
TEST_P(Loader, SurvivesWordsThatChangePlaces) {
  std::vector<size_t> words;  // strings of the metadata and the infos, but for the tokens
  for (size_t i = 24; i + 8 < header; ++i) {
    unsigned long n;
    memcpy(&n, &good[i], 8);
    if (n >= 6 && n < 64 && i + 8 + n <= header && !memchr(&good[i + 8], 0, n)) words.push_back(i);
  }
  ASSERT_GT(words.size(), 40u);
  expect_nothing(sweep(1500, [&](unsigned long i) {
    std::mt19937 random{unsigned(i)};
    auto word = [&] {
      size_t at = words[random() % words.size()];
      return std::pair(at, size_t(8 + (unsigned char)good[at]));
    };
    auto [to, old] = word();
    auto [from, length] = word();
    std::string bent = good;
    bent.replace(to, old, good.substr(from, length + random() % 2 * 4));
    bent.insert(header, (64 - (length - old) % 32) % 32, '\0');  // the tensors stay aligned
    bool refused;
    return try_file(Guarded(bent), &refused);
  }));
}

INSTANTIATE_TEST_SUITE_P(Good, Loader, testing::Values("gemma", "gemma2", "gemma3", "blocks"),
                         [](const auto &info) { return info.param; });

// What is left out, or said in other words, holds: the twin of a good file has the same logits.
// And other numbers have others, or this would prove nothing.
TEST(Twins, KnowTheDefaults) {
  auto logits_of = [](const std::string &path) {
    auto logits = shared<float>(2048);
    bool is_long = path.find("_long") != std::string::npos;  // beyond the default window
    Guarded file(read_file(path));
    std::string what = in_child([&] {
      open(file, {.context = is_long ? 4300u : 64u});
      Tokens tokens = {bos()};
      while (tokens.size() < (is_long ? 4200 : 40)) tokens.push_back(260 + tokens.size() * 7 % 44);
      restart();
      Logits last = feed(tokens);
      logits[0] = float(last.size());
      std::copy(last.begin(), last.end(), logits.begin() + 1);
    });
    EXPECT_EQ(what, "") << path;
    Logits copy(logits.begin() + 1, logits.begin() + 1 + long(logits[0]));
    munmap(logits.data(), logits.size_bytes());
    return copy;
  };
  std::map<std::string, Logits> good;
  unsigned twins = 0;
  std::set<std::string> names;
  for (auto &entry : std::filesystem::directory_iterator(FOLDER)) names.insert(entry.path().stem());
  for (auto &name : names) {  // KIND-BASE-WHAT, good-BASE first
    size_t dash = name.find('-');
    std::string kind = name.substr(0, dash), base = name.substr(dash + 1);
    Logits logits = logits_of(FOLDER / (name + ".gguf"));
    if (kind == "good") {
      good[base] = logits;
      continue;
    }
    base.resize(base.find('-'));
    ASSERT_TRUE(good.contains(base)) << name;
    EXPECT_EQ(logits == good[base], kind == "same") << name;
    ++twins;
  }
  EXPECT_GT(twins, 70u);
}

// Weights of any bits: what is not finite spoils the text, and nothing else.
TEST(Weights, SurviveAnyBits) {
  for (const char *base : {"gemma", "gemma2", "gemma3", "blocks"}) {
    std::string good = read_file(FOLDER / ("good-" + std::string(base) + ".gguf"));
    size_t data = good.rfind("output_norm.weight") + 64;
    expect_nothing(sweep(300, [&](unsigned long i) -> std::string {
      std::mt19937 random{unsigned(i)};
      std::string bent = good;
      for (unsigned n = 1 << random() % 12; n--;) {
        size_t at = data + random() % (bent.size() - data - 4);
        unsigned bits = random() % 3 ? unsigned(random()) : 0x7c007f80;  // f16's infinity, f32's
        memcpy(&bent[at], &bits, 4);
      }
      bool refused;
      std::string what = try_file(Guarded(bent), &refused);
      return refused ? "refused" : what;
    }));
  }
}
