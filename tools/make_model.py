#!/usr/bin/env python3
"""make_model.py - a Gemma of random weights, of any geometry, as a GGUF file.  Plain Python.

For tests and for measuring speed: the answers mean nothing, but every activation has a sensible
size, so that they show every mistake.  The same arguments give the same bytes on every machine.

    make_model.py small.gguf
    make_model.py odd.gguf --layers 1 --d-model 24 --heads 3 --kv-heads 1 --head-dim 8 --ffn 40
    make_model.py mixed.gguf --type bf16 --type token_embd=f32 --type 'blk.1.ffn_*=f16'
    make_model.py base.gguf --set gemma.rope.freq_base=15000.0 --drop general.name
    make_model.py local.gguf --arch gemma3 --layers 7 --window 16 --type q8_0
    make_model.py big.gguf --preset 2b --type q4_k_m                # Gemma-2B: 1.6 GB, some seconds

Read next: gguf.py.  To add an architecture: its tensors in layer(), its keys in metadata().
"""
import argparse
import fnmatch
import functools
import itertools
import random

import gguf

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6    # token types: ggml, docs/gguf.md
SPACE = '\u2581'                                               # stands for a space in a piece


def vocabulary(n):
    """n tokens, [(piece, score, type)], in the order of Gemma's: control tokens, user-defined ones,
    bytes, merges by rank, single characters.  The merges are the strings of two letters, three
    letters ..., so that each can be reached by merging and most texts have several ways to merge.
    Returns the number of tokens before the merges, too."""
    control = ['<pad>', '<eos>', '<bos>', '<unk>', '<mask>', '<unused0>', '<start_of_turn>',
               '<end_of_turn>']
    user = ['\n', '\n\n', '\n\n\n', '  ', '   ', '    ', '\t\t', '<b>', '</b>', '<code>', '</code>']
    head = [(t, -1000.0, UNKNOWN if t == '<unk>' else CONTROL) for t in control]
    head += [(t, -1000.0, USER_DEFINED) for t in user]
    head += [(f'<0x{b:02X}>', 0.0, BYTE) for b in range(256)]
    letters = 'etaoinshrdlcumwfgypbvkjxqz'                      # by how often English has them
    single = [SPACE] + list(letters)
    single += [c for c in map(chr, range(33, 127)) if c not in letters]
    room = n - len(head) - len(single)
    if room < 0:
        raise SystemExit(f'make_model.py: a vocabulary has {n - room} tokens at least')
    merges = (a + ''.join(b) for length in itertools.count(1)
              for a in [SPACE] + list(letters)
              for b in itertools.product(letters, repeat=length))
    pieces = list(itertools.islice(merges, room)) + single
    return head + [(p, -float(i), NORMAL) for i, p in enumerate(pieces)], len(head)


CHUNK = 256         # weights; a multiple of every type's block
POOL = 4099         # chunks of which all matrices are made, a prime


@functools.cache
def normals(seed, n):
    """n numbers of mean 0 and variance 1: sums of four uniform ones, exact on every machine."""
    r = random.Random(seed).random
    return [(r() + r() + r() + r() - 2) * 1.7320508 for _ in range(n)]


@functools.cache
def chunk(seed, i, kind, rms):
    """Chunk i of the pool, encoded: drawn and encoded once for all matrices of that rms."""
    return gguf.TYPES[kind].encode([rms * x for x in normals(f'{seed} chunk {i}', CHUNK)])


