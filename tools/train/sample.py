#!/usr/bin/env python3
"""sample.py - text from a GGUF file by torch, to read what training has come to.

    sample.py tiny-gemma-q8_0.gguf 'Once upon a time' '@Hello!|Tell me a story about a fox.'

A prompt that begins with @ is a conversation, with | between the turns of the user.
"""
import argparse

import torch

from reference import converse, load
from tokenizer import BOS


def main():
    p = argparse.ArgumentParser(description='Sample text from a GGUF file with torch.')
    p.add_argument('model')
    p.add_argument('prompts', nargs='+', help='text, or @ and the turns of a user with | between')
    p.add_argument('--temperature', type=float, default=0.7, help='0.7')
    p.add_argument('--top-p', type=float, default=0.9, help='0.9')
    p.add_argument('--tokens', type=int, default=300, help='at most, an answer: 300')
    p.add_argument('--seed', type=int, default=1)
    a = p.parse_args()

    torch.set_num_threads(1)
    model, tokenizer = load(a.model)
    sampling = {'temperature': a.temperature, 'top_p': a.top_p,
                'generator': torch.Generator().manual_seed(a.seed)}
    for prompt in a.prompts:
        if prompt.startswith('@'):
            turns = prompt[1:].split('|')
            answers = converse(model, tokenizer, turns, a.tokens, **sampling)
            for user, (_, _, answer) in zip(turns, answers):
                print(f'> {user}\n{tokenizer.decode(answer)}')
        else:
            ids = [BOS] + tokenizer.encode(prompt)
            answer = model.generate(ids, a.tokens, tokenizer.stops, **sampling)
            print(prompt + tokenizer.decode(answer))
        print()


if __name__ == '__main__':
    main()
