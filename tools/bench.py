#!/usr/bin/env python3
"""bench.py - how fast is mote, measured against what the machine gives and against llama.cpp?

    make bench                                  a model of random weights, about 1 GB, made once
    make bench MODEL=gemma-2b.gguf BENCHFLAGS='--rounds 9 --llama DIR'
    make bench BENCHFLAGS='--type q4_k_m --depths 0'
    make bench BENCHFLAGS='--what start'

Machines drift, so the runs take turns: limits, mote, llama.cpp, limits, mote, llama.cpp, ...,
limits.  Each run is divided by the better of the measurements of the limits beside it; the table
has medians.  `mote x` is how many times as fast mote is: the median over the rounds.  A start is
measured from outside, by `watch` of machine.py; the file is warm, for the measurement of the limits
has read it.  Writes build/bench/MODEL.svg, a roofline plot, and for every run a line to
build/bench/runs.jsonl.
Read next: machine.py, read_probe.cpp, flop_probe.cpp, llama_run.cpp, roofline.py.
"""
import argparse
import json
import math
import os
import random
import statistics
import sys
import time

import gguf
import roofline
from machine import BUILD, HERE, Limits, compile_tool, find_llama, listen, make, run, watch

# Three layers of Gemma-2B and a quarter of its vocabulary.
SHAPE = ['--preset', '2b', '--layers', '3', '--vocab', '65536']
NUMBERS = r'prompt (\d+), ([\d.]+) tok/s; answer (\d+), ([\d.]+) tok/s'
WHAT = ('decode', 'prefill', 'start')
# Tokens of a start.  The first of the answer ends its time; memory is watched to the last.
START_PROMPT, START_ANSWER = 16, 8
DEFAULT_CONTEXT = 8192  # runtime/mote.h


