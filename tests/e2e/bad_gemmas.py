"""Malformed and odd files of Gemma 2 and 3, and of weights in blocks: more of bad_cases.py's list.

good_files() are what the unit tests bend, and twins: files that must give the very logits of another
one, or must not, by what they leave out or say in other words.
"""
import copy
import functools
import struct

from bad_kit import BIG, SEED, TOK, edit, fresh, kv, t
from gguf_edit import ARR, BOOL, F32, F64, I32, STR, U16, U32, U64, Noise, array, good, scalar

BOTH = ('gemma2', 'gemma3')
NAN, INF = float('nan'), float('inf')
ODD_FLOATS = (('nan', NAN), ('inf', INF), ('negative', -8.0), ('negative_0', -0.0))

# --- architectures, exactly by name
for arch in ('gemma3n', 'gemma4', 'gemma-embedding', 'llama', 'gemma22', 'gemma1', 'gemma0', 'gemma32',
             'gemm', 'gemma3_text', 't5gemma', 'paligemma', 'diffusion-gemma', 'clip', 'Gemma2', 'GEMMA'):
    kv('arch_is_' + arch, 'error', 'architecture ' + arch, 'general.architecture', STR, arch, says=arch)
for name, arch in (('space', 'gemma2 '), ('space_before', ' gemma2'), ('empty', ''), ('nul', 'gemma\0'),
                   ('long', 'gemma' * 99), ('escape', '\x1b[2Jgemma')):
    kv('arch_with_' + name, 'error', 'architecture %r' % arch[:20], 'general.architecture', STR, arch)
for arch, other in (('gemma2', 'gemma3'), ('gemma3', 'gemma2'), ('gemma3', 'gemma'), ('gemma2', 'gemma')):
    kv('%s_is_%s' % (arch, other), 'error', 'keys of %s, the architecture being %s' % (arch, other),
       'general.architecture', STR, other, arch)


def other_keys(g):
    """What other architectures say must not count."""
    for arch in ('gemma', 'gemma2', 'gemma3', 'gemma3n', 'llama', 'gemma3.vision', 'gemma33'):
        if not any(e[0] == (arch + '.block_count').encode() for e in g.kv):
            g.put(arch + '.block_count', U32, 77, 1)
            g.put(arch + '.attention.sliding_window', F32, -3.0)
            g.put(arch + '.attn_logit_softcapping', STR, 'none')
            g.put(arch + '.rope.freq_base', F32, 3.0)


# --- a part of a file
for n, says in ((2, 'split'), (6, 'split'), (65535, 'split')):
    edit('split_%d' % n, 'error', 'one of %d parts' % n, lambda g, n=n: g.put('split.count', U16, n, 0),
         says=says)
    edit('split_%d_last' % n, 'error', 'one of %d parts, said at the end' % n,
         lambda g, n=n: g.put('split.count', U16, n), says=says)
for n in (0, 1):
    edit('ok_split_%d' % n, 'ok', 'split.count %d: whole' % n,
         lambda g, n=n: [g.put('split.no', U16, 0), g.put('split.count', U16, n),
                         g.put('split.tensors.count', I32, 20)])
edit('split_u32', 'either', 'split.count is a u32', lambda g: g.put('split.count', U32, 1))

