"""Malformed and odd files of Gemma 2 and 3: more of bad_cases.py's list."""
import copy
import struct

from bad_kit import BIG, edit, has, kv, own, t
from gguf_edit import ARR, BOOL, F32, F64, I32, STR, U16, U32, U64, array

BOTH = ('gemma2', 'gemma3')
NAN, INF = float('nan'), float('inf')
ODD_FLOATS = (('nan', NAN), ('inf', INF), ('negative', -8.0), ('negative_0', -0.0))

# --- architectures, exactly by name
for arch in ('gemma3n', 'gemma4', 'gemma-embedding', 'llama', 'gemma22', 'gemma1', 'gemma0',
             'gemma32', 'gemm', 'gemma3_text', 't5gemma', 'paligemma', 'diffusion-gemma', 'clip',
             'Gemma2', 'GEMMA'):
    kv('arch_is_' + arch, 'error', 'architecture ' + arch, 'general.architecture', STR, arch,
       says=arch)
for name, arch in (('space', 'gemma2 '), ('space_before', ' gemma2'), ('empty', ''),
                   ('nul', 'gemma\0'), ('long', 'gemma' * 99), ('escape', '\x1b[2Jgemma')):
    kv('arch_with_' + name, 'error', 'architecture %r' % arch[:20], 'general.architecture', STR,
       arch)
for arch, other in (('gemma2', 'gemma3'), ('gemma3', 'gemma2'), ('gemma3', 'gemma'),
                    ('gemma2', 'gemma')):
    kv('%s_is_%s' % (arch, other), 'error', 'keys of %s, the architecture being %s' % (arch, other),
       'general.architecture', STR, other, arch)


def other_keys(g):
    """What other architectures say must not count."""
    for arch in ('gemma', 'gemma2', 'gemma3', 'gemma3n', 'llama', 'gemma3.vision', 'gemma33'):
        if not has(g, arch + '.block_count'):
            g.put(arch + '.block_count', U32, 77, 1)
            g.put(arch + '.attention.sliding_window', F32, -3.0)
            g.put(arch + '.attn_logit_softcapping', STR, 'none')
            g.put(arch + '.rope.freq_base', F32, 3.0)


# --- a part of a file
for n in (2, 6, 65535):
    edit('split_%d' % n, 'error', 'one of %d parts' % n,
         lambda g, n=n: g.put('split.count', U16, n, 0), says='split')
    edit('split_%d_last' % n, 'error', 'one of %d parts, said at the end' % n,
         lambda g, n=n: g.put('split.count', U16, n), says='split')
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
    case('ok_gemma_keys', 'ok', 'keys of gemma in front, of other types',
         lambda g: [g.put('gemma.attention.sliding_window', F32, 3.0, 0),
                    g.put('gemma.block_count', STR, 'x', 0)])
    case('ok_factor_unused', 'ok', 'a factor, but no scaling',
         lambda g, a=arch: [g.put(a + '.rope.scaling.type', STR, 'none'),
                            g.put(a + '.rope.scaling.factor', F32, 64.0)])
    case('gemma_keys_alone', 'error', 'block_count is that of gemma',
         lambda g, a=arch: [g.drop(a + '.block_count'), g.put('gemma.block_count', U32, 2, 0)],
         says=arch + '.block_count')
    case('ok_key_linear', 'ok', 'unknown keys that are called as values are',
         lambda g: [g.put(k, U32, 1) for k in ('linear', 'none', 'gemma', 'llama')])
    case('ok_kv_reversed', 'ok', 'hyper-parameters before the architecture',
         lambda g: g.kv.reverse())
    case('ok_kv_sorted', 'ok', 'keys sorted by name', lambda g: g.kv.sort())
    case('ok_tensors_sorted', 'ok', 'tensors sorted by name',
         lambda g: g.t.sort(key=lambda x: x['name']))
    case('ok_vision', 'ok', 'tensors of a vision tower besides',
         lambda g: [g.add('v.blk.0.attn_q.weight', [32, 2], 10, bytes(256)),
                    g.add('mm.0.weight', [3, 3, 5, 2], 1, bytes(192))])
    # --- norms
    for tensor in ('blk.0.post_attention_norm', 'blk.1.post_ffw_norm', 'blk.1.attn_norm'):
        case('no_' + tensor, 'error', tensor + ' is missing', without(tensor + '.weight'),
             says=tensor)
        for dims in ([24], [96], [16], [48, 1], [1, 48], [], [0], [BIG]):
            t('%s%s_%s' % (P, tensor, 'x'.join(map(str, dims))), 'error', '%s %r' % (tensor, dims),
              tensor + '.weight', arch, tensor, dims=dims)
        for ty, name in ((1, 'F16'), (30, 'BF16'), (8, 'Q8_0'), (28, 'F64')):
            t('%s%s_%s' % (P, tensor, name), 'error', '%s is %s' % (tensor, name),
              tensor + '.weight', arch,
              tensor + '.weight ' + name, type=ty)
    # --- the window
    for n, expect in ((0, 'error'), (2 ** 31, 'any'), (2 ** 32 - 1, 'any'), (2 ** 32 - 64, 'any'),
                      (2 ** 30, 'any'), (1, 'any'), (256, 'any'), (1000000, 'any')):
        kv('%swindow_%d' % (P, n), expect, 'a window of %d' % n, A + 'attention.sliding_window',
           U32, n, arch)
    for ty, v in ((F32, 8.0), (STR, '8'), (U64, 8), (I32, -1), (BOOL, 1),
                  (ARR, array(U32, [8] * 6))):
        kv('%swindow_type_%d' % (P, ty), 'error' if v != 8 else 'either', 'window of type %d' % ty,
           A + 'attention.sliding_window', ty, v, arch)
    # --- softcaps
    for key in ('attn_logit_softcapping', 'final_logit_softcapping'):
        def set_cap(g, ty, v, key=A + key):
            if has(g, key):
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
    case('output_twice', 'error', 'two of them', lambda g: [output(g), output(g)],
         says='output.weight')
    # --- heads
    for k, n in (('head_count', 3), ('head_count', 0), ('head_count_kv', 0), ('key_length', 12),
                 ('value_length', 8), ('key_length', 2 ** 31)):
        kv('%s%s_%d' % (P, k, n), 'either' if (k, n) == ('head_count_kv', 0) else 'error',
           '%s is %d' % (k, n), A + 'attention.' + k, U32, n, arch)
    case('head_count_array', 'error', 'head counts for each layer',
         lambda g: g.set(own(g) + 'attention.head_count_kv', ARR, array(I32, [1] * 6)),
         says='head_count_kv')


