"""How a bad file is made: a good one, bent.  Used by bad_cases.py, which has the list."""
import copy
import functools
import struct

from gguf_edit import good

SEED, PROMPT, N = 42, 'the rain on the hill', 8
TEXT = '6d2e6e6174616e6f6e6464'          # what good.gguf says, in hex; smallest margin 0.53
CASES = []
BIG = 2 ** 64 - 1
A, TOK, V = 'gemma.', 'tokenizer.ggml.', 304
DOWN = 'blk.1.ffn_down.weight'


@functools.cache
def the_good_one():
    return good(SEED)


def fresh():
    return copy.deepcopy(the_good_one())


def case(name, expect, reason):
    def wrap(f):
        CASES.append((name + '.gguf', expect, reason, f))
        return f
    return wrap


def edit(name, expect, reason, f):
    """A case that changes the structure: f(file) in place."""
    def make():
        g = fresh()
        f(g)
        return g.bytes()
    CASES.append((name + '.gguf', expect, reason, make))


def cut(name, reason, where):
    """A case that keeps the first where(file, bytes) bytes."""
    def make():
        g = fresh()
        b = g.bytes()
        return b[:where(g, b)]
    CASES.append((name + '.gguf', 'error', reason, make))


def kv(name, expect, reason, key, ty, v):
    edit(name, expect, reason, lambda g: g.set(key, ty, v))


def t(file, expect, reason, tensor, **lies):
    edit(file, expect, reason, lambda g: g.tensor(tensor).update(lies))


PRE = struct.pack('<Q', len('zz.key')) + b'zz.key'


def raw_kv(name, expect, reason, blob):
    """blob stands where the first key begins; the count says one more key."""
    def make():
        g = fresh()
        b = g.bytes()
        head = b'GGUF' + struct.pack('<IQQ', 3, len(g.t), len(g.kv) + 1) + blob + b[24:g.info_end]
        return head + bytes(-len(head) % 32) + b[g.data_start:]
    CASES.append((name + '.gguf', expect, reason, make))
