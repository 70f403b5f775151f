#!/usr/bin/env python3
"""make_model.py - a Gemma of random weights, of any geometry, as a GGUF file.  Plain Python.

For tests and for measuring speed: the answers mean nothing, but every activation has a sensible
size, so that they show every mistake.  The same arguments give the same bytes on every machine.

    make_model.py small.gguf
    make_model.py odd.gguf --layers 1 --d-model 24 --heads 3 --kv-heads 1 --head-dim 8 --ffn 40
    make_model.py mixed.gguf --type bf16 --type token_embd=f32 --type 'blk.1.ffn_*=f16'
    make_model.py base.gguf --set gemma.rope.freq_base=15000.0 --drop general.name
    make_model.py big.gguf --layers 18 --d-model 2048 --heads 8 --kv-heads 1 --head-dim 256 \\
        --ffn 16384 --vocab 256000 --context 8192       # Gemma-2B: 5 GB

Read next: gguf.py.  To add an architecture: its tensors in layer(), its keys in metadata().
"""
import argparse
import fnmatch
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


PERIOD = 1048583    # weights after which a tensor repeats: a prime, so that no two rows are equal


def normals(seed, n):
    """n numbers of mean 0 and variance 1: sums of four uniform ones, exact on every machine."""
    r = random.Random(seed).random
    return [(r() + r() + r() + r() - 2) * 1.7320508 for _ in range(n)]


class Maker:
    """Draws the tensors of a model, one by one; the weights depend on its seed and their name."""

    def __init__(self, seed, matrix_type, types):
        self.seed, self.matrix_type, self.types, self.tensors = seed, matrix_type, types, []

    def add(self, name, ne, kind, chunks):
        """The last pattern that fits gives the type; only one with `norm` in it fits a norm, for
        published files have these in f32."""
        name += '.weight'
        for pattern, other in self.types:
            if fnmatch.fnmatchcase(name, pattern + '*') and (len(ne) > 1 or 'norm' in pattern):
                kind = other
        self.tensors.append(gguf.Tensor(name, ne, kind, chunks(f'{self.seed} {name}', kind)))

    def vector(self, name, n, mean=1.0, both_signs=False):
        """Weights of a norm, spread around their mean, or around it and its negative."""
        def chunks(seed, kind):
            spread = [mean * (1 + 0.25 * x) for x in normals(seed, n)]
            signs = random.Random('signs ' + seed).choices((1, -1), k=n) if both_signs else [1] * n
            yield gguf.TYPES[kind].encode([x * s for x, s in zip(spread, signs)])
        self.add(name, (n,), 'f32', chunks)

    def matrix(self, name, n, rows, rms, weak_rows=0, weak=0.3):
        """A matrix of weights of that rms; the first rows may be weaker."""
        def chunks(seed, kind):
            t = gguf.TYPES[kind]
            drawn = normals(seed, min(n * rows, PERIOD))
            encode = lambda values, scale: t.encode([scale * x for x in values])
            yield encode(drawn[:n * weak_rows], weak * rms)
            pool = encode(drawn, rms)
            left = n * (rows - weak_rows) // t.block * t.block_bytes
            while left > 0:
                yield pool[:left]
                left -= len(pool)
        self.add(name, (n, rows), self.matrix_type, chunks)


R0 = 0.05           # rms of the residual stream at its start: small, so that epsilon counts
SCORE = 2.5         # rms of the attention scores
LOGIT = 2.5         # rms of the logits, about


def layer(m, g, i):
    """The tensors of layer i, in the order of published files."""
    d, b = g.d_model, f'blk.{i}.'
    q, kv = g.heads * g.head_dim, g.kv_heads * g.head_dim
    m.vector(b + 'attn_norm', d)
    m.matrix(b + 'attn_q', d, q, (SCORE / d) ** 0.5)
    m.matrix(b + 'attn_k', d, kv, (SCORE / d) ** 0.5)
    m.matrix(b + 'attn_v', d, kv, d ** -0.5)
    m.matrix(b + 'attn_output', q, d, 1.2 * R0 * q ** -0.5)
    m.vector(b + 'ffn_norm', d)
    m.matrix(b + 'ffn_gate', d, g.ffn, 1.7 * d ** -0.5)
    m.matrix(b + 'ffn_up', d, g.ffn, d ** -0.5)
    m.matrix(b + 'ffn_down', g.ffn, d, 0.8 * R0 * g.ffn ** -0.5)


def tensors(g):
    """All tensors of a model of geometry g.  What is no text has weak rows in the embedding, the
    output norm has both signs: so the likeliest token is neither an end nor the last one again."""
    m = Maker(g.seed, g.matrix_type, g.types)
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
    kv['general.file_type'] = gguf.TYPES[g.matrix_type].file_type
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
    if kind not in gguf.TYPES:
        raise argparse.ArgumentTypeError(f'{kind} is none of ' + ' '.join(gguf.TYPES))
    return pattern, kind


def arguments():
    p = argparse.ArgumentParser(
        description='Write a Gemma model of random weights as a GGUF file.')
    p.add_argument('out', help='the file to write')
    p.add_argument('--arch', choices=['gemma'], default='gemma')
    for name, default, what in (
            ('layers', 2, 'number of layers'),
            ('d-model', 64, 'width of the residual stream'),
            ('heads', 4, 'query heads'),
            ('kv-heads', 1, 'key and value heads, a divisor of the query heads'),
            ('head-dim', 16, 'width of a head'),
            ('ffn', 128, 'width of the feed-forward layer'),
            ('vocab', 1021, 'tokens'),
            ('context', 512, 'positions'),
            ('seed', 1, 'of the weights')):
        p.add_argument('--' + name, type=int, default=default, metavar='N',
                       help=f'{what}: {default}')
    p.add_argument('--eps', type=float, default=1e-6, metavar='X', help='epsilon of norms: 1e-6')
    p.add_argument('--type', type=type_argument, action='append', default=[], dest='types',
                   metavar='[TENSOR=]TYPE', help='type of all matrices (f16), or of the tensors '
                   'whose names begin so, * being anything; the last one that fits counts: '
                   + ' '.join(gguf.TYPES))
    p.add_argument('--set', type=lambda s: s.split('=', 1), action='append', default=[],
                   metavar='KEY=VALUE', help='another value of a key, or one more key')
    p.add_argument('--drop', action='append', default=[], metavar='KEY', help='leave out a key')
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
    gguf.write(g.out, kv, tensors(g))


if __name__ == '__main__':
    main()
