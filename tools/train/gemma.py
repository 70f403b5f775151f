"""gemma.py - the forward pass of Gemma 1 in torch: what is trained, and the reference for mote.

The parameters have the names of a GGUF file, without `.weight`; norms hold w where the file holds
1 + w.  Shapes in comments: B sequences, T tokens, H query heads, G key and value heads, D head_dim.
"""
import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Geometry:
    vocab: int = 2048
    d_model: int = 128
    n_layer: int = 5
    n_head: int = 4
    n_kv_head: int = 1
    head_dim: int = 32
    ffn: int = 256
    context: int = 512
    eps: float = 1e-6
    rope_base: float = 10000.0


def rmsnorm(x, w, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * (1 + w)


def matrix(rows, columns, gain=1.0):
    return nn.Parameter(torch.randn(rows, columns) * gain * columns ** -0.5)


class Layer(nn.Module):
    def __init__(self, g):
        super().__init__()
        self.g = g
        small = 1 / math.sqrt(2 * g.n_layer)    # the residual stream keeps its size
        self.attn_norm = nn.Parameter(torch.zeros(g.d_model))
        self.attn_q = matrix(g.n_head * g.head_dim, g.d_model)
        self.attn_k = matrix(g.n_kv_head * g.head_dim, g.d_model)
        self.attn_v = matrix(g.n_kv_head * g.head_dim, g.d_model)
        self.attn_output = matrix(g.d_model, g.n_head * g.head_dim, small)
        self.ffn_norm = nn.Parameter(torch.zeros(g.d_model))
        self.ffn_gate = matrix(g.ffn, g.d_model)
        self.ffn_up = matrix(g.ffn, g.d_model)
        self.ffn_down = matrix(g.d_model, g.ffn, small)

    def forward(self, x, rope, cache):
        g = self.g
        x = x + self.attention(rmsnorm(x, self.attn_norm, g.eps), rope, cache)
        h = rmsnorm(x, self.ffn_norm, g.eps)
        gate = F.gelu(h @ self.ffn_gate.t(), approximate='tanh')
        return x + (gate * (h @ self.ffn_up.t())) @ self.ffn_down.t()

    def attention(self, h, rope, cache):
        g, (B, T, _) = self.g, h.shape
        G, D, R = g.n_kv_head, g.head_dim, g.n_head // g.n_kv_head
        q = rope.turn((h @ self.attn_q.t()).view(B, T, g.n_head, D)) * D ** -0.5
        k = rope.turn((h @ self.attn_k.t()).view(B, T, G, D))
        v = (h @ self.attn_v.t()).view(B, T, G, D)
        q = q.transpose(1, 2).reshape(B * G, R, T, D)   # R query heads share a key and value head
        k = k.transpose(1, 2).reshape(B * G, T, D)
        v = v.transpose(1, 2).reshape(B * G, T, D)
        if cache is not None:
            if cache:
                k, v = torch.cat((cache['k'], k), 1), torch.cat((cache['v'], v), 1)
            cache['k'], cache['v'] = k, v
        out = []
        past, step = k.shape[1] - T, min(T, 128)
        for first in range(0, T, step):                 # some queries at a time see what is before
            last = min(T, first + step)
            n, seen = last - first, past + last
            s = q[:, :, first:last].reshape(B * G, R * n, D) @ k[:, :seen].transpose(1, 2)
            s = s.view(B * G, R, n, seen) + mask(n, seen)
            s = s.softmax(-1).view(B * G, R * n, seen) @ v[:, :seen]
            out.append(s.view(B * G, R, n, D))
        out = torch.cat(out, 2).view(B, g.n_head, T, D).transpose(1, 2).reshape(B, T, -1)
        return out @ self.attn_output.t()


MASKS = {}


def mask(n, seen):
    """What hides from each of the last n of the seen positions what comes after it."""
    if (n, seen) not in MASKS:
        MASKS[n, seen] = torch.full((n, seen), -1e9).triu(1 + seen - n)
    return MASKS[n, seen]


class Rope:
    """The rotation of queries and keys at positions [first, first + n)."""

    def __init__(self, g, first, n):
        frequency = g.rope_base ** -(torch.arange(0, g.head_dim, 2).float() / g.head_dim)
        angle = torch.outer(torch.arange(first, first + n).float(), frequency)[None, :, None]
        self.cos = torch.cat((angle.cos(), angle.cos()), -1)    # [1][T][1][D]
        self.sin = torch.cat((angle.sin(), angle.sin()), -1)

    def turn(self, x):
        """x: [B][T][heads][D]; the pairs are (i, i + D/2)."""
        a, b = x.chunk(2, -1)
        return x * self.cos + torch.cat((-b, a), -1) * self.sin


class Gemma(nn.Module):
    def __init__(self, g):
        super().__init__()
        self.g = g
        self.token_embd = nn.Parameter(torch.randn(g.vocab, g.d_model) * 0.05)
        self.blk = nn.ModuleList(Layer(g) for _ in range(g.n_layer))
        self.output_norm = nn.Parameter(torch.zeros(g.d_model))

    def forward(self, tokens, cache=None, past=0):
        """tokens: [B][T] to logits: [B][T][vocab].  cache: a dict per layer, with `past` tokens."""
        rope = Rope(self.g, past, tokens.shape[1])
        x = F.embedding(tokens, self.token_embd) * math.sqrt(self.g.d_model)
        for i, layer in enumerate(self.blk):
            x = layer(x, rope, cache and cache[i])
        return rmsnorm(x, self.output_norm, self.g.eps) @ self.token_embd.t()

    @torch.no_grad()
    def generate(self, prompt, n, stops, temperature=0.0, top_p=1.0, generator=None, margins=None):
        """Up to n tokens behind a prompt, the last one of `stops` if one came.  `margins`: a list
        that gets the lead of each greedy token over the second best, in the logits."""
        cache, new, past, out = [{} for _ in self.blk], prompt, 0, []
        while len(out) < n:
            logits = self(torch.tensor([new]), cache, past)[0, -1]
            past += len(new)
            token = sample(logits, temperature, top_p, generator)
            if margins is not None:
                best = logits.topk(2).values
                margins.append(float(best[0] - best[1]))
            out.append(token)
            if token in stops:
                break
            new = [token]
        return out


def sample(logits, temperature, top_p, generator):
    if temperature == 0:
        return int(logits.argmax())
    p, order = (logits / temperature).softmax(-1).sort(descending=True)
    p = p * (p.cumsum(0) - p < top_p)           # the fewest tokens that make up top_p
    return int(order[torch.multinomial(p / p.sum(), 1, generator=generator)])


def save(path, model, **more):
    torch.save({'geometry': vars(model.g), 'model': model.state_dict(), **more}, path)


def load(path):
    """A model, and everything that was saved with it."""
    checkpoint = torch.load(path)
    model = Gemma(Geometry(**checkpoint['geometry']))
    model.load_state_dict(checkpoint['model'])
    return model, checkpoint