def stream(seed, name, n, kind, rms):
    """n weights, encoded, in pieces.  The chunks come in an order of the matrix' own, another one
    in each pass over the pool: so no two matrices are equal, nor two rows, but those of a matrix
    of more than a million weights in rows of one chunk or less."""
    t = gguf.TYPES[kind]
    draw = random.Random(f'{seed} {name}').randrange
    start, stride = draw(POOL), draw(POOL)
    left = n // t.block * t.block_bytes
    while left > 0:
        stride = stride % (POOL - 1) + 1
        chunks = min(-(-left // (CHUNK // t.block * t.block_bytes)), POOL)
        piece = b''.join(chunk(seed, (start + i * stride) % POOL, kind, rms)
                         for i in range(chunks))
        yield piece[:left]
        left -= len(piece)


class Maker:
    """Draws the tensors of a model; the weights depend on its seed and their name alone."""

    def __init__(self, g):
        self.g, self.tensors = g, []

    def kind(self, name, ne):
        """The last pattern that fits gives the type; only one with `norm` in it fits a norm, for
        published files have these in f32."""
        kind = self.g.matrix_type if len(ne) > 1 else 'f32'
        if kind in MIXTURES:
            kind = MIXTURES[kind](self.g, name, ne[0])
        for pattern, other in self.g.types:
            if fnmatch.fnmatchcase(name, pattern + '*') and (len(ne) > 1 or 'norm' in pattern):
                kind = other
        return kind

    def add(self, name, ne, chunks):
        kind = self.kind(name, ne)
        self.tensors.append(gguf.Tensor(name, ne, kind, chunks(kind)))

    def vector(self, name, n, mean=1.0, both_signs=False):
        """Weights of a norm, spread around their mean, or around it and its negative."""
        name += '.weight'

        def chunks(kind):
            seed = f'{self.g.seed} {name}'
            spread = [mean * (1 + 0.25 * x) for x in normals(seed, n)]
            signs = random.Random('signs ' + seed).choices((1, -1), k=n) if both_signs else [1] * n
            yield gguf.TYPES[kind].encode([x * s for x, s in zip(spread, signs)])
        self.add(name, (n,), chunks)

    def matrix(self, name, n, rows, rms, weak_rows=0, weak=0.3):
        """A matrix of weights of that rms; the first rows may be weaker."""
        name += '.weight'

        def chunks(kind):
            weak_ones = n * weak_rows
            yield from stream(self.g.seed, name, weak_ones, kind, weak * rms)
            yield from stream(self.g.seed, name, n * rows - weak_ones, kind, rms)
        self.add(name, (n, rows), chunks)


def q4_k_m(g, name, n):
    """What llama-quantize makes of a matrix (llama.cpp v0.4.0, src/llama-quant.cpp): more bits for
    those that need them, and another type where the rows are no whole blocks of 256."""
    more = name.startswith(('token_embd', 'output'))
    if name.endswith(('attn_v.weight', 'ffn_down.weight')):
        i, eighth = int(name.split('.')[1]), g.layers // 8
        more = i < eighth or i >= 7 * g.layers // 8 or (i - eighth) % 3 == 2
    return ('q6_k' if more else 'q4_k') if n % 256 == 0 else 'q8_0' if more else 'q5_0'


MIXTURES = {'q4_k_m': q4_k_m}      # types of a whole file

R0 = 0.05           # rms of the residual stream at its start: small, so that epsilon counts
SCORE = 2.5         # rms of the attention scores
LOGIT = 2.5         # rms of the logits, about


def layer(m, g, i):
    """The tensors of layer i, in the order of published files."""
    d, b = g.d_model, f'blk.{i}.'
    q, kv = g.heads * g.head_dim, g.kv_heads * g.head_dim
    post = g.arch != 'gemma'        # norms behind attention and feed-forward layer, too
    m.vector(b + 'attn_norm', d)
    m.matrix(b + 'attn_q', d, q, (SCORE / d) ** 0.5)
    m.matrix(b + 'attn_k', d, kv, (SCORE / d) ** 0.5)
    m.matrix(b + 'attn_v', d, kv, d ** -0.5)
    if g.arch == 'gemma3':
        m.vector(b + 'attn_q_norm', g.head_dim, SCORE ** 0.5)
        m.vector(b + 'attn_k_norm', g.head_dim, SCORE ** 0.5)
    m.matrix(b + 'attn_output', q, d, 1.2 * R0 * q ** -0.5)
    if post:
        m.vector(b + 'post_attention_norm', d, 0.8 * R0)
    m.vector(b + 'ffn_norm', d)
    m.matrix(b + 'ffn_gate', d, g.ffn, 1.7 * d ** -0.5)
    m.matrix(b + 'ffn_up', d, g.ffn, d ** -0.5)
    m.matrix(b + 'ffn_down', g.ffn, d, 0.8 * R0 * g.ffn ** -0.5)
    if post:
        m.vector(b + 'post_ffw_norm', d, 0.8 * R0)


def tensors(g):
    """All tensors of a model of geometry g.  What is no text has weak rows in the embedding, the
    output norm has both signs: so the likeliest token is neither an end nor the last one again."""
    m = Maker(g)
    m.matrix('token_embd', g.d_model, g.vocab, R0 * g.d_model ** -0.5, weak_rows=g.weak_rows)
    for i in range(g.layers):
        layer(m, g, i)
    m.vector('output_norm', g.d_model, LOGIT / R0, both_signs=True)
    return m.tensors


def metadata(g, tokens):
    """Keys and values, in the order of published files."""
    a = g.arch
    kv = {'general.architecture': a, 'general.name': f'random {a}, seed {g.seed}'}
    kv[a + '.context_length'] = g.context
    kv[a + '.embedding_length'] = g.d_model
    kv[a + '.block_count'] = g.layers
    kv[a + '.feed_forward_length'] = g.ffn
    kv[a + '.attention.head_count'] = g.heads
    kv[a + '.attention.head_count_kv'] = g.kv_heads
    kv[a + '.attention.layer_norm_rms_epsilon'] = g.eps
    kv[a + '.attention.key_length'] = kv[a + '.attention.value_length'] = g.head_dim
    if a == 'gemma2':
        kv[a + '.attn_logit_softcapping'], kv[a + '.final_logit_softcapping'] = 50.0, 30.0
    if a == 'gemma3':
        kv[a + '.rope.freq_base'] = 1e6
        if g.rope_factor != 1:
            kv[a + '.rope.scaling.type'] = 'linear'
            kv[a + '.rope.scaling.factor'] = g.rope_factor
    if a != 'gemma':
        kv[a + '.attention.sliding_window'] = g.window
    main_type = gguf.TYPES[g.matrix_type.removesuffix('_m')]
    kv['general.file_type'] = main_type.file_type
    if main_type.block > 1:
        kv['general.quantization_version'] = 2
    t = 'tokenizer.ggml.'
    kv[t + 'model'], kv[t + 'pre'] = 'llama', 'default'
    kv[t + 'tokens'] = [piece for piece, _, _ in tokens]
    kv[t + 'scores'] = [score for _, score, _ in tokens]
    kv[t + 'token_type'] = [kind for _, _, kind in tokens]
    for name, text in (('bos', '<bos>'), ('eos', '<eos>'), ('unknown', '<unk>'),
                       ('padding', '<pad>'), ('eot', '<end_of_turn>')):
        kv[f'{t}{name}_token_id'] = kv[t + 'tokens'].index(text)
    kv[t + 'add_bos_token'], kv[t + 'add_eos_token'] = True, False
    kv[t + 'add_space_prefix'] = False
    return kv


def metadata_value(text):
    """true and false, 12, 0.5, or else a string."""
    if text in ('true', 'false'):
        return text == 'true'
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


def type_argument(text):
    """('', 'f16') for f16, ('token_embd', 'f32') for token_embd=f32."""
    pattern, _, kind = text.rpartition('=')
    known = [*gguf.TYPES, *([] if pattern else MIXTURES)]
    if kind not in known:
        raise argparse.ArgumentTypeError(f'{kind} is none of ' + ' '.join(known))
    return pattern, kind


# The published sizes: layers, d_model, ffn, heads, kv_heads, head_dim.
PRESETS = {
    '2b': ('gemma', 18, 2048, 16384, 8, 1, 256), '7b': ('gemma', 28, 3072, 24576, 16, 16, 256),
    '2-2b': ('gemma2', 26, 2304, 9216, 8, 4, 256), '2-9b': ('gemma2', 42, 3584, 14336, 16, 8, 256),
    '2-27b': ('gemma2', 46, 4608, 36864, 32, 16, 128),
    '3-270m': ('gemma3', 18, 640, 2048, 4, 1, 256), '3-1b': ('gemma3', 26, 1152, 6912, 4, 1, 256),
    '3-4b': ('gemma3', 34, 2560, 10240, 8, 4, 256),
    '3-12b': ('gemma3', 48, 3840, 15360, 16, 8, 256),
    '3-27b': ('gemma3', 62, 5376, 21504, 32, 16, 128),
}


def preset(name):
    """The arguments that a preset is short for."""
    g = dict(zip(('arch', 'layers', 'd_model', 'ffn', 'heads', 'kv_heads', 'head_dim'),
                 PRESETS[name]))
    g.update(vocab=256000, context=8192, window=4096)
    if g['arch'] == 'gemma3':
        small = name in ('3-270m', '3-1b')
        g.update(vocab=262144, context=32768 if small else 131072, window=512 if small else 1024,
                 rope_factor=1.0 if small else 8.0)
    return g


def arguments():
    p = argparse.ArgumentParser(
        description='Write a Gemma model of random weights as a GGUF file.')
    p.add_argument('out', help='the file to write')
    p.add_argument('--preset', choices=PRESETS, help='a published size: what other options say '
                   'has precedence')
    p.add_argument('--arch', choices=['gemma', 'gemma2', 'gemma3'], default='gemma')
    for name, default, what in (
            ('layers', 2, 'number of layers'),
            ('d-model', 64, 'width of the residual stream'),
            ('heads', 4, 'query heads'),
            ('kv-heads', 1, 'key and value heads, a divisor of the query heads'),
            ('head-dim', 16, 'width of a head'),
            ('ffn', 128, 'width of the feed-forward layer'),
            ('vocab', 1021, 'tokens'),
            ('context', 512, 'positions'),
            ('window', 64, 'positions that a local layer sees, but for gemma'),
            ('seed', 1, 'of the weights')):
        p.add_argument('--' + name, type=int, default=default, metavar='N',
                       help=f'{what}: {default}')
    p.add_argument('--eps', type=float, default=1e-6, metavar='X', help='epsilon of norms: 1e-6')
    p.add_argument('--rope-factor', type=float, default=1.0, metavar='X',
                   help='linear scaling of global layers, gemma3: 1')
    p.add_argument('--type', type=type_argument, action='append', default=[], dest='types',
                   metavar='[TENSOR=]TYPE', help='type of all matrices (f16), or of the tensors '
                   'whose names begin so, * being anything; the last one that fits counts: '
                   + ' '.join(gguf.TYPES) + '; for a whole file also ' + ' '.join(MIXTURES))
    p.add_argument('--set', type=lambda s: s.split('=', 1), action='append', default=[],
                   metavar='KEY=VALUE', help='another value of a key, or one more key')
    p.add_argument('--drop', action='append', default=[], metavar='KEY', help='leave out a key')
    g = p.parse_args()
    if g.preset:
        p.set_defaults(**preset(g.preset))
        g = p.parse_args()
    g.matrix_type = ([kind for pattern, kind in g.types if not pattern] or ['f16'])[-1]
    g.types = [t for t in g.types if t[0]]
    return g


def main():
    g = arguments()
    tokens, g.weak_rows = vocabulary(g.vocab)
    kv = metadata(g, tokens)
    kv.update((key, metadata_value(v)) for key, v in g.set)
    for key in g.drop:
        del kv[key]
    try:
        gguf.write(g.out, kv, tensors(g))
    except (OSError, ValueError) as e:
        raise SystemExit(f'make_model.py: {e}')


if __name__ == '__main__':
    main()
