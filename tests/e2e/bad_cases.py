#!/usr/bin/env python3
"""Malformed GGUF files, and a few odd but legal ones.

    bad_cases.py DIR         writes good.gguf and every file of CASES into DIR
    bad_cases.py --good DIR  writes the good ones alone, and their twins: twins.py

Each case has a file name, what is expected of an engine, and the reason.  Expected is
  error   a non-zero exit, no signal, nothing on stdout, exactly one line on stderr that names the
          file and the trouble
  ok      the same text as good.gguf gives: PROMPT and text_of() in bad_kit.py
  either  the one or the other: the format's text and llama.cpp differ, or a reader may choose
  any     an error as above, or exit code 0 with whatever text
"""
import os
import struct
import sys

import bad_blocks  # noqa: F401: their cases
import bad_gemmas  # noqa: F401
import twins
from bad_kit import (A, BIG, CASES, DOWN, PRE, SEED, TOK, V, case, cut, edit, fresh, kv, raw_kv,
                     t)
from gguf_edit import ARR, BOOL, F32, F64, I32, STR, U32, U64, U8, array, good, text

# --- cut short, or something else
CASES.append(('empty.gguf', 'error', 'no bytes at all', lambda: b''))
CASES.append(('one_byte.gguf', 'error', 'one byte', lambda: b'G'))
CASES.append(('html.gguf', 'error', 'a web page saved under the name of a model',
              lambda: (b'<!DOCTYPE html>\n<html><head><title>401 Unauthorized</title></head>'
                       b'<body>Sign in</body></html>\n') * 40))
