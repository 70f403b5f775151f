#!/usr/bin/env python3
"""reference.py - what a GGUF file should answer: greedy text from torch in f32, apart from mote.

    reference.py tiny-gemma-q8_0.gguf tiny-gemma-q8_0.json [valid.txt]

For every prompt the JSON file holds its tokens, the answer's tokens and text, and the margin: by
how much, at least, a token of the answer led over the second best, in the logits.  With stories to
measure with, their loss is printed.
"""
import json
import sys
from pathlib import Path

import torch

import gemma
import stories
from tokenizer import BOS, EOS, TURN, Tokenizer
from train_stories import measure

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import gguf  # noqa: E402

PLAIN = ['Once upon a time', 'Tim and Lily went to the park.', 'The little dog was',
         'One day, a girl named Sue', 'Mom said, "Let\'s go', 'The sun was hot and the',
         'Lily and Tom']
CHAT = [['Hello!'], ['Tell me a story about a dog.'], ['Write a short story about a boat.'],
        ['Tell me about Lily.'], ['Write a short story with the words tree, bird and happy.'],
        ['Thank you!'], ['Hi', 'Can you tell me a story about a cat?'],
        ['Tell me a story about a bird.', 'Who is the story about?'],
        ['Please tell me a story about a cat.'], ['Please tell me a story about a horse.']]


def load(path):
    """The model and the tokenizer of a GGUF file."""
    kv, tensors = gguf.read(path)
    tokenizer = Tokenizer(list(zip(*(kv['tokenizer.ggml.' + key]
                                     for key in ('tokens', 'scores', 'token_type')))))
    g = gemma.Geometry(
        vocab=len(tokenizer.vocabulary),
        d_model=kv['gemma.embedding_length'],
        n_layer=kv['gemma.block_count'],
        n_head=kv['gemma.attention.head_count'],
        n_kv_head=kv['gemma.attention.head_count_kv'],
        head_dim=kv['gemma.attention.key_length'],
        ffn=kv['gemma.feed_forward_length'],
        context=kv['gemma.context_length'],
        eps=kv['gemma.attention.layer_norm_rms_epsilon'],
        rope_base=kv.get('gemma.rope.freq_base', 10000.0))
    weights = {}
    for name, t in tensors.items():
        w = torch.tensor(t.values()).view(t.ne[::-1])
        weights[name.removesuffix('.weight')] = w - 1 if w.dim() == 1 else w
    model = gemma.Gemma(g)
    model.load_state_dict(weights)
    return model, tokenizer


def converse(model, tokenizer, turns, n=300, **sampling):
    """The answers to the turns of a user: [(prompt, its tokens, the answer's tokens)]."""
    text, answers = '', []
    for user in turns:
        text += TURN.format(user)
        prompt = [BOS] + tokenizer.encode_template(text)
        room = min(n, model.g.context - len(prompt))
        answers.append((text, prompt, model.generate(prompt, room, tokenizer.stops, **sampling)))
        text += tokenizer.decode(answers[-1][2]) + '<end_of_turn>\n'
    return answers


def main():
    torch.set_num_threads(1)
    model, tokenizer = load(sys.argv[1])
    out = []
    for prompt in PLAIN:
        margins, ids = [], [BOS] + tokenizer.encode(prompt)
        answer = model.generate(ids, 100, tokenizer.stops, margins=margins)
        out.append({'prompt': prompt, 'prompt_ids': ids, 'ids': answer,
                    'text': tokenizer.decode(answer), 'margin': round(min(margins), 4)})
    for turns in CHAT:
        margins = []
        prompt, ids, answer = converse(model, tokenizer, turns, margins=margins)[-1]
        out.append({'turns': turns, 'prompt': prompt, 'prompt_ids': ids, 'ids': answer,
                    'text': tokenizer.decode(answer),
                    'margin': round(min(margins[-len(answer):]), 4)})
    with open(sys.argv[2], 'w', encoding='utf8') as f:
        f.write('[\n' + ',\n'.join(json.dumps(x, ensure_ascii=False) for x in out) + '\n]\n')
    if len(sys.argv) > 3:
        valid = [[BOS] + tokenizer.encode(s) + [EOS] for s in stories.read(sys.argv[3])]
        print('%.4f nats a token, %.4f a character' % measure(model, tokenizer, valid))


if __name__ == '__main__':
    main()
