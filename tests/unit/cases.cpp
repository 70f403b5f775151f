// cases.cpp - reads tests/data/cases.  See cases.h, and the README there for the formats.
#include "cases.h"

#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>

const std::vector<std::string> MODELS = {
    "gemma-f32",    "gemma-f16",   "gemma-bf16",  "gemma-q8_0",       "gemma-q4_0",
    "gemma-q4_k_m", "gemma-q6_k",  "gemma2-f16",  "gemma2-q8_0",      "gemma2-q4_0",
    "gemma3-f16",   "gemma3-q8_0", "gemma3-q4_0", "gemma2-27b-scale", "gemma3-linear8"};
const std::vector<std::string> PUBLISHED = {
    "codegemma-7b-google-f16",   "gemma-1.1-2b-merged-q8_0", "gemma-2b-ollama-2024-02",
    "gemma-convert-2026-f32",    "gemma2-27b-ollama-2024-06", "gemma2-27b-q8_0-imatrix",
    "gemma2-2b-ollama-q4_0",     "gemma3-1b-ollama",         "gemma3-1b-q4_k_m",
    "gemma3-270m-f16",           "gemma3-27b-bf16",          "gemma3-27b-q4_0-unsloth",
    "gemma3-4b-ollama",          "gemma3-qat-q4_0-google",   "gemma3-translate-q8_0"};

// The tests run in the top folder.
static std::string path_of(const std::string &name) {
  std::string path = "tests/data/cases/" + name;
  return std::ifstream(path) ? path : "tests/data/published/" + name;
}

std::string read_file(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

const Guarded &case_file(const std::string &name) {
  static std::map<std::string, std::unique_ptr<Guarded>> files;
  auto &file = files[name];
  if (!file) file = std::make_unique<Guarded>(read_file(path_of(name)));
  return *file;
}

template <class T>
static std::vector<T> read_list(std::istream &in) {
  size_t n = 0;
  in >> n;
  std::vector<T> list(n);
  for (T &x : list) in >> x;
  return list;
}

static Best read_best(std::istream &in) {
  size_t n = 0;
  in >> n;
  Best best(n);
  for (auto &[token, logit] : best) in >> token >> logit;
  return best;
}

const Answers &answers(const std::string &model) {
  static std::map<std::string, Answers> known;
  auto [it, fresh] = known.try_emplace(model);
  Answers &a = it->second;
  if (!fresh) return a;
  std::istringstream in(read_file(path_of(model + ".txt")));
  for (std::string key, hex; in >> key;) {
    if (key == "text") in >> hex, a.text = from_hex(hex);
    else if (key == "greedy_hex") in >> hex, a.greedy_text = from_hex(hex);
    else if (key == "ids") a.ids = read_list<engine::Token>(in);
    else if (key == "greedy") a.greedy = read_list<engine::Token>(in);
    else if (key == "f32") in >> a.f32.tolerance >> a.f32.n_safe;
    else if (key == "kv_f16") in >> a.kv_f16.tolerance >> a.kv_f16.n_safe;
    else if (key == "act_q8") in >> a.act_q8.tolerance >> a.act_q8.n_safe;
    else if (key == "sure") in >> hex;  // for tests/e2e
    else if (key == "quantised") in >> a.quantised;
    else if (key == "logits_last") a.last = read_list<double>(in);
    else if (key == "top") a.top.push_back(read_best(in));
    else throw std::runtime_error(model + ".txt: " + key);
  }
  if (in.bad() || a.top.size() != a.ids.size() || a.last.empty())
    throw std::runtime_error(model + ".txt is not whole");
  return a;
}

const LongText &long_text(const std::string &model) {
  static std::map<std::string, LongText> known;
  auto [it, fresh] = known.try_emplace(model);
  LongText &text = it->second;
  if (!fresh) return text;
  std::istringstream in(read_file(path_of(model + ".long.txt")));
  for (std::string key; in >> key;) {
    unsigned position;
    if (key == "ids") text.ids = read_list<engine::Token>(in);
    else if (key == "at" && in >> position) text.at[position] = read_best(in);
    else throw std::runtime_error(model + ".long.txt: " + key);
  }
  if (in.bad() || text.at.size() < 10) throw std::runtime_error(model + ".long.txt is not whole");
  text.window = std::next(text.at.begin(), 2)->first;
  return text;
}

std::vector<std::vector<std::string>> read_tsv(const std::string &name) {
  std::istringstream in(read_file(path_of(name)));
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line + '\t');
    lines.emplace_back();
    for (std::string cell; std::getline(cells, cell, '\t');) lines.back().push_back(cell);
  }
  return lines;
}

static void append_utf8(std::string &s, unsigned c) {
  if (c < 0x80) return s.push_back(char(c));
  int follow = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  s += char((0xff00 >> (follow + 1) & 0xff) | c >> 6 * follow);
  while (follow--) s += char(0x80 | (c >> 6 * follow & 0x3f));
}

std::string from_json(const std::string &text) {
  auto bad = [&] { return std::runtime_error("not a JSON string: " + text); };
  if (text.size() < 2 || text[0] != '"' || text.back() != '"') throw bad();
  std::string s;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') {
      s += text[i];
      continue;
    }
    auto hex4 = [&] {
      i += 4;
      return unsigned(std::stoul(text.substr(i - 3, 4), nullptr, 16));
    };
    char c = text[++i];
    size_t simple = std::string("\"\\/bfnrt").find(c);
    if (simple != std::string::npos) s += "\"\\/\b\f\n\r\t"[simple];
    else if (c != 'u') throw bad();
    else {
      unsigned code = hex4();
      if (code >> 10 == 0xd800 >> 10) {  // a surrogate pair
        i += 2;
        code = 0x10000 + ((code & 0x3ff) << 10 | (hex4() & 0x3ff));
      }
      append_utf8(s, code);
    }
  }
  return s;
}

std::string from_hex(const std::string &digits) {
  std::string s;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    s += char(std::stoi(digits.substr(i, 2), nullptr, 16));
  return s;
}
