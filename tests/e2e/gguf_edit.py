"""A small good Gemma model as a structure that can be bent, and its bytes.

good() builds it from nothing (no numpy, no tokenizer): 2 layers or 6, 304 tokens,
F16. File has every number of the format in the open, so that a mutation can lie
about any of them. Used by bad_kit.py.
"""
import struct

U8, I8, U16, I16, U32, I32, F32, BOOL, STR, ARR, U64, I64, F64 = range(13)
FMT = {U8: 'B', I8: 'b', U16: 'H', I16: 'h', U32: 'I', I32: 'i', F32: 'f', BOOL: 'B', U64: 'Q',
       I64: 'q', F64: 'd'}


def text(s):
    s = s if isinstance(s, bytes) else s.encode()
    return struct.pack('<Q', len(s)) + s


def array(ety, v, n=None):
    """Payload of an array value; n lies about the count."""
    body = b''.join(text(s) for s in v) if ety == STR else struct.pack('<%d%s' % (len(v), FMT[ety]),
                                                                       *v)
    return struct.pack('<IQ', ety, len(v) if n is None else n) + body


def scalar(ty, v):
    return text(v) if ty == STR else struct.pack('<' + FMT[ty], v)


class File:
    """magic, version, kv [(key, type, payload)], tensors [dict name dims type data, and lies]."""

    def __init__(self):
        self.magic, self.version, self.kv, self.t, self.al = b'GGUF', 3, [], [], 32
        self.n_tensors = self.n_kv = None     # lies about the counts
        self.gap, self.tail, self.order = 0, b'', None

    # metadata
    def put(self, key, ty, v, at=None):
        e = (key if isinstance(key, bytes) else key.encode(), ty,
             v if isinstance(v, bytes) and ty != STR else scalar(ty, v))
        self.kv.insert(len(self.kv) if at is None else at, e)

    def find(self, key):
        return next(i for i, e in enumerate(self.kv) if e[0] == key.encode())

    def set(self, key, ty, v):
        i = self.find(key)
        del self.kv[i]
        self.put(key, ty, v, i)

    def drop(self, key):
        del self.kv[self.find(key)]

    def rename(self, key, name):
        i = self.find(key)
        self.kv[i] = (name.encode(), *self.kv[i][1:])

    # tensors
    def tensor(self, name):
        return next(x for x in self.t if x['name'] == name.encode())

    def add(self, name, dims, ty, data):
        self.t.append({'name': name.encode(), 'dims': list(dims), 'type': ty, 'data': data})

    def bytes(self):
        pad = lambda n: -n % self.al
        off, place, body = 0, {}, b''
        for x in (self.order or self.t):
            place[id(x)] = off
            b = x['data'] + bytes(pad(len(x['data']))) + bytes(self.gap)
            body += b
            off += len(b)
        h = [self.magic,
             struct.pack('<IQQ', self.version,
                         len(self.t) if self.n_tensors is None else self.n_tensors,
                                     len(self.kv) if self.n_kv is None else self.n_kv)]
        for k, ty, v in self.kv:
            h.append(text(k) + struct.pack('<I', ty) + v)
        self.kv_end = sum(map(len, h))
        for x in self.t:
            d = x['dims']
            h.append(text(x['name']) + struct.pack('<I',
                                                   x.get('n_dims',
                                                         len(d))) + struct.pack('<%dQ' % len(d),
                                                                                *d) +
                     struct.pack('<IQ', x['type'], x.get('offset', place[id(x)])))
        head = b''.join(h)
        self.info_end = len(head)
        head += bytes(pad(len(head)))
        self.data_start = len(head)
        return head + body + self.tail


class Noise:
    """splitmix64, and a sum of four of its parts for something like a normal."""

    def __init__(self, seed):
        self.s = seed

    def gauss(self):
        self.s = (self.s + 0x9E3779B97F4A7C15) & (2 ** 64 - 1)
        z = self.s
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & (2 ** 64 - 1)
        z = (z ^ z >> 27) * 0x94D049BB133111EB & (2 ** 64 - 1)
        z ^= z >> 31
        return ((z & 65535) + (z >> 16 & 65535) + (z >> 32 & 65535) + (z >> 48) - 131070) / 37837.0


