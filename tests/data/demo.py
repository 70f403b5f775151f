#!/usr/bin/env python3
"""demo.py - what a quantised demo model should answer: greedy text from an fp64 oracle.

usage: demo.py FOLDER-OF-oracle.py MODEL.gguf ANSWERS.json > MODEL.json

The prompts are those of the given answers, of another model or of this one.  What each line holds
says README.md.
"""
import json
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import oracle

MODEL_TURN = [2046, 1997, 1988, 1991, 411, 1983]  # <start_of_turn>model\n
STOPS = (1, 2047)
model = oracle.Model(sys.argv[2])


def lead(logits):
    first, second = sorted(logits)[:-3:-1]
    return first - second


def answer(prompt, n):
    """Tokens, their leads, and the most that f16 keys and values and 8-bit activations move one."""
    exact, rough = oracle.Run(model), oracle.Run(model, kv16=True, act='q8')
    ids, leads, moved, fed = [], [], 0, prompt
    while len(ids) < n and (not ids or ids[-1] not in STOPS):
        right, other = exact.step(fed)[-1], rough.step(fed)[-1]
        token = int(right.argmax())
        second = max((x, i) for i, x in enumerate(right) if i != token)[1]
        leads.append(right[token] - right[second])
        moved = max(moved, abs(leads[-1] - (other[token] - other[second])))
        ids.append(token)
        fed = [token]
    return ids, leads, moved


def text(ids):
    return b''.join(model.piece(i) for i in ids)


def find(ids, what):
    return next(i for i in range(len(ids)) if ids[i:i + len(what)] == what)


results, worst = [], 0
for old in json.load(open(sys.argv[3])):
    prompt, turns = old['prompt_ids'], old.get('turns', [])
    if len(turns) == 2:  # the first answer is this model's own
        begin = find(prompt, MODEL_TURN) + len(MODEL_TURN)
        end = begin + find(prompt[begin:], [2047]) + 1
        first = answer(prompt[:begin], 300)
        prompt = prompt[:begin] + first[0] + prompt[end:]
    ids, leads, moved = answer(prompt, 300 if turns else 100)
    worst = max(worst, moved)
    if len(turns) == 2:
        worst = max(worst, first[2])
    results.append({**({'turns': turns} if turns else {'prompt': old['prompt']}),
                    'prompt_ids': prompt, 'ids': ids, 'text': text(ids).decode(),
                    'margin': round(min(leads), 4), 'leads': leads,
                    'first': first if len(turns) == 2 else ([], [99])})
print(sys.argv[2], 'moved by', worst, file=sys.stderr)
for r in results:
    leads, first = r.pop('leads'), r.pop('first')
    if first[0]:
        r['before'] = text(first[0]).decode()
    n = next((i for i, x in enumerate(leads) if x < 2 * worst), len(leads))
    r['sure'] = len(text(r['ids'][:n])) if min(first[1]) >= 2 * worst else 0
    print(r.get('turns', r.get('prompt')), r['margin'], r['sure'], 'of', len(r['text'].encode()),
          file=sys.stderr)
print('[\n' + ',\n'.join(json.dumps(r, ensure_ascii=False) for r in results) + '\n]')
