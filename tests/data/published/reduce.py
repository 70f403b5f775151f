#!/usr/bin/env python3
"""reduce.py - the profiles' JSON as one table.

usage: reduce.py NAME.json... > published.tsv; what the columns are says README.md.
"""
import json
import sys

print('# name\texpect\tsays\tprompt (JSON)\ttokens\thex\tsure bytes\tllama.cpp\todd\tlike\tsources')
for name in sys.argv[1:]:
    with open(name) as f:
        case = json.load(f)
    n, llama = case.get('n_sure', 0), case['llama_cpp']
    if not llama.get('loads'):
        llama = 'refuses'
    elif not llama.get('ids_same'):
        llama = 'adds a space'
    elif llama['kv_f16']['greedy_same'] < len(case['greedy_ids']):
        llama = 'other text'
    else:
        llama = 'right'
    print(case['name'], case['expect'], case.get('says', '-'), json.dumps(case['text']),
          len(case.get('greedy_ids', '8 tokens')), case.get('greedy_hex', '-'),
          case['greedy_bytes'][n - 1] if n else 0, llama, case['odd'].replace('\t', ' '),
          case['like'], ', '.join(case['sources']), sep='\t')
