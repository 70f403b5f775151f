#!/usr/bin/env python3
"""measure.py - does an answer keep to the noun that was asked for?

    measure.py tiny-gemma-q8_0.gguf train.txt [TEMPERATURE TOP_P]

Two sets of 100 requests: the 100 most frequent nouns, each in a wording that the training never
used for it; and nouns that no request of the training named, in two wordings.
"""
import re
import sys

import torch

import stories
from chat_samples import ASK, held_out_wording
from nouns import find_nouns, held_out, opening, with_article
from reference import converse, load


def count(noun, text):
    """How often the noun occurs, singular or plural."""
    forms = {noun, noun + 's', noun + 'es', noun.removesuffix('s')}
    return len(re.findall(rf"\b(?:{'|'.join(forms)})\b", text, re.I))


def main():
    path, text, *sampling = sys.argv[1:]
    temperature, top_p = map(float, sampling or (0, 1))
    torch.set_num_threads(1)
    model, tokenizer = load(path)
    end = tokenizer.control['<end_of_turn>']
    nouns = find_nouns(stories.read(text))
    hidden = held_out(nouns)
    ranks = {noun: i for i, noun in enumerate(nouns)}
    pairs = [(noun, held_out_wording(ranks[noun])) for noun in nouns if noun not in hidden][:100]
    new = [(noun, wording) for wording in (0, 2) for noun in hidden][:100]
    for name, requests in (('held-out wordings', pairs), ('held-out nouns', new)):
        told = []
        generator = torch.Generator().manual_seed(1)
        for noun, wording in requests:
            question = ASK[wording].format(with_article(noun, nouns))
            [(_, _, answer)] = converse(model, tokenizer, [question], model.g.context,
                                        temperature=temperature, top_p=top_p, generator=generator)
            told.append((noun, tokenizer.decode(answer), answer[-1] == end))
        counts = [count(noun, story) for noun, story, _ in told]
        early = sum(count(noun, ' '.join(opening(story))) > 0 for noun, story, _ in told)
        others = (told[(i + 37) % len(told)][0] for i in range(len(told)))
        print(f'{name}, {len(told)} requests, temperature {temperature}, top-p {top_p}:',
              f'{sum(n > 0 for n in counts)} stories have the noun,',
              f'{early} in the first three sentences, {sum(n > 1 for n in counts)} twice or more;',
              f'{sum(done for _, _, done in told)} end with <end_of_turn>;',
              sum(count(noun, told[i][1]) > 0 for i, noun in enumerate(others)),
              "have another request's noun", flush=True)


if __name__ == '__main__':
    main()