for arch in BOTH:
    A, P = arch + '.', arch + '_'

    def case(name, expect, reason, f, says='', arch=arch):
        edit(arch + '_' + name, expect, reason, f, arch, says)

    def without(tensor):
        return lambda g: g.t.remove(g.tensor(tensor))

    case('ok', 'ok', 'the good file', lambda g: None)
    case('ok_other_keys', 'ok', 'keys of other architectures', other_keys)
    case('ok_kv_reversed', 'ok', 'hyper-parameters before the architecture', lambda g: g.kv.reverse())
    case('ok_kv_sorted', 'ok', 'keys sorted by name', lambda g: g.kv.sort())
    case('ok_tensors_sorted', 'ok', 'tensors sorted by name', lambda g: g.t.sort(key=lambda x: x['name']))
    case('ok_vision', 'ok', 'tensors of a vision tower besides',
         lambda g: [g.add('v.blk.0.attn_q.weight', [32, 2], 10, bytes(256)),
                    g.add('mm.0.weight', [3, 3, 5, 2], 1, bytes(192))])
    # --- norms
    for tensor in ('blk.0.post_attention_norm', 'blk.1.post_ffw_norm', 'blk.1.attn_norm'):
        case('no_' + tensor, 'error', tensor + ' is missing', without(tensor + '.weight'), says=tensor)
        for dims in ([24], [96], [16], [48, 1], [1, 48], [], [0], [BIG]):
            t('%s%s_%s' % (P, tensor, 'x'.join(map(str, dims))), 'error', '%s %r' % (tensor, dims),
              tensor + '.weight', arch, tensor, dims=dims)
        for ty, name in ((1, 'F16'), (30, 'BF16'), (8, 'Q8_0'), (28, 'F64')):
            t('%s%s_%s' % (P, tensor, name), 'error', '%s is %s' % (tensor, name), tensor + '.weight', arch,
              tensor + '.weight ' + name, type=ty)
    # --- the window
    for n, expect in ((0, 'error'), (2 ** 31, 'any'), (2 ** 32 - 1, 'any'), (2 ** 32 - 64, 'any'),
                      (2 ** 30, 'any'), (1, 'any'), (256, 'any'), (1000000, 'any')):
        kv('%swindow_%d' % (P, n), expect, 'a window of %d' % n, A + 'attention.sliding_window', U32, n, arch)
    for ty, v in ((F32, 8.0), (STR, '8'), (U64, 8), (I32, -1), (BOOL, 1), (ARR, array(U32, [8] * 6))):
        kv('%swindow_type_%d' % (P, ty), 'error' if v != 8 else 'either', 'window of type %d' % ty,
           A + 'attention.sliding_window', ty, v, arch)
    # --- softcaps
    for key in ('attn_logit_softcapping', 'final_logit_softcapping'):
        def set_cap(g, ty, v, key=A + key):
            if any(e[0] == key.encode() for e in g.kv):
                g.drop(key)
            g.put(key, ty, v)
        for name, v in (*ODD_FLOATS, ('0', 0.0)):
            case('%s_%s' % (key, name), 'error', '%s is %s' % (key, name),
                 lambda g, v=v, f=set_cap: f(g, F32, v), says=key)
        for name, v in (('denormal', 1e-45), ('tiny', 1e-30), ('huge', 1e20)):
            case('%s_%s' % (key, name), 'any', '%s is %s' % (key, name),
                 lambda g, v=v, f=set_cap: f(g, F32, v))
        for ty, v in ((U32, 50), (F64, 50.0), (STR, '50')):
            case('%s_type_%d' % (key, ty), 'error', '%s of type %d' % (key, ty),
                 lambda g, ty=ty, v=v, f=set_cap: f(g, ty, v), says=key)
    # --- output.weight

    def output(g, dims=(48, 304), wide=False, **lies):
        x = copy.deepcopy(g.tensor('token_embd.weight'))
        if wide:
            n = len(x['data']) // 2
            x.update(type=0, data=struct.pack('<%df' % n, *struct.unpack('<%de' % n, x['data'])))
        x.update(name=b'output.weight', dims=list(dims), **lies)
        g.t.insert(1, x)

    case('ok_output', 'ok', 'output.weight is a copy of token_embd', output)
    case('ok_output_f32', 'ok', 'the same as F32', lambda g: output(g, wide=True))
    for dims in ((304, 48), (48, 303), (48, 305), (24, 304), (48 * 304,), (48, 304, 1), (48, 0)):
        case('output_' + 'x'.join(map(str, dims)), 'error', 'output.weight %r' % (dims,),
             lambda g, d=dims: output(g, d), says='output.weight')
    case('output_type', 'error', 'output.weight Q2_K', lambda g: output(g, type=10),
         says='output.weight Q2_K')
    case('output_twice', 'error', 'two of them', lambda g: [output(g), output(g)], says='output.weight')
    # --- heads
    for k, n in (('head_count', 3), ('head_count', 0), ('head_count_kv', 0), ('key_length', 12),
                 ('value_length', 8), ('key_length', 2 ** 31)):
        kv('%s%s_%d' % (P, k, n), 'either' if (k, n) == ('head_count_kv', 0) else 'error',
           '%s is %d' % (k, n), A + 'attention.' + k, U32, n, arch)
    case('head_count_array', 'error', 'head counts for each layer',
         lambda g: g.set(A_of(g) + 'attention.head_count_kv', ARR, array(I32, [1] * 6)), says='head_count_kv')


