#!/usr/bin/env python3
"""reduce.py - a model case (JSON, from the fp64 oracle) as the few lines that the unit tests read.

usage: reduce.py NAME.json > NAME.txt; what each line holds says README.md.
"""
import json
import sys


def line(key, *values):
    print(key, *values)


case = json.load(open(sys.argv[1]))
line('text', case['text'].encode().hex())
line('ids', len(case['ids']), *case['ids'])
line('greedy', len(case['greedy_ids']), *case['greedy_ids'])
line('greedy_hex', case['greedy_hex'])
for kind in ('f32', 'kv_f16', 'act_q8'):
    line(kind, case['tolerance'][kind], case['n_safe'][kind])
line('sure', case['greedy_bytes'][case['n_sure'] - 1])
line('quantised', int(any(name[0] == 'Q' for name in case['tensor_types'])))
for position in case['top20']:
    line('top', len(position), *('%d %.6f' % (token, logit) for token, logit in position))
line('logits_last', len(case['logits_last']), *case['logits_last'])