CASES.append(('zeros.gguf', 'error', 'only zero bytes', lambda: bytes(4096)))
CASES.append(('directory.gguf', 'error', 'a directory', lambda: None))
cut('cut_magic', 'ends after the magic', lambda g, b: 4)
cut('cut_version', 'ends inside the version', lambda g, b: 7)
cut('cut_header', 'header one byte short', lambda g, b: 23)
cut('cut_after_header', 'ends after the header', lambda g, b: 24)
cut('cut_key', 'ends inside the first key', lambda g, b: 40)
cut('cut_tokens', 'ends inside the token strings', lambda g, b: b.index(b'<0x80>') + 3)
cut('cut_scores', 'ends inside the scores', lambda g, b: b.index(b'ggml.scores') + 400)
cut('cut_infos', 'ends inside the tensor infos',
    lambda g, b: g.kv_end + (g.info_end - g.kv_end) // 2)
cut('cut_last_info', 'last tensor info one byte short', lambda g, b: g.info_end - 1)
cut('cut_no_data', 'ends after the tensor infos', lambda g, b: g.info_end)
cut('cut_data_half', 'half of the tensor data', lambda g, b: (g.data_start + len(b)) // 2)
cut('cut_data_last', 'tensor data one byte short', lambda g, b: len(b) - 1)

# --- header
edit('magic_ggml', 'error', 'magic GGML', lambda g: setattr(g, 'magic', b'GGML'))
edit('magic_swapped', 'error', 'magic FUGG', lambda g: setattr(g, 'magic', b'FUGG'))
for v, e in ((0, 'error'), (1, 'error'), (2, 'either'), (4, 'error'), (2 ** 32 - 1, 'error')):
    edit('version_%d' % v, e,
         'version %d' % v + (' (same layout as 3; llama.cpp reads it)' if v == 2 else ''),
         lambda g, v=v: setattr(g, 'version', v))
edit('version_big_endian', 'error', 'version 3 in big-endian order',
     lambda g: setattr(g, 'version', 3 << 24))


@case('big_endian', 'error', 'a whole header in big-endian order')
def _():
    g = fresh()
    b = g.bytes()
    return b'GGUF' + struct.pack('>IQQ', 3, len(g.t), len(g.kv)) + b[24:]


for n, w in ((0, '0'), (2 ** 32 - 1, '32bit'), (2 ** 63, '2pow63'), (BIG, 'max')):
    edit('tensor_count_' + w, 'error', 'tensor count %d' % n,
         lambda g, n=n: setattr(g, 'n_tensors', n))
    edit('kv_count_' + w, 'error', 'metadata count %d' % n, lambda g, n=n: setattr(g, 'n_kv', n))
edit('tensor_count_plus1', 'error', 'tensor count one too large',
     lambda g: setattr(g, 'n_tensors', len(g.t) + 1))
edit('tensor_count_minus1', 'error', 'tensor count one too small, so a tensor is missing',
     lambda g: setattr(g, 'n_tensors', len(g.t) - 1))
edit('kv_count_plus1', 'error', 'metadata count one too large',
     lambda g: setattr(g, 'n_kv', len(g.kv) + 1))

# --- strings, keys, values
raw_kv('key_len_max', 'error', 'key length 2^64-1', struct.pack('<Q', BIG) + b'zz.key')
raw_kv('key_len_past_end', 'error', 'key length past the end of the file',
       struct.pack('<Q', 10 ** 6) + b'zz.key')
raw_kv('key_len_0', 'either', 'a key of length 0', text('') + struct.pack('<II', U32, 1))
raw_kv('string_len_max', 'error', 'string length 2^64-1', PRE + struct.pack('<IQ', STR, BIG))
raw_kv('string_len_2pow63', 'error', 'string length 2^63', PRE + struct.pack('<IQ', STR, 2 ** 63))
raw_kv('string_past_end', 'error', 'string length past the end of the file',
       PRE + struct.pack('<IQ', STR, 10 ** 7))
raw_kv('type_13', 'error', 'value type 13', PRE + struct.pack('<II', 13, 0))
raw_kv('type_max', 'error', 'value type 2^32-1', PRE + struct.pack('<II', 2 ** 32 - 1, 0))
raw_kv('array_type_13', 'error', 'array of elements of type 13',
       PRE + struct.pack('<IIQ', ARR, 13, 4) + bytes(16))
raw_kv('array_count_max', 'error', 'array of 2^64-1 bytes', PRE + struct.pack('<IIQ', ARR, U8, BIG))
raw_kv('array_size_overflow', 'error', 'array of 2^61 u64: its size overflows to 0',
       PRE + struct.pack('<IIQ', ARR, U64, 2 ** 61))
raw_kv('array_past_end', 'error', 'array past the end of the file',
       PRE + struct.pack('<IIQ', ARR, F32, 10 ** 7))
raw_kv('array_string_len', 'error', 'a string of length 2^64-8 inside an array',
       PRE + struct.pack('<IIQQ', ARR, STR, 2, BIG - 7) + bytes(64))
raw_kv('array_nested_deep', 'error', '50000 arrays within arrays, then the end is missing',
       PRE + struct.pack('<I', ARR) + struct.pack('<IQ', ARR, 1) * 50000 + struct.pack('<IQ', 99,
                                                                                       1))
raw_kv('array_nested', 'either', 'an array of arrays in an unknown key (llama.cpp refuses it)',
       PRE + struct.pack('<I', ARR) + struct.pack('<IQ', ARR, 2) + array(U8, [1, 2]) + array(STR,
                                                                                             ['a',
                                                                                              'b']))

# --- vocabulary
kv('scores_u8', 'error', 'scores are u8, not f32', TOK + 'scores', ARR, array(U8, [1] * V))
kv('scores_f64', 'either', 'scores are f64, not f32', TOK + 'scores', ARR,
   array(F64, [-i for i in range(V)]))
kv('scores_string', 'error', 'scores are strings', TOK + 'scores', ARR, array(STR, ['x'] * V))
kv('scores_short', 'error', 'scores one shorter than tokens', TOK + 'scores', ARR,
   array(F32, [0] * (V - 1)))
kv('scores_empty', 'error', 'no scores but an empty array', TOK + 'scores', ARR, array(F32, []))
kv('scores_scalar', 'error', 'scores are one number', TOK + 'scores', F32, 1.0)
kv('types_short', 'error', 'token types one shorter than tokens', TOK + 'token_type', ARR,
   array(I32, [1] * (V - 1)))
kv('types_u8', 'error', 'token types are u8, not i32', TOK + 'token_type', ARR, array(U8, [1] * V))
kv('tokens_u32', 'error', 'tokens are numbers', TOK + 'tokens', ARR, array(U32, list(range(V))))
kv('tokens_empty', 'error', 'no tokens', TOK + 'tokens', ARR, array(STR, []))
kv('tokens_short', 'error', 'fewer tokens than rows of the embedding, and than scores',
   TOK + 'tokens', ARR, array(STR, ['a%d' % i for i in range(V - 4)]))
edit('tokens_missing', 'error', 'no token list', lambda g: g.drop(TOK + 'tokens'))


def no_vocab(g):
    g.set(TOK + 'tokens', ARR, array(STR, []))
    g.set(TOK + 'scores', ARR, array(F32, []))
    g.set(TOK + 'token_type', ARR, array(I32, []))
    g.tensor('token_embd.weight').update(dims=[48, 0], data=b'')


edit('vocab_0', 'error', 'a vocabulary of 0, and an embedding of 0 rows', no_vocab)
kv('tokenizer_gpt2', 'error', 'tokenizer model gpt2', TOK + 'model', STR, 'gpt2')
for k in ('bos', 'eos'):
    kv(k + '_id_V', 'error', k + ' id equal to the vocabulary size', TOK + k + '_token_id', U32, V)
    kv(k + '_id_max', 'error', k + ' id 2^32-1', TOK + k + '_token_id', U32, 2 ** 32 - 1)

# --- alignment
for v in (0, 3, 2 ** 31):
    edit('alignment_%d' % v, 'error', 'alignment %d' % v,
         lambda g, v=v: g.put('general.alignment', U32, v))
edit('alignment_string', 'error', 'alignment is a string',
     lambda g: g.put('general.alignment', STR, '32'))
edit('alignment_u64', 'either', 'alignment is a u64', lambda g: g.put('general.alignment', U64, 32))
edit('alignment_lie', 'error', 'alignment 64 said, 32 used: offsets are wrong',
     lambda g: g.put('general.alignment', U32, 64))

# --- tensor infos
t('n_dims_0', 'error', 'a matrix of 0 dimensions', DOWN, n_dims=0, dims=[])
t('n_dims_5', 'error', 'a tensor of 5 dimensions', DOWN, dims=[64, 48, 1, 1, 1])
t('n_dims_max', 'error', 'dimension count 2^32-1', DOWN, n_dims=2 ** 32 - 1)
t('dims_overflow', 'error', 'dimensions whose product is 2^64', DOWN, dims=[2 ** 32, 2 ** 32])
t('dims_overflow_small', 'error', 'dimensions whose product overflows to the right size', DOWN,
  dims=[64, 48 + 2 ** 58])
t('dims_max', 'error', 'a dimension of 2^64-1', DOWN, dims=[BIG, 1])
t('dims_0', 'error', 'a dimension of 0', DOWN, dims=[64, 0])
t('dims_transposed', 'error', 'dimensions in the wrong order', DOWN, dims=[48, 64])
t('dims_one_dim', 'error', 'a matrix flattened to one dimension', DOWN, dims=[64 * 48])
t('dims_embd', 'error', 'embedding rows longer than embedding_length', 'token_embd.weight',
  dims=[96, 152])
t('dims_norm', 'error', 'a norm of half the length', 'blk.0.attn_norm.weight', dims=[24])
t('offset_unaligned', 'error', 'offset not a multiple of the alignment', DOWN, offset=4)
t('offset_past_end', 'error', 'offset past the end', DOWN, offset=2 ** 30)
t('offset_last_row', 'error', 'tensor reaches past the end of the file', 'token_embd.weight',
  offset=32 * 1500)
t('offset_wrap', 'error', 'offset 2^64-32: start + offset wraps', DOWN, offset=2 ** 64 - 32)
t('offset_wrap_size', 'error', 'offset + size wraps to a small number', DOWN,
  offset=2 ** 64 - 64 * 48 * 2)
t('offset_same', 'any', 'two tensors share their data (llama.cpp refuses it)', DOWN, offset=0)
t('tensor_type_99', 'error', 'tensor type 99', DOWN, type=99)
t('tensor_type_4', 'error', 'tensor type 4, withdrawn', DOWN, type=4)
t('tensor_type_max', 'error', 'tensor type 2^32-1', DOWN, type=2 ** 32 - 1)
t('tensor_type_i32', 'error', 'integers where weights belong', DOWN, type=26, dims=[64, 24])
t('block_size', 'error', 'Q8_0 rows of 48: not a multiple of 32', 'blk.1.attn_q.weight', type=8)
t('name_len_max', 'error', 'an unknown tensor name: one tensor is missing', DOWN,
  name=b'blk.1.ffn_dawn.weight')
edit('missing_down', 'error', 'a layer tensor is missing', lambda g: g.t.remove(g.tensor(DOWN)))
edit('missing_embd', 'error', 'token_embd is missing',
     lambda g: g.t.remove(g.tensor('token_embd.weight')))
edit('missing_output_norm', 'error', 'output_norm is missing',
     lambda g: g.t.remove(g.tensor('output_norm.weight')))
edit('duplicate_tensor', 'error', 'a tensor twice', lambda g: g.t.append(dict(g.tensor(DOWN))))

# --- hyper-parameters
for k in ('embedding_length', 'block_count', 'attention.head_count', 'feed_forward_length',
          'attention.layer_norm_rms_epsilon'):
    edit('no_' + k.split('.')[-1], 'either' if k == 'feed_forward_length' else 'error',
         k + ' is missing', lambda g, k=k: g.drop(A + k))
edit('no_architecture', 'error', 'general.architecture is missing',
     lambda g: g.drop('general.architecture'))
kv('arch_llama', 'error', 'architecture llama', 'general.architecture', STR, 'llama')
kv('arch_gemma4', 'error', 'architecture gemma4', 'general.architecture', STR, 'gemma4')
kv('arch_number', 'error', 'architecture is a number', 'general.architecture', U32, 1)
for k, v in (('block_count', 0), ('block_count', 3), ('block_count', 2 ** 31),
             ('block_count', 2 ** 32 - 1),
             ('attention.head_count', 0), ('attention.head_count', 3),
             ('attention.head_count_kv', 0),
             ('attention.head_count', 2 ** 31), ('attention.key_length', 0),
             ('attention.key_length', 15),
             ('attention.value_length', 8), ('embedding_length', 0), ('embedding_length', 2 ** 31),
             ('feed_forward_length', 0), ('feed_forward_length', 96)):
    kv('%s_%d' % (k.split('.')[-1], v), 'error', '%s is %d' % (k, v), A + k, U32, v)
kv('block_count_string', 'error', 'block_count is a string', A + 'block_count', STR, '2')
kv('block_count_negative', 'error', 'block_count is i32 -1', A + 'block_count', I32, -1)
for w, v in (('nan', float('nan')), ('inf', float('inf')), ('0', 0.0), ('negative', -1e-6)):
    kv('eps_' + w, 'error', 'norm epsilon ' + w, A + 'attention.layer_norm_rms_epsilon', F32, v)
for w, v in (('nan', float('nan')), ('inf', float('inf')), ('0', 0.0), ('negative', -10000.0)):
    kv('rope_base_' + w, 'error', 'rope base ' + w, A + 'rope.freq_base', F32, v)


@case('head_kv_ratio', 'error', '3 heads share 2 kv heads')
def _():
    return good(SEED, H=3, K=2).bytes()


edit('no_context_length', 'error', 'context_length is missing',
     lambda g: g.drop(A + 'context_length'))
kv('context_length_0', 'error', 'context_length is 0', A + 'context_length', U32, 0)
kv('context_length_1', 'error', 'a context of one token', A + 'context_length', U32, 1)
t('name_escape', 'error', 'a tensor name that a terminal would obey', DOWN, n_dims=9,
  name=b'\x1b]0;title\x07\x1b[2J\r\n\xff\x9b' + b'x' * 1000)
kv('scores_nan', 'any', 'scores are NaN', TOK + 'scores', ARR, array(F32, [float('nan')] * V))
kv('types_odd', 'any', 'token types beyond the known', TOK + 'token_type', ARR,
   array(I32, [(-1) ** i * i * 654321 for i in range(V)]))
kv('tokens_blank', 'any', 'all tokens are empty', TOK + 'tokens', ARR, array(STR, [''] * V))
kv('tokens_same', 'any', 'all tokens are one', TOK + 'tokens', ARR, array(STR, ['the'] * V))

# --- odd but legal


def extra(g):
    values = ((U8, 1), (1, -1), (2, 2), (3, -2), (U32, 3), (I32, -3), (F32, 0.5), (BOOL, 1),
              (U64, 5), (11, -5), (F64, 0.25), (STR, 'text'))
    for i, (ty, v) in enumerate(values):
        g.put('x.key%d' % i, ty, v, i)
    g.put('x.array', ARR, array(STR, ['a', '', '\u2581b']), 3)
    g.put('x.empty', ARR, array(F32, []), 0)


def other_order(g):
    g.t.reverse()


def shuffled(g):
    g.order = g.t[::-1]


def wide_embd(g):
    x = g.tensor('token_embd.weight')
    n = len(x['data']) // 2
    x['type'], x['data'] = 0, struct.pack('<%df' % n, *struct.unpack('<%de' % n, x['data']))


edit('ok_extra_keys', 'ok', 'unknown keys of every type', extra)
edit('ok_extra_tensor', 'ok', 'a tensor that no layer needs',
     lambda g: g.add('blk.0.notes.weight', [32, 2], 0, bytes(256)))
edit('ok_reordered', 'ok', 'tensors in another order, data too', other_order)
edit('ok_shuffled', 'either', 'infos in another order than the data (llama.cpp refuses it)',
     shuffled)
edit('ok_kv_reversed', 'ok', 'metadata in reverse order: hyper-parameters before the architecture',
     lambda g: g.kv.reverse())
for v in (8, 64, 4096):
    def al(g, v=v):
        g.put('general.alignment', U32, v)
        g.al = v
    edit('ok_alignment_%d' % v, 'ok', 'alignment %d' % v, al)
edit('ok_duplicate_key', 'ok', 'an irrelevant key twice (llama.cpp refuses it)',
     lambda g: [g.put('x.note', STR, 'one', 0), g.put('x.note', STR, 'two')])
edit('ok_huge_array', 'ok', 'an unused array of 200000 numbers and one of 20000 strings',
     lambda g: [g.put('x.big', ARR, array(U32, [7] * 200000), 1),
                g.put('x.merges', ARR, array(STR, ['a b'] * 20000), 5)])
edit('ok_tail', 'ok', '1000 bytes after the data', lambda g: setattr(g, 'tail', b'\xAA' * 1000))
edit('ok_gap', 'either', '64 bytes of padding after each tensor (llama.cpp refuses it)',
     lambda g: setattr(g, 'gap', 64))
edit('ok_f32_embd', 'ok', 'embedding F32, the rest F16', wide_embd)
edit('ok_no_add_bos', 'ok', 'add_bos_token, add_eos_token and pre absent: defaults hold',
     lambda g: [g.drop(TOK + k) for k in ('add_bos_token', 'add_eos_token', 'pre')])
edit('ok_name', 'ok', 'a name with control characters and bytes that are not UTF-8',
     lambda g: g.put('general.name', STR, b'\x1b[31m\xff\xfe\r\n%s%n'))
kv('ok_long_context', 'ok', 'context_length 2^32-1', A + 'context_length', U32, 2 ** 32 - 1)
edit('ok_no_rope_base', 'ok', 'rope.freq_base absent: 10000',
     lambda g: g.drop(A + 'rope.freq_base'))


def write_all(folder):
    for name, _, _, make in [('good.gguf', '', '', fresh().bytes)] + CASES:
        path, b = os.path.join(folder, name), make()
        if b is None:
            os.makedirs(path)
            continue
        with open(path, 'wb') as f:
            f.write(b)


def listed():
    """(file, expectation, reason) of all that write_all() writes, and of one that it does not."""
    return [('good.gguf', 'ok', 'the model that all are made from'), *(c[:3] for c in CASES),
            ('does_not_exist.gguf', 'error', 'no such file')]


def write_good(folder):
    os.makedirs(folder, exist_ok=True)
    for name, make in twins.good_files():
        with open(os.path.join(folder, name + '.gguf'), 'wb') as f:
            f.write(make())


if __name__ == '__main__':
    if sys.argv[1] == '--good':
        write_good(sys.argv[2])
    else:
        write_all(sys.argv[1])