def good(seed=42, arch='gemma', D=48, H=2, K=1, hd=16, F=64, L=None):
    """Says what holds by default, too; but a window of 8, which the tests' texts go beyond."""
    g, r = File(), Noise(seed)
    L = L or (6 if arch == 'gemma3' else 2)  # of 6, one is global
    p = lambda k, ty, v: g.put(arch + '.' + k, ty, v)
    g.put('general.architecture', STR, arch)
    p('context_length', U32, 256)
    p('embedding_length', U32, D)
    p('block_count', U32, L)
    p('feed_forward_length', U32, F)
    p('attention.head_count', U32, H)
    p('attention.head_count_kv', U32, K)
    p('attention.layer_norm_rms_epsilon', F32, 1e-6)
    p('attention.key_length', U32, hd)
    p('attention.value_length', U32, hd)
    p('rope.freq_base', F32, 1e6 if arch == 'gemma3' else 10000.0)
    if arch == 'gemma3':
        p('rope.freq_base_swa', F32, 10000.0)
        p('rope.scaling.type', STR, 'linear')
        p('rope.scaling.factor', F32, 8.0 if L > 26 else 1.0)
    if arch != 'gemma':
        p('attention.sliding_window', U32, 8)
    if arch == 'gemma2':
        p('attn_logit_softcapping', F32, 50.0)
        p('final_logit_softcapping', F32, 30.0)
    g.put('general.file_type', U32, 1)
    tok = [('<pad>', 0, 3), ('<eos>', 0, 3), ('<bos>', 0, 3), ('<unk>', 0, 2)]
    tok += [('<0x%02X>' % i, 0, 6) for i in range(256)]
    tok += [(s, -i, 1) for i,
            s in enumerate(['th', 'the', 'in', 'er', 'an', 'on', 're', 'ou', 'at', 'en', '\u2581',
                            '\u2581the', '\u2581a'])]
    tok += [(chr(97 + i), -13 - i, 1) for i in range(26)] + [('.', -40, 1), (',', -41, 1),
                                                             ('!', -42, 1), ('?', -43, 1),
                                                             ('-', -44, 1)]
    g.put('tokenizer.ggml.model', STR, 'llama')
    g.put('tokenizer.ggml.pre', STR, 'default')
    g.put('tokenizer.ggml.tokens', ARR, array(STR, [t[0] for t in tok]))
    g.put('tokenizer.ggml.scores', ARR, array(F32, [t[1] for t in tok]))
    g.put('tokenizer.ggml.token_type', ARR, array(I32, [t[2] for t in tok]))
    g.put('tokenizer.ggml.bos_token_id', U32, 2)
    g.put('tokenizer.ggml.eos_token_id', U32, 1)
    g.put('tokenizer.ggml.unknown_token_id', U32, 3)
    g.put('tokenizer.ggml.padding_token_id', U32, 0)
    g.put('tokenizer.ggml.add_bos_token', BOOL, 1)
    g.put('tokenizer.ggml.add_eos_token', BOOL, 0)
    g.put('tokenizer.ggml.add_space_prefix', BOOL, 0)
    V = len(tok)

    def mat(name, cols, rows, s, scale=lambda row: 1.0):
        v = []
        for i in range(rows):
            c = scale(i) * s
            v += [c * r.gauss() for _ in range(cols)]
        g.add(name, [cols, rows], 1, struct.pack('<%de' % len(v), *v))

    def vec(name, n, mean=1.0, signed=False):
        v = [mean * (r.gauss() if signed else 1 + 0.2 * r.gauss()) for _ in range(n)]
        g.add(name, [n], 0, struct.pack('<%df' % n, *v))

    post, s = arch != 'gemma', D ** -0.5
    mat('token_embd.weight', D, V, 0.1 * s, lambda i: 0.3 if i < 260 else 1.0)
    for l in range(L):
        b = 'blk.%d.' % l
        vec(b + 'attn_norm.weight', D)
        mat(b + 'attn_q.weight', D, H * hd, 1.3 * s)
        mat(b + 'attn_k.weight', D, K * hd, 1.3 * s)
        mat(b + 'attn_v.weight', D, K * hd, s)
        if arch == 'gemma3':
            vec(b + 'attn_q_norm.weight', hd)
            vec(b + 'attn_k_norm.weight', hd)
        mat(b + 'attn_output.weight', H * hd, D, 0.12 * (H * hd) ** -0.5)
        if post:
            vec(b + 'post_attention_norm.weight', D, 0.1)
        vec(b + 'ffn_norm.weight', D)
        mat(b + 'ffn_gate.weight', D, F, 1.5 * s)
        mat(b + 'ffn_up.weight', D, F, s)
        mat(b + 'ffn_down.weight', F, D, 0.12 * F ** -0.5)
        if post:
            vec(b + 'post_ffw_norm.weight', D, 0.1)
    vec('output_norm.weight', D, 30.0, True)
    return g
