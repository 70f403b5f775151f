// model.cpp - from names to hyper-parameters and tensors, each of them checked.
// load() is called by runtime/main.cpp.  Read first: model.h, gguf.h.
#include "gguf.h"


// What is read, in the order of Params.  A byte tells the type, in its lower 5 bits, and the prefix.
static const char KEYS[] =
    "\x08" "general.architecture\0"
    "\x02" "split.count\0"
    "\x04" "general.alignment\0"
    "\x24" "context_length\0"
    "\x24" "block_count\0"
    "\x24" "embedding_length\0"
    "\x24" "feed_forward_length\0"
    "\x24" "attention.head_count\0"
    "\x24" "attention.head_count_kv\0"
    "\x24" "attention.key_length\0"
    "\x24" "attention.value_length\0"
    "\x26" "attention.layer_norm_rms_epsilon\0"
    "\x26" "rope.freq_base\0"
    "\x48" "model\0"
    "\x58" "tokens\0"
    "\x56" "scores\0"
    "\x55" "token_type\0"
    "\x44" "bos_token_id\0"
    "\x44" "eos_token_id\0"
    "\x47" "add_bos_token\0"
    "\x47" "add_space_prefix\0";

// The number of a field of Params, which is the number of its key as well.
#define KEY(field) \
  u8((__builtin_offsetof(Model, field) - __builtin_offsetof(Model, param)) / 4)
static_assert(KEY(add_space_prefix) == 20);

// The tensors of a layer, in the order of LayerTensor: columns, rows, name.
#define DIMS(columns, rows) {KEY(columns), KEY(rows)}
static const u8 LAYER_DIMS[N_LAYER_TENSORS][2] = {
    DIMS(d_model, one), DIMS(d_model, d_q), DIMS(d_model, d_kv), DIMS(d_model, d_kv),
    DIMS(d_q, d_model), DIMS(d_model, one), DIMS(d_model, d_ffn), DIMS(d_model, d_ffn),
    DIMS(d_ffn, d_model)};
static const char LAYER_TENSORS[] =
    "attn_norm\0attn_q\0attn_k\0attn_v\0attn_output\0ffn_norm\0ffn_gate\0ffn_up\0ffn_down";

bool equal(const void *a, const void *b, u64 n) {
  for (u64 i = 0; i < n; ++i)
    if (((const u8 *)a)[i] != ((const u8 *)b)[i]) return false;
  return true;
}

bool equal(const Counted *a, const Counted *b) {
  return a->n == b->n && equal(a->data, b->data, b->n);
}

#define NAME ((const Counted *)&model->name)

// Adds s to the name.  Returns what lies behind the 0 of s: the next of a list.
static const char *append(const char *s) {
  while (*s) model->name.data[model->name.n++] = *s++;
  return s + 1;
}

// Makes s the name.
static void set_name(const char *s) {
  model->name.n = 0;
  append(s);
}


// Makes the name of the key that stands at k in KEYS.
static const char *key_name(const char *k) {
  model->name.n = 0;
  if (*k & 0x20) append("gemma.");
  if (*k & 0x40) append("tokenizer.ggml.");
  return append(k + 1);
}

static void read_keys() {
  for (u64 n = take_u64(); n; --n) {
    model->subject = nullptr;
    auto key = take_string();
    model->subject = key;
    Value value = take_value();
    const char *k = KEYS;
    for (u32 i = 0; i <= KEY(add_space_prefix); ++i) {
      u32 type = *k & 31;
      k = key_name(k);
      if (!equal(key, NAME)) continue;
      if (value.type != type) fail("wrong type");
      model->param[i] = value.bits;
    }
  }
  model->subject = nullptr;
}

// The value of this key is no good.
[[noreturn]] static void bad(u32 key) {
  const char *k = KEYS;
  do k = key_name(k);
  while (key--);
  model->subject = NAME;
  fail("missing or bad value");
}

struct Info {
  const Counted *name;
  u64 ne[4];  // elements in each dimension, the innermost first
  u32 type;
  u64 offset;
};

static Info take_info() {
  Info info = {nullptr, {1, 1, 1, 1}, 0, 0};
  model->subject = nullptr;
  model->subject = info.name = take_string();
  u32 n_dims = take_u32();
  if (n_dims - 1 > 3) fail("bad shape");
  __builtin_memcpy(info.ne, take(8 * n_dims), 8 * n_dims);
  info.type = take_u32();
  info.offset = take_u64();
  return info;
}