class Model:
    """What a pass through a model reads and computes."""

    def __init__(self, path):
        self.path = path
        kv, places, _ = gguf.read_header(path)
        arch = kv['general.architecture']
        get = lambda key, other=None: kv.get(f'{arch}.{key}', other)
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.layers, self.context = get('block_count'), get('context_length')
        heads = get('attention.head_count')
        head_dim = get('attention.key_length', get('embedding_length') // heads)
        self.q, self.kv = heads * head_dim, get('attention.head_count_kv', heads) * head_dim
        self.window = get('attention.sliding_window', math.inf)
        # Every so many layers one looks at the whole context: Gemma's reports.
        self.period = get('attention.sliding_window_pattern',
                          {'gemma': 1, 'gemma2': 2, 'gemma3': 6}.get(arch, 1))
        tensors = {t.name: t for t, _ in places}
        head = 'output.weight' if 'output.weight' in tensors else 'token_embd.weight'
        layers = [t for name, t in tensors.items() if name.startswith('blk.')]
        self.head_weights = math.prod(tensors[head].ne)
        self.layer_weights = sum(math.prod(t.ne) for t in layers if len(t.ne) > 1)
        self.bytes = sum(t.nbytes() for t in layers) + tensors[head].nbytes()

    def positions(self, depth):
        """Of how many positions, over all layers, the token behind so many looks at the keys."""
        whole = self.layers // self.period
        return whole * depth + (self.layers - whole) * min(depth, self.window)

    def kv_cache(self, context):
        """Its bytes, in f16, local layers having their window alone."""
        return 4 * self.kv * self.positions(context)

    def decode(self, depth):
        """Operations, and bytes read, of a token: weights once, keys and values in f16."""
        return (2 * (self.layer_weights + self.head_weights) + 4 * self.q * self.positions(depth),
                self.bytes + self.kv_cache(depth))

    def prefill(self, n):
        """The same of a prompt of n tokens, as if all were one batch."""
        at = sum(map(self.positions, range(n)))
        return 2 * (n * self.layer_weights + self.head_weights) + 4 * self.q * at, self.bytes


def commands(a, model):
    """{engine: what gives the command for n_prompt tokens before n}; a start has a context.  Each
    digit is a token, with Gemma's vocabulary as with that of make_model.py; so is <bos>."""
    def mote(n_prompt, n, context=None):
        digits = ''.join(random.Random(1).choices('0123456789', k=n_prompt - 1))
        # A start is as by default; elsewhere a pass is a token, without lookup.
        more = ['-c', str(context)] if context else ['-c', str(n_prompt + n + 8), '-l', '0']
        return [a.mote, '-T', '0', '-n', str(n), '-t', str(a.t), *more, model.path, digits]

    def llama(n_prompt, n, context=None):
        more = [str(context)] if context else []
        return [a.llama_run, a.llama, model.path, str(a.t), str(n_prompt), str(n), *more]
    return {'mote': mote, 'llama.cpp': llama} if a.llama else {'mote': mote}


def measure(a, model, log):
    """All runs, as they go to the log."""
    engines, limits = commands(a, model), Limits(model.path, a.t)
    depths = [d for d in a.depths if d + a.n <= model.context]
    cases = [('decode', max(d, 16), a.n, d) for d in depths]
    cases += [('prefill', a.p, 1, 0), ('start', START_PROMPT, START_ANSWER, 0)]
    cases = [case for case in cases if case[0] in a.what]
    if not cases:
        sys.exit(f'bench.py: {model.path}: no depth fits its context')
    context = min(DEFAULT_CONTEXT, model.context)
    limits.measure()
    runs = []
    for i in range(a.rounds):
        for what, n_prompt, n, depth in cases:
            if depth and i >= a.deep_rounds:
                continue
            now = []
            for engine, command in engines.items():
                if what == 'start':
                    found, others, first, anonymous, data = run(command(n_prompt, n, context),
                                                                NUMBERS, watch)
                    if first is None:
                        sys.exit(f'bench.py: {model.path}: {engine} answers nothing')
                    seen = {'context': context, 'first_token_s': round(first, 4),
                            'anonymous_mb': anonymous / 1e6, 'vmdata_mb': data / 1e6,
                            'kv_cache_mb': model.kv_cache(context) / 1e6}
                else:
                    (found, others), seen = run(command(n_prompt, n), NUMBERS), {}
                prompt, prompt_speed, generated, speed = map(float, found[-1])
                now.append({'time': time.strftime('%Y-%m-%dT%H:%M:%S'), 'model': model.name,
                            'threads': a.t, 'round': i + 1, 'engine': engine, 'what': what,
                            'depth': depth, 'prompt': int(prompt), 'prompt_tok_s': prompt_speed,
                            'generated': int(generated), 'tok_s': speed, 'others': others, **seen})
            limits.measure()
            for r in now:
                finish(r, model, limits)
                log.write(json.dumps(r) + '\n')
            log.flush()
            figure = '{first_token_s:.3f} s' if what == 'start' else '{speed:.2f} tok/s'
            print(f'round {i + 1}, {what} {f"at {depth}" if what == "decode" else n_prompt}: '
                  + ', '.join(r['engine'] + ' ' + figure.format(**r) for r in now), flush=True)
            runs += now
    return runs


def finish(r, model, limits):
    """Adds to a run what it makes of the machine's limits."""
    r['limits'] = limits.best()
    n = r['prompt']
    if r['what'] == 'start':
        r['prompt_s'] = round(n / r['prompt_tok_s'], 4)
        return
    operations, size = model.prefill(n)
    prompt_gflops = r['prompt_tok_s'] / n * operations / 1e9
    if r['what'] == 'prefill':
        r['speed'], r['gflop_s'] = r['prompt_tok_s'], prompt_gflops
    else:
        operations, size = model.decode(n)
        r['speed'], r['gflop_s'] = r['tok_s'], r['tok_s'] * operations / 1e9
        r['prompt_gflop_s'] = prompt_gflops
    r['gb_s'] = r['gflop_s'] * size / operations
    r['intensity'] = operations / size


def median(runs, value):
    values = [value(r) for r in runs]
    return statistics.median(values) if values else math.nan


def table(head, rows):
    widths = [max(len(row[i]) for row in [head] + rows) for i in range(len(head))]
    for row in [head] + rows:
        print('  '.join(cell.ljust(w) if i < 2 else cell.rjust(w)
                        for i, (cell, w) in enumerate(zip(row, widths))))


def report(runs, model, a):
    """The tables; returns the points of the plot."""
    names = list(runs[0]['limits'])
    print(f'\n{model.name}: {model.bytes / 1e9:.2f} GB of weights, {a.t} threads, medians')
    print('limits: ' + ', '.join(f'{x} {median(runs, lambda r: r["limits"][x]):.1f}' for x in names)
          + ' (read in GB/s, others in GFLOP/s)')
    starts = [r for r in runs if r['what'] == 'start']
    points = report_speed([r for r in runs if r['what'] != 'start'], names)
    if starts:
        report_start(starts)
    return points


def report_speed(runs, names):
    """The table of decoding and reading prompts; returns the points of the plot."""
    rows, points = [], []

    def add(what, label, mine, speed, amount, limits):
        for engine in engines_of(mine):
            some = [r for r in mine if r['engine'] == engine]
            tok_s = median(some, lambda r: r[speed])
            rows.append([label, engine, f'{tok_s:.2f}', f'{median(some, lambda r: r[amount]):.1f}',
                         *(f'{median(some, lambda r: r[amount] / r["limits"][x]):.2f}'
                           if x in limits else '' for x in names),
                         ratio(mine, engine, lambda r: r[speed])])
            if what:
                points.append((engine, what, f'{label}: {tok_s:.1f} tok/s',
                               some[0]['intensity'], median(some, lambda r: r['gflop_s'])))

    computing = [x for x in names if x != 'read']
    decoding = [r for r in runs if r['what'] == 'decode']
    depths = sorted({r['depth'] for r in decoding})
    for depth in depths:
        mine = [r for r in decoding if r['depth'] == depth]
        add('decode', f'decode at {depth}', mine, 'tok_s', 'gb_s', ['read'])
    mine = [r for r in runs if r['what'] == 'prefill']
    if mine:
        add('prefill', f'prefill {mine[0]["prompt"]}', mine, 'prompt_tok_s', 'gflop_s', computing)
    for depth in depths:
        if depth:
            mine = [r for r in decoding if r['depth'] == depth]
            add('', f'prefill {depth}', mine, 'prompt_tok_s', 'prompt_gflop_s', computing)
    if rows:
        print()
        table(['', '', 'tok/s', 'GB|GFLOP/s', *(f'of {x}' for x in names), 'mote x'], rows)
    return points


def report_start(runs):
    """The table of starts."""
    columns = {'first token s': (3, lambda r: r['first_token_s']),
               'of it prompt s': (3, lambda r: r['prompt_s']),
               'anonymous MB': (1, lambda r: r['anonymous_mb']),
               'KV cache MB': (1, lambda r: r['kv_cache_mb']),
               'beyond it MB': (1, lambda r: r['anonymous_mb'] - r['kv_cache_mb']),
               'VmData MB': (1, lambda r: r['vmdata_mb'])}
    rows = []
    for engine in engines_of(runs):
        some = [r for r in runs if r['engine'] == engine]
        rows.append([f'start {some[0]["prompt"]}, context {some[0]["context"]}', engine,
                     *(f'{median(some, value):.{n}f}' for n, value in columns.values()),
                     ratio(runs, engine, lambda r: 1 / r['first_token_s'])])
    print()
    table(['', '', *columns, 'mote x'], rows)


def engines_of(runs):
    return list(dict.fromkeys(r['engine'] for r in runs))


def ratio(runs, engine, speed):
    """How many times as fast as that engine mote is: the median over the rounds."""
    if engine == 'mote':
        return ''
    of = lambda name: {r['round']: speed(r) for r in runs if r['engine'] == name}
    mine, theirs = of('mote'), of(engine)
    return f'{statistics.median(mine[i] / theirs[i] for i in theirs):.2f}'


def choice(text):
    """The argument of --what."""
    what = text.split(',')
    if not set(what) <= set(WHAT):
        raise ValueError
    return what


def arguments():
    p = argparse.ArgumentParser(description='Measure mote against the limits of the machine.')
    p.add_argument('--mote', default=os.path.join(BUILD, 'mote'), help='the engine: build/mote')
    p.add_argument('--model', help='a GGUF file: else one of random weights, in build/bench/')
    p.add_argument('--type', default='f16', help='weight type of the one of random weights: f16')
    p.add_argument('--llama', metavar='DIR', help="where llama.cpp's libraries are; else the npm "
                   'package @node-llama-cpp/linux-x64, if it is found; "": without')
    p.add_argument('--what', type=choice, default=WHAT,
                   help=f'what to measure, {",".join(WHAT)}: all of them')
    p.add_argument('--rounds', type=int, default=5, help='5')
    p.add_argument('--deep-rounds', type=int, default=2, help='rounds at depths above 0: 2')
    p.add_argument('--depths', type=lambda s: sorted({int(x) for x in s.split(',')}),
                   default=[0, 4096, 8000], help='tokens before those decoded: 0,4096,8000')
    p.add_argument('-p', type=int, default=512, help='tokens of the prompt: 512')
    p.add_argument('-n', type=int, default=32, help='tokens to decode in a run: 32')
    p.add_argument('-t', type=int, default=len(os.sched_getaffinity(0)), help='threads: all cores')
    return p.parse_args()


def main():
    a = arguments()
    os.makedirs(os.path.join(BUILD, 'bench'), exist_ok=True)
    path = a.model
    if not path:
        path = os.path.join(BUILD, 'bench', f'random-{a.type}.gguf')
        make(path, [sys.executable, os.path.join(HERE, 'make_model.py'), *SHAPE, '--type', a.type])
    a.llama = find_llama() if a.llama is None else a.llama
    if a.llama:
        a.llama_run = compile_tool('llama_run', '-ldl')
    else:
        print('without llama.cpp: no --llama DIR, and no npm package of it is found\n(npm i '
              '--prefix build --ignore-scripts @node-llama-cpp/linux-x64@3.21.1)')
    model = Model(path)
    with open(os.path.join(BUILD, 'bench', 'runs.jsonl'), 'a') as log:
        runs = measure(a, model, log)
    points = report(runs, model, a)
    peaks = {x: median(runs, lambda r: r['limits'][x]) for x in runs[0]['limits']}
    files = [log.name]
    if points:
        files.insert(0, os.path.join(BUILD, 'bench', model.name + '.svg'))
        with open(files[0], 'w') as f:
            f.write(roofline.plot(f'{model.name}, {a.t} threads', peaks.pop('read'), peaks, points))
    print('\n' + ', '.join(map(os.path.relpath, files)))
    busy = sum(r['others'] > 0.05 for r in runs)
    if busy:
        print(f'{busy} of {len(runs)} runs had more than 5 % of the machine taken by others')


if __name__ == '__main__':
    main()
