"""How a bad file is made: a good one, bent.  Used by bad_*.py, which have the lists."""
import copy
import functools
import struct

from gguf_edit import good

SEED, PROMPT, N = 42, 'the rain on the hill', 8
# What the good files say, in hex, by an fp64 oracle; smallest margins 0.53, 0.14, 0.05.
TEXTS = {'gemma': '6d2e6e6174616e6f6e6464', 'gemma2': '74686f6e6f617472616e6262',
         'gemma3': '7a6571656e776d216f'}
CASES = []
SAYS = {}           # file: what the error must say
BIG = 2 ** 64 - 1
A, TOK, V = 'gemma.', 'tokenizer.ggml.', 304
DOWN = 'blk.1.ffn_down.weight'


@functools.cache
def the_good_one(arch):
    return good(SEED, arch)


def fresh(arch='gemma'):
    return copy.deepcopy(the_good_one(arch))


def case(name, expect, reason):
    def wrap(f):
        CASES.append((name + '.gguf', expect, reason, f))
        return f
    return wrap


def edit(name, expect, reason, f, arch='gemma', says=''):
    """A case that changes the structure: f(file) in place.  Its text is the architecture's."""
    def make():
        g = fresh(arch)
        f(g)
        return g.bytes()
    CASES.append((name + '.gguf', expect, reason, make))
    SAYS[name + '.gguf'] = says


def cut(name, reason, where):
    """A case that keeps the first where(file, bytes) bytes."""
    def make():
        g = fresh()
        b = g.bytes()
        return b[:where(g, b)]
    CASES.append((name + '.gguf', 'error', reason, make))


def kv(name, expect, reason, key, ty, v, arch='gemma', says=''):
    edit(name, expect, reason, lambda g: g.set(key, ty, v), arch, says)


def t(file, expect, reason, tensor, arch='gemma', says='', **lies):
    edit(file, expect, reason, lambda g: g.tensor(tensor).update(lies), arch, says)


def text_of(name):
    """What a case prints that is a good file after all, in hex."""
    return TEXTS[name.split('_')[0] if name.startswith(('gemma2_', 'gemma3_')) else 'gemma']


def has(g, key):
    return any(e[0] == key.encode() for e in g.kv)


def own(g):
    """What the keys of a file's architecture begin with."""
    return g.kv[1][0].decode().split('.')[0] + '.'


PRE = struct.pack('<Q', len('zz.key')) + b'zz.key'


def raw_kv(name, expect, reason, blob):
    """blob stands where the first key begins; the count says one more key."""
    def make():
        g = fresh()
        b = g.bytes()
        head = b'GGUF' + struct.pack('<IQQ', 3, len(g.t), len(g.kv) + 1) + blob + b[24:g.info_end]
        return head + bytes(-len(head) % 32) + b[g.data_start:]
    CASES.append((name + '.gguf', expect, reason, make))
