#!/usr/bin/env python3
"""train_chat.py - second training: half plain stories, half conversations about them.

    train_chat.py c.pt --vocabulary chat-vocabulary.json --init chat.pt --steps 4330

Processes of one thread each share the work, their gradients are averaged.  The rates fall linearly
to zero.  Read first: train_stories.py, chat_samples.py.
"""
import argparse
import os
import time

import torch
import torch.distributed
import torch.multiprocessing
import torch.nn.functional as F

import gemma
import stories
from chat_samples import Chat
from optimizer import Average, Optimizer
from tokenizer import BOS, EOS, TURN, Tokenizer
from train_stories import measure


def arguments():
    p = argparse.ArgumentParser(description='Teach a tiny Gemma that tells stories to chat.')
    p.add_argument('out', help='checkpoint to write')
    p.add_argument('--vocabulary', required=True, help='of add_turns.py')
    p.add_argument('--init', required=True, help='checkpoint of add_turns.py')
    p.add_argument('--train', default='train.txt', help='stories: train.txt')
    p.add_argument('--valid', default='valid.txt', help='stories to measure with: valid.txt')
    p.add_argument('--steps', type=int, default=4330, help='of processes x rows x context tokens')
    p.add_argument('--processes', type=int, default=2, help='2')
    p.add_argument('--rows', type=int, default=4, help='rows of a process in a step: 4')
    p.add_argument('--warm', type=int, default=60, help='steps in which the rates rise: 60')
    p.add_argument('--share', type=float, default=0.5, help='share of conversations: 0.5')
    p.add_argument('--average', type=float, default=0.99, help='factor of the average: 0.99')
    p.add_argument('--every', type=int, default=300, help='steps between measurements: 300')
    p.add_argument('--seed', type=int, default=3)
    return p.parse_args()


def batch_loss(model, chat, a):
    """Loss on all tokens but <bos>, weighted as the samples say."""
    rows = [chat.row(model.g.context + 1, a.share) for _ in range(a.rows)]
    tokens = torch.tensor([tokens for tokens, _ in rows])
    weights = torch.tensor([weights for _, weights in rows])[:, 1:].clone()
    targets = tokens[:, 1:]
    weights[targets == BOS] = 0
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction='none')
    return (loss * weights.flatten()).sum() / weights.sum()


def average_gradients(model, processes):
    for p in model.parameters():
        torch.distributed.all_reduce(p.grad)
        p.grad /= processes


def work(rank, a):
    """One of the processes; the first one measures and saves."""
    torch.set_num_threads(1)
    torch.manual_seed(a.seed)
    if a.processes > 1:
        torch.distributed.init_process_group('gloo', rank=rank, world_size=a.processes)
    tokenizer = Tokenizer.from_file(a.vocabulary)
    chat = Chat(tokenizer, stories.read(a.train), a.seed * 1000 + rank)
    model, _ = gemma.load(a.init)
    optimizer = Optimizer(model, adam_rate=2e-3, muon_rate=0.015)
    average = Average(model, a.average)
    texts = stories.read(a.valid)
    valid = [[BOS] + tokenizer.encode(text) + [EOS] for text in texts]
    valid_chat = Chat(tokenizer, texts, 7, like=chat)
    valid_chat = [valid_chat.chat()[0] for _ in range(150)]

    def report(step, losses):
        with average:
            gemma.save(a.out, model)
            print(f'step {step} train {sum(losses) / max(1, len(losses)):.4f}',
                  f'valid {measure(model, tokenizer, valid)[0]:.4f}',
                  f'chat {measure(model, tokenizer, valid_chat)[0]:.4f},',
                  f'{time.time() - begin:.0f} s', flush=True)
            for user in ('Tell me a story about a dog.', 'Hello!'):
                prompt = [BOS] + tokenizer.encode_template(TURN.format(user))
                answer = model.generate(prompt, 70, tokenizer.stops)
                print(f'    {user}\n    {tokenizer.decode(answer)!r}', flush=True)

    begin, losses = time.time(), []
    for step in range(a.steps + 1):
        if rank == 0 and (step % a.every == 0 or step == a.steps):
            report(step, losses)
            losses = []
        if step == a.steps:
            break
        loss = batch_loss(model, chat, a)
        loss.backward()
        losses.append(loss.item())
        if a.processes > 1:
            average_gradients(model, a.processes)
        optimizer.step(max(0.01, min(1.0, (step + 1) / a.warm, 1 - step / a.steps)))
        average.update()


def main():
    a = arguments()
    os.environ.setdefault('MASTER_ADDR', '127.0.0.1')
    os.environ.setdefault('MASTER_PORT', '29411')
    torch.multiprocessing.spawn(work, (a,), nprocs=a.processes)


if __name__ == '__main__':
    main()