def A_of(g):
    """What a file's own keys begin with."""
    return g.kv[1][0].decode().split('.')[0] + '.'


# --- Gemma 3 alone
def case3(name, expect, reason, f, says=''):
    edit('gemma3_' + name, expect, reason, f, 'gemma3', says)


case3('no_window', 'error', 'sliding_window is missing', lambda g: g.drop('gemma3.attention.sliding_window'),
      'sliding_window')
for norm in ('blk.0.attn_q_norm', 'blk.5.attn_k_norm'):
    case3('no_' + norm, 'error', norm + ' is missing', lambda g, n=norm: g.t.remove(g.tensor(n + '.weight')),
          norm)
    for dims in ([8], [32], [48], [16, 2], [16, 1], []):
        t('gemma3_%s_%s' % (norm, 'x'.join(map(str, dims))), 'error', '%s %r' % (norm, dims),
          norm + '.weight', 'gemma3', norm, dims=dims)
    t('gemma3_%s_f16' % norm, 'error', norm + ' is F16', norm + '.weight', 'gemma3', norm + '.weight F16',
      type=1)
for name in ('yarn', 'longrope', 'dynamic', '', 'Linear', 'linear '):
    kv('gemma3_scaling_' + (name.replace(' ', '_') or 'empty'), 'error', 'rope.scaling.type %r' % name,
       'gemma3.rope.scaling.type', STR, name, 'gemma3', name.strip())
kv('gemma3_scaling_u32', 'error', 'rope.scaling.type is a number', 'gemma3.rope.scaling.type', U32, 1, 'gemma3')
kv('gemma3_ok_scaling_none', 'ok', 'no scaling', 'gemma3.rope.scaling.type', STR, 'none', 'gemma3')
kv('gemma3_factor_0', 'either', 'a factor of 0: none', 'gemma3.rope.scaling.factor', F32, 0.0, 'gemma3')
for key in ('rope.scaling.factor', 'rope.freq_base', 'rope.freq_base_swa'):
    for name, v in ODD_FLOATS:
        kv('gemma3_%s_%s' % (key, name), 'error', '%s is %s' % (key, name), 'gemma3.' + key, F32, v, 'gemma3',
           key)
    kv('gemma3_%s_type' % key, 'error', key + ' is a u32', 'gemma3.' + key, U32, 10000, 'gemma3', key)
for name, v in (('denormal', 1e-45), ('huge', 1e20)):
    kv('gemma3_factor_' + name, 'any', 'a %s factor' % name, 'gemma3.rope.scaling.factor', F32, v, 'gemma3')
for key in ('rope.freq_base', 'rope.freq_base_swa'):
    kv('gemma3_%s_half' % key, 'error', key + ' is 0.5', 'gemma3.' + key, F32, 0.5, 'gemma3', key)
    kv('gemma3_%s_huge' % key, 'any', key + ' is 1e20', 'gemma3.' + key, F32, 1e20, 'gemma3')
