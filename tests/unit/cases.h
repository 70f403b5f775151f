// cases.h - the right answers of tests/data/cases, as the unit tests read them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "child.h"
#include "engine.h"

extern const char *const MODELS[3];  // gemma-f32, gemma-f16, gemma-bf16

std::string read_file(const std::string &path);
const Guarded &case_file(const std::string &name);  // of tests/data/cases, read once

// A model's answers: what an fp64 oracle says.
struct Answers {
  std::string text, greedy_text;
  engine::Tokens ids, greedy;  // the text's, with <bos>; what follows it
  struct Kind {
    double tolerance;  // of a logit
    unsigned n_safe;   // so many greedy tokens are beyond its reach
  } f32, kv_f16;       // the KV cache's type
  std::vector<std::vector<std::pair<engine::Token, double>>> top;  // [position][20]
  std::vector<double> last;                                        // logits of the last position
};
const Answers &answers(const std::string &model);

// The lines of a .tsv, but for comments, cut at the tabs.
std::vector<std::vector<std::string>> read_tsv(const std::string &name);
std::string from_json(const std::string &text);                    // a JSON string, as UTF-8
std::string from_hex(const std::string &digits);
