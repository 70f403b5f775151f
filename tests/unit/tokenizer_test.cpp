// tokenizer_test.cpp - text to tokens against llama.cpp's ids and against a plain implementation;
// tokens to text against the text they came from.
// MOTE_FULL_VOCAB=FILE.gguf adds the vocabulary of Gemma 1 and 2: tests/data/cases/README.md.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <unordered_map>

#include "cases.h"

using namespace engine;

static const char *const full_vocab = std::getenv("MOTE_FULL_VOCAB");

static std::string as_spaces(std::string s) {  // U+2581 is SentencePiece's space
  for (size_t at; (at = s.find("\u2581")) != std::string::npos;) s.replace(at, 3, " ");
  return s;
}

static std::string quoted(const std::string &s) { return testing::PrintToString(s); }

// Each code point, all below 256, as a byte.
static std::string latin1(const std::string &utf8) {
  std::string bytes;
  for (unsigned char c : utf8) {
    if ((c & 0xc0) == 0x80) bytes.back() = char(bytes.back() << 6 | (c & 0x3f));
    else bytes += char(c);
  }
  return bytes;
}

static void open_for_text(const Guarded &file, size_t bytes) {
  open(file, {.context = unsigned(bytes + 16), .max_batch = 1});
}

// --- Known ids

static void check_ids(const Guarded &file, const char *tsv) {
  open_for_text(file, 1 << 14);
  for (auto &line : read_tsv(tsv)) {
    std::string flags = line.size() > 2 ? line[2] : "", text = from_json(line[0]);
    if (flags.find("odd") != std::string::npos) continue;  // not what a text is: no right answer
    if (flags.find("bytes") != std::string::npos) {
      text = latin1(text);
    }
    Tokens right;
    std::istringstream in(line[1]);
    for (Token token; in >> token;) right.push_back(token);
    ASSERT_EQ(right.at(0), bos());
    right.erase(right.begin());
    for (bool special : {false, true}) {
      if (flags == (special ? "plain" : "special")) continue;
      // llama.cpp takes </s> for Llama's end of text; in Gemma's files it is HTML, user-defined.
      if (!special && flags == "plain" && text.find("</s>") != std::string::npos) continue;
      EXPECT_EQ(encode(text, special), right) << quoted(text);
    }
  }
}

TEST(Tokenizer, GivesTheIdsOfLlamaCpp) { check_ids(case_file("small.gguf"), "small.tsv"); }

TEST(Tokenizer, GivesTheIdsOfLlamaCppWithTheFullVocabulary) {
  if (!full_vocab) GTEST_SKIP() << "MOTE_FULL_VOCAB is not set";
  check_ids(Guarded(read_file(full_vocab)), "full.tsv");
}

// --- Random text

class RandomText : public testing::Test {
 protected:
  std::mt19937 random{1};
  std::vector<Piece> pieces;
  std::unordered_map<std::string, Token> normal;  // what a merge may make

  unsigned below(size_t n) { return unsigned(random() % n); }

  void read_vocabulary() {
    pieces = vocabulary();
    for (Token token = 0; token < pieces.size(); ++token) {
      pieces[token].text = as_spaces(pieces[token].text);
      if (pieces[token].type == 1) normal.emplace(pieces[token].text, token);
    }
  }

  // Tokens' texts, control tokens among them, strings of one letter, and any characters.
  std::string text(unsigned n_parts) {
    static const char *const odd[] = {"<bos>", "<0x41>", "<unk>", "<end_of_turn>", "  ", "\n\n\n",
                                      "\t", "<b>", "</table>", "\r\n", "\u00e9", "\U0001f600"};
    std::string s;
    while (n_parts--) switch (below(5)) {
        case 0: s += odd[below(std::size(odd))]; break;
        case 1: s.append(1 + below(9), char('a' + below(26))); break;
        case 2: s += char(' ' + below(95)); break;
        default: {
          const Piece &piece = pieces[below(pieces.size())];
          s += piece.type == 6 ? "<0x" : piece.text;
        }
      }
    return s;
  }

  std::string bytes(unsigned n) {
    std::string s;
    while (s.size() < n) s += below(4) ? text(1) : std::string(1, char(below(256)));
    return s;
  }

