// cases.h - the right answers of tests/data/cases, as the unit tests read them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "child.h"
#include "engine.h"

extern const std::vector<std::string> MODELS;     // of tests/data/cases,
extern const std::vector<std::string> PUBLISHED;  // and with text, of tests/data/published

std::string read_file(const std::string &path);
const Guarded &case_file(const std::string &name);  // of one of these folders, read once

using Best = std::vector<std::pair<engine::Token, double>>;  // the likeliest tokens, and logits

// A model's answers: what an fp64 oracle says.
struct Answers {
  std::string text, greedy_text;
  engine::Tokens ids, greedy;  // the text's, with <bos>; what follows it
  struct Kind {
    double tolerance;  // of a logit
    unsigned n_safe;   // so many greedy tokens are beyond its reach
  } f32, kv_f16;       // the KV cache's type,
  Kind act_q8;         // and that of f16 with quantised activations
  bool quantised;            // some weights are
  std::vector<Best> top;     // [position][20]
  std::vector<double> last;  // logits of the last position
};
const Answers &answers(const std::string &model);

// The same of a text much longer than a sliding window, at some positions.
struct LongText {
  engine::Tokens ids;
  std::map<unsigned, Best> at;
  unsigned window;  // the third of these positions
};
const LongText &long_text(const std::string &model);

// The lines of a .tsv, but for comments, cut at the tabs.
std::vector<std::vector<std::string>> read_tsv(const std::string &name);
std::string from_json(const std::string &text);                    // a JSON string, as UTF-8
std::string from_hex(const std::string &digits);
