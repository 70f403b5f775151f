"""quants.py - GGUF's blocks of quantised weights, from numbers and back.  Plain Python.

Used by gguf.py, whose TYPES has a row for each.  Layouts: ggml, src/ggml-common.h, block_q8_0 and
so on.  Each function is about one block: a list of 32 or 256 numbers, and its bytes.  A weight is
scale * q + min, q an integer.  The scales are those that span the weights of a block: ggml looks
for better ones, for K types above all.
"""
import struct


def f16(x):
    """What a f16 makes of x."""
    return struct.unpack('<e', struct.pack('<e', x))[0]


def integers(values, scale, low, high):
    """The values in units of scale, rounded, within low .. high."""
    if scale == 0:
        return [0] * len(values)
    return [min(max(round(v / scale), low), high) for v in values]


def extreme(values):
    """The value farthest from 0."""
    return max(values, key=abs)


def nibbles(q):
    """Two integers of 4 bits a byte: the first half of q in the lower bits."""
    half = len(q) // 2
    return bytes(a & 15 | (b & 15) << 4 for a, b in zip(q[:half], q[half:]))


def from_nibbles(data):
    return [b & 15 for b in data] + [b >> 4 for b in data]


def encode_q8_0(v):
    d = f16(abs(extreme(v)) / 127)
    return struct.pack('<e32b', d, *integers(v, d, -127, 127))


def decode_q8_0(b):
    d, *q = struct.unpack('<e32b', b)
    return [d * x for x in q]


def encode_q4_0(v):
    d = f16(extreme(v) / -8)
    return struct.pack('<e', d) + nibbles([q + 8 for q in integers(v, d, -8, 7)])


def decode_q4_0(b):
    d, = struct.unpack_from('<e', b)
    return [d * (q - 8) for q in from_nibbles(b[2:])]


def encode_q4_1(v):
    low = f16(min(v))
    d = f16((max(v) - low) / 15)
    return struct.pack('<ee', d, low) + nibbles(integers([x - low for x in v], d, 0, 15))


def decode_q4_1(b):
    d, low = struct.unpack_from('<ee', b)
    return [d * q + low for q in from_nibbles(b[4:])]


def encode_q5_0(v):
    d = f16(extreme(v) / -16)
    q = [x + 16 for x in integers(v, d, -16, 15)]
    return struct.pack('<eI', d, sum(x >> 4 << i for i, x in enumerate(q))) + nibbles(q)


def decode_q5_0(b):
    d, fifth = struct.unpack_from('<eI', b)
    return [d * ((q | (fifth >> i & 1) << 4) - 16) for i, q in enumerate(from_nibbles(b[6:]))]


# The K types: 256 weights, with an integer scale, and minimum, for every 32 or 16 of them.

def parts(v, n):
    return [v[i:i + n] for i in range(0, len(v), n)]


def scales_and_minima(v, top):
    """For 8 parts with q from 0 to top: d, dmin, the integer scales, the integer minima, all q."""
    v = parts(v, 32)
    minima = [max(0, -min(x)) for x in v]
    scales = [(max(x) + m) / top for x, m in zip(v, minima)]
    d, dmin = f16(max(map(abs, scales)) / 63), f16(max(minima) / 63)
    s, m = integers(scales, d, 0, 63), integers(minima, dmin, 0, 63)
    q = [integers([y + dmin * m[i] for y in x], d * s[i], 0, top) for i, x in enumerate(v)]
    return d, dmin, s, m, q


def pack_scales(s, m):
    """6 bits each in 12 bytes: parts 0 to 3 whole, 4 to 7 in their lower 4 bits and, above the
    former, their upper 2."""
    return bytes([s[i] | s[i + 4] >> 4 << 6 for i in range(4)] +
                 [m[i] | m[i + 4] >> 4 << 6 for i in range(4)] +
                 [s[i] & 15 | (m[i] & 15) << 4 for i in range(4, 8)])


def unpack_scales(b):
    return ([x & 63 for x in b[:4]] + [b[8 + i] & 15 | b[i] >> 6 << 4 for i in range(4)],
            [x & 63 for x in b[4:8]] + [b[8 + i] >> 4 | b[4 + i] >> 6 << 4 for i in range(4)])


def from_parts(head, q):
    """The weights; head is d, dmin and the packed scales, q the integers."""
    d, dmin = struct.unpack_from('<ee', head)
    s, m = unpack_scales(head[4:])
    return [d * s[i // 32] * x - dmin * m[i // 32] for i, x in enumerate(q)]


def encode_q4_k(v):
    d, dmin, s, m, q = scales_and_minima(v, 15)
    return (struct.pack('<ee', d, dmin) + pack_scales(s, m) +
            b''.join(nibbles(q[i] + q[i + 1]) for i in range(0, 8, 2)))


def decode_q4_k(b):
    return from_parts(b[:16], sum(map(from_nibbles, parts(b[16:], 32)), []))


def encode_q5_k(v):
    d, dmin, s, m, q = scales_and_minima(v, 31)
    fifth = bytes(sum(q[p][i] >> 4 << p for p in range(8)) for i in range(32))
    return (struct.pack('<ee', d, dmin) + pack_scales(s, m) + fifth +
            b''.join(nibbles(q[i] + q[i + 1]) for i in range(0, 8, 2)))


def decode_q5_k(b):
    q = sum(map(from_nibbles, parts(b[48:], 32)), [])
    return from_parts(b[:16], [x | (b[16 + i % 32] >> i // 32 & 1) << 4 for i, x in enumerate(q)])


def encode_q6_k(v):
    v = parts(v, 16)
    scales = [extreme(x) / -32 for x in v]
    d = f16(extreme(scales) / -128)
    s = integers(scales, d, -128, 127)
    q = [x + 32 for i, part in enumerate(v) for x in integers(part, d * s[i], -32, 31)]
    upper = bytes(sum(q[h + 32 * p + i] >> 4 << 2 * p for p in range(4))
                  for h in (0, 128) for i in range(32))
    return nibbles(q[:128]) + nibbles(q[128:]) + upper + struct.pack('<16be', *s, d)


def decode_q6_k(b):
    *s, d = struct.unpack('<16be', b[192:])
    q = from_nibbles(b[:64]) + from_nibbles(b[64:128])
    upper = [b[128 + i // 128 * 32 + i % 32] >> i % 128 // 32 * 2 & 3 for i in range(256)]
    return [d * s[i // 16] * ((x | upper[i] << 4) - 32) for i, x in enumerate(q)]