// Finds the tensor that is called model->name, and checks it: on a first round through the infos
// what its own says, on a second that no other tensor begins inside it.
static void find(Tensor *t, u32 columns, u32 rows) {
  u64 offset = 0, size = 0;
  for (u32 round = 0; round < 2; ++round) {
    model->at = model->infos;
    for (u64 i = 0; i < model->n_infos; ++i) {
      Info info = take_info();
      if (!equal(info.name, NAME)) {
        if (info.offset - offset < size) fail("overlaps another");
        continue;
      }
      if (round) continue;
      if (size) fail("twice in the file");
      if (rows == KEY(n_vocab)) model->n_vocab = u32(info.ne[1]);
      u32 n = model->param[columns];
      if (info.ne[0] != n || info.ne[1] != model->param[rows] || (info.ne[2] - 1) | (info.ne[3] - 1))
        fail("bad shape");
      if (n % 8) fail("row length no multiple of 8");
      t->type = info.type == 30 ? u32(BF16) : info.type;
      if (t->type > (rows == KEY(one) ? u32(F32) : u32(BF16))) fail("type not supported");
      offset = info.offset;
      t->row_bytes = n * (t->type == F32 ? 4 : 2);
      size = u64(t->row_bytes) * model->param[rows];
      model->weight_bytes += size;
      u64 space = u64(model->end - model->data);
      if (offset % model->alignment || offset > space || size > space - offset)
        fail("outside of the file");
      t->data = model->data + offset;
    }
    model->subject = NAME;
    if (!size) fail("missing");
  }
}

// The name "blk.LAYER.TENSOR.weight"; LAYER has at most 3 digits.
static const char *layer_name(u32 layer, const char *tensor) {
  char digits[4] = {};
  u32 i = 3;
  do digits[--i] = char('0' + layer % 10);
  while (layer /= 10);
  set_name("blk.");
  append(digits + i);
  append(".");
  tensor = append(tensor);
  append(".weight");
  return tensor;
}

// Fails, naming it, unless the string is s.
static void expect(u32 key, const char *s) {
  if (model->param[key] == 0) bad(key);
  set_name(s);
  model->subject = counted(model->param[key]);
  if (!equal(model->subject, NAME)) fail("not supported");
}

void load() {
  model->alignment = 32;
  model->rope_base = 0x461c4000;  // 10000
  model->add_bos = model->one = 1;
  model->bos = 2;
  model->eos = 1;
  model->at = model->file;
  if (take_u32() != 0x46554747 || take_u32() - 2 > 1) fail("not a GGUF file of version 2 or 3");
  model->n_infos = take_u64();
  read_keys();
  if (model->split_count > 1) fail("a part of a split file");
  expect(KEY(architecture), "gemma");
  if (model->alignment < 8 || model->alignment & (model->alignment - 1)) bad(KEY(alignment));
  if (model->context_length == 0) bad(KEY(context_length));
  if (model->n_kv_head == 0) model->n_kv_head = model->n_head;
  for (u32 key = KEY(block_count); key <= KEY(n_kv_head); ++key)
    if (model->param[key] - 1 > 65534) bad(key);  // so no product of two overflows
  if (model->head_dim == 0) model->head_dim = model->d_model / model->n_head;
  if (model->value_dim == 0) model->value_dim = model->head_dim;
  if (model->block_count > MAX_LAYERS) bad(KEY(block_count));
  if (model->n_head % model->n_kv_head) bad(KEY(n_kv_head));
  if (model->head_dim % 8 || model->head_dim > 65535) bad(KEY(head_dim));
  if (model->value_dim != model->head_dim) bad(KEY(value_dim));
  if (model->eps - 1 > 0x3f7ffffe) bad(KEY(eps));                                  // in (0, 1)
  if (model->rope_base - 0x3f800000 >= 0x7f800000 - 0x3f800000) bad(KEY(rope_base));  // in [1, inf)
  model->d_q = model->n_head * model->head_dim;
  model->d_kv = model->n_kv_head * model->head_dim;

  expect(KEY(tokenizer), "llama");
  for (u32 key = KEY(tokens); key <= KEY(token_types); ++key)
    if (model->param[key] == 0 || counted(model->param[key])->n != counted(model->tokens)->n) bad(key);

  model->infos = model->at;
  for (u64 i = 0; i < model->n_infos; ++i) take_info();
  u64 header = (u64(model->at - model->file) + model->alignment - 1) & -u64(model->alignment);
  model->data = model->file + header;
  model->subject = nullptr;
  if (header >> 32 || model->data > model->end) fail("truncated");

  set_name("output_norm.weight");
  find(model->tensors + OUTPUT_NORM, KEY(d_model), KEY(one));
  set_name("token_embd.weight");
  find(model->tensors + TOKEN_EMBD, KEY(d_model), KEY(n_vocab));
  if (model->n_vocab < 4 || model->n_vocab > counted(model->tokens)->n)
    bad(KEY(tokens));  // 4 rows at least: the contract of matmul
  if (model->bos >= model->n_vocab) bad(KEY(bos));
  if (model->eos >= model->n_vocab) bad(KEY(eos));
  Tensor *t = model->tensors + FIRST_LAYER;
  for (u32 layer = 0; layer < model->block_count; ++layer) {
    const char *tensor = LAYER_TENSORS;
    for (auto &dims : LAYER_DIMS) {
      tensor = layer_name(layer, tensor);
      find(t++, dims[0], dims[1]);
    }
  }
}