  // The definition, read aloud: user-defined tokens first, the longest; then the best merges.
  Tokens plain_encode(const std::string &s) {
    struct Symbol {
      std::string text;
      int token;  // of a user-defined one, else -1
    };
    std::vector<Symbol> symbols;
    for (size_t i = 0; i < s.size(); i += symbols.back().text.size()) {
      Symbol best = {"", -1};
      for (Token token = 0; token < pieces.size(); ++token) {
        const std::string &t = pieces[token].text;
        if (pieces[token].type == 4 && t.size() > best.text.size() && !s.compare(i, t.size(), t))
          best = {t, int(token)};
      }
      if (best.token < 0) {
        size_t n = 1;
        while (i + n < s.size() && (s[i + n] & 0xc0) == 0x80) ++n;  // only UTF-8 comes here
        best.text = s.substr(i, n);
      }
      symbols.push_back(best);
    }
    for (;;) {
      size_t at = symbols.size();
      float best = -INFINITY;
      for (size_t i = 0; i + 1 < symbols.size(); ++i) {
        if (symbols[i].token >= 0 || symbols[i + 1].token >= 0) continue;
        auto merged = normal.find(symbols[i].text + symbols[i + 1].text);
        if (merged == normal.end() || (at < symbols.size() && pieces[merged->second].score <= best))
          continue;
        best = pieces[merged->second].score;
        at = i;
      }
      if (at == symbols.size()) break;
      symbols[at].text += symbols[at + 1].text;
      symbols.erase(symbols.begin() + long(at) + 1);
    }
    Tokens tokens;
    for (const Symbol &symbol : symbols) {
      auto known = normal.find(symbol.text);
      if (symbol.token >= 0) tokens.push_back(Token(symbol.token));
      else if (known != normal.end()) tokens.push_back(known->second);
      else
        for (unsigned char byte : symbol.text) {
          char name[8];
          snprintf(name, sizeof(name), "<0x%02X>", byte);
          for (Token token = 0; token < pieces.size(); ++token)
            if (pieces[token].type == 6 && pieces[token].text == name) tokens.push_back(token);
        }
    }
    return tokens;
  }

  void check_round_trip(const Guarded &file) {
    open_for_text(file, 1 << 14);
    read_vocabulary();
    for (unsigned round = 0; round < 400; ++round) {
      std::string s = bytes(1 + below(round < 200 ? 6 : 300));
      ASSERT_EQ(text_of(encode(s)), as_spaces(s)) << "round " << round;
    }
  }
};

TEST_F(RandomText, GivesTheTokensOfAPlainImplementation) {
  open_for_text(case_file("small.gguf"), 1 << 14);
  read_vocabulary();
  for (unsigned round = 0; round < 300; ++round) {
    std::string s = text(1 + below(round < 200 ? 5 : 60));
    ASSERT_EQ(encode(s), plain_encode(s)) << "round " << round << ": " << quoted(s);
  }
}

TEST_F(RandomText, ComesBackFromItsTokens) { check_round_trip(case_file("small.gguf")); }

TEST_F(RandomText, ComesBackFromItsTokensWithTheFullVocabulary) {
  if (!full_vocab) GTEST_SKIP() << "MOTE_FULL_VOCAB is not set";
  check_round_trip(Guarded(read_file(full_vocab)));
}

// A time is reported, never gated; but in_child() stops what takes minutes.
TEST_F(RandomText, OfAHundredKilobytesIsEncoded) {
  Guarded file(read_file(full_vocab ? full_vocab : "tests/data/cases/small.gguf"));
  const unsigned n = 100000;
  std::string prose;
  while (prose.size() < n) prose += "It was the best of times, it was the worst of times. ";
  for (const std::string &s : {prose.substr(0, n), std::string(n, 'a'), std::string(n, ' '),
                               std::string(n, '\n'), std::string(n, '<')}) {
    std::string what = in_child([&] {
      open_for_text(file, n);
      auto start = std::chrono::steady_clock::now();
      Tokens tokens = encode(s);
      std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
      printf("  100 KB of %s: %zu tokens, %.1f ms\n", quoted(s.substr(0, 4)).c_str(),
             tokens.size(), time.count());
      fflush(stdout);
      if (text_of(tokens) != s) throw std::runtime_error("it did not come back from its tokens");
    });
    EXPECT_EQ(what, "") << quoted(s.substr(0, 4));
  }
}
