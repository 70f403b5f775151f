"""Unknown weight types, rows that do not fit, blocks of odd bits: more of bad_cases.py's list."""
import copy
import functools
import struct

from bad_kit import SEED, edit, t
from gguf_edit import Noise, good

# --- weight types: all of ggml's, by number
TYPES = ('F32 F16 Q4_0 Q4_1 Q4_2 Q4_3 Q5_0 Q5_1 Q8_0 Q8_1 Q2_K Q3_K Q4_K Q5_K Q6_K Q8_K '
         'IQ2_XXS IQ2_XS IQ3_XXS IQ1_S IQ4_NL IQ3_S IQ2_S IQ4_XS I8 I16 I32 I64 F64 IQ1_M BF16 '
         'Q4_0_4_4 Q4_0_4_8 Q4_0_8_8 TQ1_0 TQ2_0 IQ4_NL_4_4 IQ4_NL_4_8 IQ4_NL_8_8 MXFP4').split()
# Those that mote reads in blocks: weights and bytes of a block.
BLOCKS = {'Q4_0': (32, 18), 'Q4_1': (32, 20), 'Q5_0': (32, 22), 'Q8_0': (32, 34),
          'Q4_K': (256, 144), 'Q5_K': (256, 176), 'Q6_K': (256, 210)}
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
    one = {'Q4_0': lambda: half(scale / 4) + q(16),
           'Q4_1': lambda: half(scale / 4) + half(-scale * 2) + q(16),
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
                         ('blk.0.attn_v', 'Q8_0'), ('blk.0.attn_output', 'Q4_0'),
                         ('blk.0.ffn_gate', 'Q4_1'), ('blk.0.ffn_up', 'Q5_0'),
                         ('blk.0.ffn_down', 'Q4_K')):
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
    for name, what in (('inf', b'\x00\x7c'), ('nan', b'\xff\x7f'), ('max', b'\xff\x7b'),
                       ('0', b'\0\0'), ('denormal', b'\x01\x00')):
        edit_blocks('%s_%s' % (tensor, name), 'all scales are ' + name, damage(tensor, what))
    edit_blocks('%s_short' % tensor, 'reaches past the end of the file',
                lambda g,
                n=tensor: g.tensor(n + '.weight').update(offset=len(g.bytes()) // 32 * 32 - 4096),
                'error', tensor)