# --- Gemma 3 alone
def case3(name, expect, reason, f, says=''):
    edit('gemma3_' + name, expect, reason, f, 'gemma3', says)


case3('no_window', 'error', 'sliding_window is missing',
      lambda g: g.drop('gemma3.attention.sliding_window'),
      'sliding_window')
for norm in ('blk.0.attn_q_norm', 'blk.5.attn_k_norm'):
    case3('no_' + norm, 'error', norm + ' is missing', lambda g,
          n=norm: g.t.remove(g.tensor(n + '.weight')),
          norm)
    for dims in ([8], [32], [48], [16, 2], [16, 1], []):
        t('gemma3_%s_%s' % (norm, 'x'.join(map(str, dims))), 'error', '%s %r' % (norm, dims),
          norm + '.weight', 'gemma3', norm, dims=dims)
    t('gemma3_%s_f16' % norm, 'error', norm + ' is F16', norm + '.weight', 'gemma3',
      norm + '.weight F16',
      type=1)
for name in ('yarn', 'longrope', 'dynamic', '', 'Linear', 'linear '):
    kv('gemma3_scaling_' + (name.replace(' ', '_') or 'empty'), 'error',
       'rope.scaling.type %r' % name,
       'gemma3.rope.scaling.type', STR, name, 'gemma3', name.strip())
kv('gemma3_scaling_u32', 'error', 'rope.scaling.type is a number', 'gemma3.rope.scaling.type', U32,
   1, 'gemma3')
kv('gemma3_ok_scaling_none', 'ok', 'no scaling', 'gemma3.rope.scaling.type', STR, 'none', 'gemma3')
kv('gemma3_factor_0', 'either', 'a factor of 0: none', 'gemma3.rope.scaling.factor', F32, 0.0,
   'gemma3')
for key in ('rope.scaling.factor', 'rope.freq_base', 'rope.freq_base_swa'):
    for name, v in ODD_FLOATS:
        kv('gemma3_%s_%s' % (key, name), 'error', '%s is %s' % (key, name), 'gemma3.' + key, F32, v,
           'gemma3',
           key)
    kv('gemma3_%s_type' % key, 'error', key + ' is a u32', 'gemma3.' + key, U32, 10000, 'gemma3',
       key)
for name, v in (('denormal', 1e-45), ('huge', 1e20)):
    kv('gemma3_factor_' + name, 'any', 'a %s factor' % name, 'gemma3.rope.scaling.factor', F32, v,
       'gemma3')
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
        case3('ollama_%s_%s' % (key, name), 'error', "the same, %s" % name, lambda g, f=ollama,
              v=v: f(g, v))
for ty, v, expect in ((U32, 0, 'error'), (U32, 6, 'ok'), (U32, 1, 'any'), (U32, 2 ** 31, 'any'),
                      (ARR, array(BOOL, [1] * 6), 'either'), (F32, 6.0, 'error')):
    case3('pattern_%d_%s' % (ty, v if ty == U32 else ''), expect,
          'sliding_window_pattern of type %d' % ty,
          lambda g, ty=ty, v=v: g.put('gemma3.attention.sliding_window_pattern', ty, v))
