#!/usr/bin/env python3
"""long.py - right logits far into a long text, for models with a sliding window.

usage: long.py FOLDER-OF-oracle.py NAME.gguf > NAME.long.txt; what each line holds says README.md.

The text is random tokens.  The places: around the window's edge, where the KV cache's ring
(window + 64, up to a multiple of 8) comes round, and the end.  On standard error: how far f32, an
f16 KV cache and 8-bit activations move these logits, and how far a window that is one off does.
"""
import random
import sys

N, BEST = 400, 12

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import numpy as np
import oracle

model = oracle.Model(sys.argv[2])
window = model.window
ring = (window + 64 + 7) // 8 * 8
draw = random.Random(1)
ids = [model.bos] + [draw.randrange(260, model.vocab) for _ in range(N - 1)]
places = sorted({window - 2, window - 1, window, window + 1, 63, 64, ring - 1, ring, ring + 1,
                 2 * ring - 1, 2 * ring, 3 * ring + window, 4 * ring - 1, 4 * ring + 5, N - 1})
right = oracle.Run(model).step(ids)
best = {p: right[p].argsort()[::-1][:BEST] for p in places}

print('ids', N, *ids)
for p in places:
    print('at', p, BEST, *('%d %.6f' % (token, right[p][token]) for token in best[p]))


def moved(**how):
    logits = oracle.Run(model, **how).step(ids)
    return [abs(logits[p] - right[p])[best[p]].max() for p in places]


for what, how in (('f32', {'dt': np.float32}), ('kv_f16', {'kv16': True}),
                  ('act_q8', {'kv16': True, 'act': 'q8'})):
    print(sys.argv[2], what, '%.2g' % max(moved(**how)), file=sys.stderr)
for mistake in ('window+1', 'window-1', 'no_window', 'window_parity'):
    print(sys.argv[2], mistake, *('%d:%.2g' % x for x in zip(places, moved(mistake=mistake))),
          file=sys.stderr)