for key, old in (('global', 'rope.freq_base'), ('local', 'rope.freq_base_swa')):
    def ollama(g, v, old=old, key=key):
        g.rename('gemma3.' + old, 'gemma3.rope.%s.freq_base' % key)
        g.set('gemma3.rope.%s.freq_base' % key, F32, v)
    case3('ok_ollama_' + key, 'ok', "Ollama's key for the %s base" % key,
          lambda g, f=ollama, v=1e6 if key == 'global' else 1e4: f(g, v))
    for name, v in ODD_FLOATS:
        case3('ollama_%s_%s' % (key, name), 'error', "the same, %s" % name, lambda g, f=ollama, v=v: f(g, v))
for ty, v, expect in ((U32, 0, 'error'), (U32, 6, 'ok'), (U32, 1, 'any'), (U32, 2 ** 31, 'any'),
                      (ARR, array(BOOL, [1] * 6), 'either'), (F32, 6.0, 'error')):
    case3('pattern_%d_%s' % (ty, v if ty == U32 else ''), expect, 'sliding_window_pattern of type %d' % ty,
          lambda g, ty=ty, v=v: g.put('gemma3.attention.sliding_window_pattern', ty, v))

# --- weight types: all of ggml's, by number
TYPES = ('F32 F16 Q4_0 Q4_1 Q4_2 Q4_3 Q5_0 Q5_1 Q8_0 Q8_1 Q2_K Q3_K Q4_K Q5_K Q6_K Q8_K IQ2_XXS IQ2_XS '
         'IQ3_XXS IQ1_S IQ4_NL IQ3_S IQ2_S IQ4_XS I8 I16 I32 I64 F64 IQ1_M BF16 Q4_0_4_4 Q4_0_4_8 Q4_0_8_8 '
         'TQ1_0 TQ2_0 IQ4_NL_4_4 IQ4_NL_4_8 IQ4_NL_8_8 MXFP4').split()
# Those that mote reads in blocks: weights and bytes of a block.
BLOCKS = {'Q4_0': (32, 18), 'Q4_1': (32, 20), 'Q5_0': (32, 22), 'Q8_0': (32, 34), 'Q4_K': (256, 144),
          'Q5_K': (256, 176), 'Q6_K': (256, 210)}
for ty, name in [*enumerate(TYPES), (40, '?'), (41, '?'), (255, '?'), (256, '?'), (2 ** 31, '?'),
                 (2 ** 32 - 1, '?'), (2 ** 32 - 40, '?'), (2 ** 8 * 8, '?')]:
    if name not in BLOCKS and name not in ('F32', 'F16', 'BF16'):
        for tensor in ('blk.0.attn_q.weight', 'token_embd.weight'):
            t('type_%d_%s' % (ty, tensor[:3]), 'error', 'type %d, %s' % (ty, name), tensor,
              says='type not supported: %s %s' % (tensor, name), type=ty)
for name in BLOCKS:
    for tensor in ('token_embd.weight', 'blk.0.attn_v.weight', 'blk.1.ffn_up.weight'):
        t('rows_%s_%s' % (name, tensor[:5]), 'error', '%s rows of 48' % name, tensor,
          says='row of broken blocks: ' + tensor, type=TYPES.index(name))
    if name.endswith('K'):
        t('rows_%s_64' % name, 'error', '%s rows of 64' % name, 'blk.0.ffn_down.weight',
          says='row of broken blocks: blk.0.ffn_down.weight', type=TYPES.index(name))


