"""Good files for the unit tests to bend, and twins: files that must give the very logits of another
one, or must not, by what they leave out or say in other words.  Called by bad_cases.py.
"""
import copy

from bad_blocks import good_blocks
from bad_kit import SEED, fresh, has, own
from gguf_edit import F32, STR, U32, good


def twins():
    """(name, file): same-ARCH-WHAT has the logits of good-ARCH, other-ARCH-WHAT has not."""
    def two(kind, base, what, f, cache={}):
        if base not in cache:
            cache[base] = BASES[base]()
        g = copy.deepcopy(cache[base])
        f(g, own(g))
        return '%s-%s-%s' % (kind, base, what), g.bytes

    def drop(*keys):
        return lambda g, A: [g.drop(A + key) for key in keys]

    def put(key, ty, v):
        return lambda g, A: [g.drop(A + key) if has(g, A + key) else None, g.put(A + key, ty, v)]

    def rename(*pairs):
        return lambda g, A: [g.rename(A + a, A + b) for a, b in zip(pairs[::2], pairs[1::2])]

    def output(seed):
        def f(g, A):
            x = dict(copy.deepcopy(g.tensor('token_embd.weight')), name=b'output.weight')
            if seed:
                x['data'] = x['data'][96:] + x['data'][:96]
            g.t.append(x)
        return f

    eps = 'attention.layer_norm_rms_epsilon'
    for base in BASES:
        if base not in ('blocks', 'gemma2_long'):
            yield two('other', base, 'epsilon', put(eps, F32, 1e-2))
            yield two('same', base, 'no-base', drop('rope.freq_base'))
            yield two('other', base, 'base', put('rope.freq_base', F32, 20000.0))
            yield two('same', base, 'output', output(0))
            yield two('other', base, 'output', output(1))
            yield two('same', base, 'no-value-length', drop('attention.value_length'))
    yield two('same', 'heads', 'no-lengths', drop('attention.key_length', 'attention.value_length'))
    yield two('same', 'heads', 'no-head-count-kv', drop('attention.head_count_kv'))
    yield two('same', 'heads', 'scaling-none', put('rope.scaling.type', STR, 'none'))
    for key, wrong in (('attn_logit_softcapping', 2.0), ('final_logit_softcapping', 29.5)):
        yield two('same', 'gemma2', 'no-' + key, drop(key))
        yield two('other', 'gemma2', key, put(key, F32, wrong))
    yield two('same', 'gemma2', 'no-caps', drop('attn_logit_softcapping',
                                                'final_logit_softcapping'))
    for base in ('gemma2', 'gemma3'):
        for n in (7, 9):
            yield two('other', base, 'window-%d' % n, put('attention.sliding_window', U32, n))
    yield two('same', 'gemma2_long', 'no-window', drop('attention.sliding_window'))
    for n in (4095, 4097):
        yield two('other', 'gemma2_long', 'window-%d' % n, put('attention.sliding_window', U32, n))
    for base in ('gemma3', 'gemma3_27'):
        yield two('same', base, 'no-epsilon', drop(eps))
        yield two('same', base, 'no-local-base', drop('rope.freq_base_swa'))
        yield two('other', base, 'local-base', put('rope.freq_base_swa', F32, 10100.0))
        # Where nothing at all is said of rope, the factor is 8: Ollama's files of 4B and more.
        like = ('same', 'other')[base == 'gemma3_27']
        yield two(like, base, 'no-factor', drop('rope.scaling.factor'))
        yield two(like, base, 'no-scaling', drop('rope.scaling.factor', 'rope.scaling.type'))
        yield two(('other', 'same')[base == 'gemma3_27'], base, 'bare',
                  drop('rope.freq_base', 'rope.freq_base_swa', 'rope.scaling.factor',
                       'rope.scaling.type', eps))
        yield two('other', base, 'factor', put('rope.scaling.factor', F32, 2.0))
        yield two('same', base, 'ollama', rename('rope.freq_base', 'rope.global.freq_base',
                                                 'rope.freq_base_swa', 'rope.local.freq_base'))
        yield two('same', base, 'scale-linear', rename('rope.scaling.factor', 'rope.scale_linear'))
        yield two('same', base, 'pattern-6', put('attention.sliding_window_pattern', U32, 6))
        yield two('other', base, 'pattern-5', put('attention.sliding_window_pattern', U32, 5))
        yield two('other', base, 'pattern-1', put('attention.sliding_window_pattern', U32, 1))
        yield two('other', base, 'final-cap', put('final_logit_softcapping', F32, 30.0))

    def ollama(v):
        return lambda g, A: [rename('rope.freq_base', 'rope.global.freq_base')(g, A),
                             g.set(A + 'rope.global.freq_base', F32, v)]
    yield two('other', 'gemma3', 'ollama-base', ollama(10000.0))


def long_window():
    g = good(SEED, 'gemma2', D=8, H=1, K=1, hd=8, F=8)
    g.set('gemma2.attention.sliding_window', U32, 4096)
    g.set('gemma2.context_length', U32, 8192)
    return g


BASES = {'gemma': fresh, 'gemma2': lambda: fresh('gemma2'), 'gemma3': lambda: fresh('gemma3'),
         'heads': lambda: good(SEED, H=3, K=3),  # 3 * 16 = 48: what holds where nothing is said
         'gemma3_27': lambda: good(SEED, 'gemma3', D=16, H=2, hd=8, F=16, L=27),
         'gemma2_long': long_window, 'blocks': good_blocks}


def good_files():
    """(name, what makes its bytes)."""
    for base, make in BASES.items():
        yield 'good-' + base, lambda make=make: make().bytes()
    yield from twins()
