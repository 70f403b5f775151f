#!/usr/bin/env python3
"""train_stories.py - first training: plain stories, from random weights or from a checkpoint.

    train_stories.py a.pt --vocabulary vocabulary.json --steps 895
    train_stories.py b.pt --vocabulary vocabulary.json --init a.pt --steps 4303 --decay 1

Writes OUT every now and then: weights, their average (which is what is worth keeping) and the state
of the optimizer.  Read next: gemma.py, optimizer.py.
"""
import argparse
import random
import time

import torch
import torch.nn.functional as F

import gemma
import stories
from optimizer import Average, Optimizer
from tokenizer import BOS, EOS, Tokenizer


def arguments():
    p = argparse.ArgumentParser(description='Train a tiny Gemma on stories.')
    p.add_argument('out', help='checkpoint to write')
    p.add_argument('--vocabulary', required=True, help='of train_vocabulary.py')
    p.add_argument('--train', default='train.txt', help='stories: train.txt')
    p.add_argument('--valid', default='valid.txt', help='stories to measure with: valid.txt')
    p.add_argument('--init', help='checkpoint to go on from, optimizer and all')
    p.add_argument('--steps', type=int, default=4000, help='of 4096 tokens: 4000')
    p.add_argument('--warm', type=int, default=100, help='steps in which the rates rise: 100')
    p.add_argument('--decay', type=float, default=0.0,
                   help='share of the steps, at the end, in which the rates fall to zero: 0')
    p.add_argument('--long', type=float, default=0.0,
                   help='share of the windows that are of 512 tokens, the others of 256: 0')
    p.add_argument('--average', type=float, default=0.99, help='factor of the average: 0.99')
    p.add_argument('--every', type=int, default=200, help='steps between measurements: 200')
    p.add_argument('--seed', type=int, default=1)
    for name, value in vars(gemma.Geometry()).items():
        if name not in ('vocab', 'eps', 'rope_base'):
            p.add_argument('--' + name.replace('_', '-'), type=int, default=value,
                           help=f'of a new model: {value}')
    return p.parse_args()


MICROBATCHES, ROWS, WINDOW = 2, 8, 256      # of a step; 8 rows stay in the cache


class Text:
    """All stories one after another, and where they start."""

    def __init__(self, tokenizer, path):
        tokens, self.starts = [], []
        for story in stories.read(path):
            self.starts.append(len(tokens))
            tokens += [BOS] + tokenizer.encode(story) + [EOS]
        self.tokens = torch.tensor(tokens)

    def window(self, n):
        """n tokens and one more, from the start of a story (60 %) or from anywhere."""
        while True:
            i = (random.choice(self.starts) if random.random() < 0.6
                 else random.randrange(len(self.tokens) - n - 1))
            if i + n < len(self.tokens):
                return self.tokens[i:i + n + 1]


@torch.no_grad()
def measure(model, tokenizer, samples):
    """Mean loss over samples, each a list of tokens, in nats a token and a character."""
    nats = tokens = characters = 0
    for sample in samples:
        x = torch.tensor([sample[:model.g.context]])
        nats += F.cross_entropy(model(x[:, :-1])[0], x[0, 1:], reduction='sum').item()
        tokens += x.shape[1] - 1
        characters += len(tokenizer.decode(x[0].tolist()))
    return nats / tokens, nats / characters


def batch_loss(model, text, n, rows):
    batch = torch.stack([text.window(n) for _ in range(rows)])
    targets = batch[:, 1:].clone()
    targets[batch[:, :-1] == EOS] = -100        # what follows a story is another one: no lesson
    return F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), targets.flatten(), ignore_index=-100)


def main():
    a = arguments()
    torch.set_num_threads(1)
    torch.manual_seed(a.seed)
    random.seed(a.seed)
    tokenizer = Tokenizer.from_file(a.vocabulary)
    text = Text(tokenizer, a.train)
    valid = [[BOS] + tokenizer.encode(story) + [EOS] for story in stories.read(a.valid)]
    if a.init:
        model, checkpoint = gemma.load(a.init)
    else:
        names = vars(gemma.Geometry()).keys() & vars(a).keys()
        model = gemma.Gemma(gemma.Geometry(vocab=len(tokenizer.vocabulary),
                                           **{n: getattr(a, n) for n in names}))
    optimizer = Optimizer(model, adam_rate=3e-3, muon_rate=0.02)
    if a.init:
        optimizer.restore(checkpoint['optimizer'])
    average = Average(model, a.average)
    print(len(text.tokens), 'tokens,', sum(p.numel() for p in model.parameters()), 'parameters')

    begin, losses = time.time(), []
    for step in range(a.steps + 1):
        if step % a.every == 0 or step == a.steps:
            gemma.save(a.out, model, average=average.weights, optimizer=optimizer.state())
            with average:
                nats, nats_char = measure(model, tokenizer, valid)
            print(f'step {step} train {sum(losses) / max(1, len(losses)):.4f} valid {nats:.4f},',
                  f'{nats_char:.4f} a character, {time.time() - begin:.0f} s', flush=True)
            losses = []
        if step == a.steps:
            break
        for _ in range(MICROBATCHES):
            longer = 2 if random.random() < a.long else 1
            loss = batch_loss(model, text, WINDOW * longer, ROWS // longer)
            (loss / MICROBATCHES).backward()
            losses.append(loss.item())
        left = 1 - step / a.steps
        optimizer.step(max(0.01, min(1.0, (step + 1) / a.warm, left / a.decay if a.decay else 1.0)))
        average.update()


if __name__ == '__main__':
    main()