# --- a model of blocks
def blocks(name, columns, rows, noise, scale=0.02):
    """A matrix of random blocks; scales, and minima, are about as large as `scale` in all."""
    n, size = BLOCKS[name]
    half = lambda s: struct.pack('<e', s * (1 + 0.3 * noise.gauss()))
    q = lambda k: bytes(noise.byte() for _ in range(k))
    one = {'Q4_0': lambda: half(scale / 4) + q(16), 'Q4_1': lambda: half(scale / 4) + half(-scale * 2) + q(16),
           'Q5_0': lambda: half(scale / 8) + q(20), 'Q8_0': lambda: half(scale / 64) + q(32),
           'Q4_K': lambda: half(scale / 128) + half(scale / 32) + q(140),
           'Q5_K': lambda: half(scale / 256) + half(scale / 32) + q(172),
           'Q6_K': lambda: q(208) + half(scale / 1024)}[name]
    data = b''.join(one() for _ in range(columns // n * rows))
    assert len(data) == columns // n * rows * size
    return data


class Bytes(Noise):
    def byte(self):
        self.gauss()
        return (self.s >> 33) * 0x9E3779B1 >> 20 & 255


@functools.cache
def good_blocks():
    """One layer, rows of 256; each tensor of another type."""
    g, noise = good(SEED, 'gemma3', D=256, H=2, K=1, hd=32, F=256, L=1), Bytes(7)
    for tensor, name in (('token_embd', 'Q6_K'), ('blk.0.attn_q', 'Q4_K'), ('blk.0.attn_k', 'Q5_K'),
                         ('blk.0.attn_v', 'Q8_0'), ('blk.0.attn_output', 'Q4_0'), ('blk.0.ffn_gate', 'Q4_1'),
                         ('blk.0.ffn_up', 'Q5_0'), ('blk.0.ffn_down', 'Q4_K')):
        x = g.tensor(tensor + '.weight')
        x.update(type=TYPES.index(name), data=blocks(name, *x['dims'], noise))
    return g


def edit_blocks(name, reason, f, expect='any', says=''):
    def change(g):
        g.__dict__.update(copy.deepcopy(good_blocks()).__dict__)
        f(g)
    edit('blocks_' + name, expect, reason, change, 'gemma3', says)


def damage(tensor, what):
    """Writes over the data of a tensor, block for block where it begins."""
    def change(g):
        x = g.tensor(tensor + '.weight')
        size = BLOCKS[TYPES[x['type']]][1]
        data = bytearray(x['data'])
        for at in range(0, len(data), size):
            where = at + size - 2 if TYPES[x['type']] == 'Q6_K' else at
            data[where:where + 2] = what
        x['data'] = bytes(data)
    return change


edit_blocks('good', 'seven types in one file', lambda g: None)
for tensor in ('token_embd', 'blk.0.attn_q', 'blk.0.attn_k', 'blk.0.attn_v', 'blk.0.attn_output',
               'blk.0.ffn_gate', 'blk.0.ffn_up', 'blk.0.ffn_down'):
    for name, what in (('inf', b'\x00\x7c'), ('nan', b'\xff\x7f'), ('max', b'\xff\x7b'), ('0', b'\0\0'),
                       ('denormal', b'\x01\x00')):
        edit_blocks('%s_%s' % (tensor, name), 'all scales are ' + name, damage(tensor, what))
    edit_blocks('%s_short' % tensor, 'reaches past the end of the file',
                lambda g, n=tensor: g.tensor(n + '.weight').update(offset=len(g.bytes()) // 32 * 32 - 4096),
                'error', tensor)


# --- what the unit tests read
def twins():
    """(name, file): same-ARCH-WHAT has the logits of good-ARCH, other-ARCH-WHAT has not."""
    def two(kind, base, what, f, cache={}):
        if base not in cache:
            cache[base] = BASES[base]()
        g = copy.deepcopy(cache[base])
        f(g, A_of(g))
        return '%s-%s-%s' % (kind, base, what), g.bytes

    def drop(*keys):
        return lambda g, A: [g.drop(key if key.startswith('tokenizer') else A + key) for key in keys]

    def put(key, ty, v):
        return lambda g, A: [g.drop(A + key) if any(e[0].decode() == A + key for e in g.kv) else None,
                             g.put(A + key, ty, v)]

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
        if base != 'blocks':
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
    yield two('same', 'gemma2', 'no-caps', drop('attn_logit_softcapping', 'final_logit_softcapping'))
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
