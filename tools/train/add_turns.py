#!/usr/bin/env python3
"""add_turns.py - gives a vocabulary and a trained model Gemma's two turn tokens.

    add_turns.py vocabulary.json b.pt chat-vocabulary.json chat.pt

The last two pieces, the rarest characters, make room.  They are spelt by their bytes from then on,
which inherit what the model has learnt of them.
"""
import json
import sys

import torch

import gemma
from tokenizer import BOS, BYTE0, CONTROL, EOS, NORMAL


def main():
    vocabulary_in, model_in, vocabulary_out, model_out = sys.argv[1:]
    with open(vocabulary_in, encoding='utf8') as f:
        vocabulary = json.load(f)
    model, checkpoint = gemma.load(model_in)
    model.load_state_dict(checkpoint['average'])
    torch.manual_seed(1)
    embedding = model.token_embd.data
    first = len(vocabulary) - 2
    spread = 0.3 * embedding[BYTE0 + 256:first].std()
    for i, name, like in ((first, '<start_of_turn>', BOS), (first + 1, '<end_of_turn>', EOS)):
        piece, _, kind = vocabulary[i]
        if kind != NORMAL or len(piece.encode()) != 1:
            sys.exit(f'the piece {piece} is no ASCII character')
        embedding[BYTE0 + ord(piece)] = embedding[i]
        embedding[i] = embedding[like] + spread * torch.randn(model.g.d_model)
        vocabulary[i] = [name, 0.0, CONTROL]
    with open(vocabulary_out, 'w', encoding='utf8') as f:
        json.dump(vocabulary, f, ensure_ascii=False)
    gemma.save(model_out, model)


if __name__ == '__main__':
    main()
