"""gguf.py - GGUF files from plain values and back.  Plain Python.

Used by make_model.py, bench.py, support.py and train/.  Format: ggml, docs/gguf.md, version 3; file
and machine are little-endian.
A new weight type is a new row of TYPES, with what turns numbers into its bytes and back: quants.py.
"""
import math
import mmap
import struct
from array import array
from typing import Callable, NamedTuple

import quants

UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9    # the types of metadata
FORMATS = {0: 'B', 1: 'b', 2: 'H', 3: 'h', 4: 'I', 5: 'i', 6: 'f', 7: '?', 10: 'Q', 11: 'q',
           12: 'd'}                                               # of struct


def to_f16(values):
    return struct.pack(f'<{len(values)}e', *values)


def from_f16(data):
    return array('f', struct.unpack(f'<{len(data) // 2}e', data))


def to_bf16(values):
    """The upper halves of f32s, rounded to nearest even."""
    bits = array('I', array('f', values).tobytes())
    return array('H', ((b + 0x7fff + (b >> 16 & 1)) >> 16 for b in bits)).tobytes()


def from_bf16(data):
    return array('f', array('I', (b << 16 for b in array('H', data))).tobytes())


class WeightType(NamedTuple):
    number: int         # enum ggml_type
    file_type: int      # enum llama_ftype of a file that is mostly of this type
    block: int          # weights in a block,
    block_bytes: int    # and bytes
    encode: Callable    # numbers, rounded to f32 first, to bytes
    decode: Callable    # bytes to array('f')


def blocks(number, file_type, block, block_bytes, encode, decode):
    """A quantised type; encode and decode are about one block."""
    def split(data, n):
        return (data[i:i + n] for i in range(0, len(data), n))
    return WeightType(number, file_type, block, block_bytes,
                      lambda v: b''.join(map(encode, split(v, block))),
                      lambda b: array('f', (x for part in split(b, block_bytes)
                                            for x in decode(part))))


TYPES = {
    'f32': WeightType(0, 0, 1, 4, lambda v: array('f', v).tobytes(), lambda b: array('f', b)),
    'f16': WeightType(1, 1, 1, 2, lambda v: to_f16(array('f', v)), from_f16),
    'bf16': WeightType(30, 32, 1, 2, to_bf16, from_bf16),
    'q8_0': blocks(8, 7, 32, 34, quants.encode_q8_0, quants.decode_q8_0),
    'q4_0': blocks(2, 2, 32, 18, quants.encode_q4_0, quants.decode_q4_0),
    'q4_1': blocks(3, 3, 32, 20, quants.encode_q4_1, quants.decode_q4_1),
    'q5_0': blocks(6, 8, 32, 22, quants.encode_q5_0, quants.decode_q5_0),
    'q4_k': blocks(12, 15, 256, 144, quants.encode_q4_k, quants.decode_q4_k),
    'q5_k': blocks(13, 17, 256, 176, quants.encode_q5_k, quants.decode_q5_k),
    'q6_k': blocks(14, 18, 256, 210, quants.encode_q6_k, quants.decode_q6_k),
}
KINDS = {t.number: kind for kind, t in TYPES.items()}


class Tensor(NamedTuple):
    name: str
    ne: tuple           # dimensions, the row length first
    kind: str           # of TYPES
    chunks: object      # the encoded weights: an iterable of bytes, none too large for memory

    def nbytes(self):
        t = TYPES[self.kind]
        if self.ne[0] % t.block:
            raise ValueError(f'{self.name}: a row of {self.ne[0]} has no whole {self.kind} blocks')
        return math.prod(self.ne) // t.block * t.block_bytes

    def values(self):
        return TYPES[self.kind].decode(b''.join(self.chunks))


def string(s):
    s = s.encode()
    return struct.pack('<Q', len(s)) + s


def value_type(v):
    """The type that files of Gemma models have for such a value."""
    if isinstance(v, bool):
        return BOOL
    return {int: UINT32, float: FLOAT32, str: STRING, list: ARRAY}[type(v)]


def value(v):
    kind = value_type(v)
    if kind == STRING:
        return string(v)
    if kind != ARRAY:
        return struct.pack('<' + FORMATS[kind], v)
    element = value_type(v[0])
    if element == STRING:
        body = b''.join(map(string, v))
    else:
        element = INT32 if element == UINT32 else element         # as token_type has it
        body = struct.pack(f'<{len(v)}{FORMATS[element]}', *v)
    return struct.pack('<IQ', element, len(v)) + body


def write(path, metadata, tensors):
    """metadata: key to bool, int, float, string or list of these.  Returns the header's length."""
    align = metadata.get('general.alignment', 32)
    header = [struct.pack('<4sIQQ', b'GGUF', 3, len(tensors), len(metadata))]
    for key, v in metadata.items():
        header += [string(key), struct.pack('<I', value_type(v)), value(v)]
    offset = 0
    for t in tensors:
        header += [string(t.name), struct.pack(f'<I{len(t.ne)}Q', len(t.ne), *t.ne),
                   struct.pack('<IQ', TYPES[t.kind].number, offset)]
        offset += t.nbytes() + -t.nbytes() % align
    header = b''.join(header)
    header += bytes(-len(header) % align)
    with open(path, 'wb') as f:
        f.write(header)
        for t in tensors:
            written = sum(map(f.write, t.chunks))
            assert written == t.nbytes(), t.name
            f.write(bytes(-written % align))
    return len(header)


class Reader:
    """The bytes of a file, from the front."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        if self.at > len(self.data):
            raise ValueError('truncated')
        return self.data[self.at - n:self.at]

    def number(self, letter):
        return struct.unpack('<' + letter, self.take(struct.calcsize('<' + letter)))[0]

    def string(self):
        return self.take(self.number('Q')).decode()

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            element, n = self.number('I'), self.number('Q')
            return [self.value(element) for _ in range(n)]
        return self.number(FORMATS[kind])


def read_header(path):
    """(metadata, [(Tensor without data, where its data begins)], where all data begins); a type
    that is not known here has its number instead of a name."""
    with open(path, 'rb') as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
        r = Reader(data)
        if r.take(4) != b'GGUF' or r.number('I') != 3:
            raise ValueError(f'{path}: not a GGUF file of version 3')
        n_tensors, n_keys = r.number('Q'), r.number('Q')
        metadata, places = {}, []
        for _ in range(n_keys):
            key = r.string()
            metadata[key] = r.value(r.number('I'))
        for _ in range(n_tensors):
            name = r.string()
            ne = tuple(r.number('Q') for _ in range(r.number('I')))
            number = r.number('I')
            places.append((Tensor(name, ne, KINDS.get(number, number), []), r.number('Q')))
        base = r.at + -r.at % metadata.get('general.alignment', 32)
    return metadata, [(tensor, base + offset) for tensor, offset in places], base


def read(path):
    """(metadata, {name: Tensor}) of a file whose types are all known here."""
    metadata, places, _ = read_header(path)
    with open(path, 'rb') as f:
        for tensor, at in places:
            f.seek(at)
            tensor.chunks.append(Reader(f.read(tensor.nbytes())).take(tensor.nbytes()))
    return metadata, {tensor.name: tensor for tensor, _ in places}
