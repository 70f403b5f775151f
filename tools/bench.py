#!/usr/bin/env python3
"""bench.py - how fast does mote decode, measured against what the memory gives?  `make bench`.

    bench.py                                    a model of random weights, about 1 GB, made once
    bench.py --model gemma-2b.gguf --rounds 9
    bench.py --model m.gguf --peer './probe LIB m.gguf bench -t 2 -p 0 -n 32 -r 1'

Machines drift, so the runs take turns: probe, mote, peer, probe, mote, peer, ..., probe.  Each run
of mote and of the peer is divided by the better of the two probes beside it; the table has medians.
The peer's command prints a line `tgN ... median X tok/s`.  GB/s: all tensors of the file, once a
token.  Read next: read_probe.cpp.
"""
import argparse
import os
import re
import shlex
import statistics
import subprocess
import sys

import gguf

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(os.path.dirname(HERE), 'build')
# Three layers of Gemma-2B and a quarter of its vocabulary.
SHAPE = '--layers 3 --d-model 2048 --heads 8 --kv-heads 1 --head-dim 256 --ffn 16384 ' \
        '--vocab 65536 --context 8192'


def run(command):
    """What a command says, on stdout and on stderr."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
                              stdin=subprocess.DEVNULL).stdout.decode(errors='replace')
    except OSError as e:
        sys.exit(f'bench.py: {e}')
    except subprocess.CalledProcessError as e:
        sys.exit(f'bench.py: {shlex.join(command)}: status {e.returncode}\n'
                 + e.output.decode(errors='replace'))


def number(pattern, text):
    found = re.findall(pattern, text)
    if not found:
        sys.exit(f'bench.py: no {pattern} in:\n{text}')
    return float(found[-1])


def weight_bytes(path):
    """The bytes behind a file's header: what decoding one token reads."""
    with open(path, 'rb') as f:
        r = gguf.Reader(f.read(64 << 20))
    r.take(8)
    n_tensors, n_keys = r.number('Q'), r.number('Q')
    align = 32
    for _ in range(n_keys):
        key = r.string()
        v = r.value(r.number('I'))
        align = v if key == 'general.alignment' else align
    for _ in range(n_tensors):
        r.string()
        r.take(8 * r.number('I') + 12)
    return os.path.getsize(path) - (r.at + -r.at % align)


def make(target, command):
    """Runs the command, which ends in a name for what it makes, unless target is there."""
    if not os.path.exists(target):
        print('making', os.path.relpath(target), flush=True)
        run(command + [target + '.new'])
        os.replace(target + '.new', target)


def main():
    p = argparse.ArgumentParser(description='Measure decoding against the read bandwidth.')
    p.add_argument('--mote', default=os.path.join(BUILD, 'mote'), help='the engine: build/mote')
    p.add_argument('--model', help='a GGUF file: else one of random weights, in build/')
    p.add_argument('--peer', metavar='COMMAND', help='prints `tgN ... median X tok/s`')
    p.add_argument('--rounds', type=int, default=5, help='5')
    p.add_argument('-n', type=int, default=32, help='tokens to decode in a run: 32')
    p.add_argument('-t', type=int, default=len(os.sched_getaffinity(0)), help='threads: all cores')
    a = p.parse_args()

    os.makedirs(BUILD, exist_ok=True)
    probe, source = os.path.join(BUILD, 'read_probe'), os.path.join(HERE, 'read_probe.cpp')
    if os.path.exists(probe) and os.path.getmtime(probe) < os.path.getmtime(source):
        os.remove(probe)
    make(probe, ['g++', '-O2', '-std=c++17', '-mavx2', '-pthread', source, '-o'])
    model = a.model or os.path.join(BUILD, 'bench.gguf')
    if not a.model:
        script = os.path.join(HERE, 'make_model.py')
        make(model, [sys.executable, script] + SHAPE.split())
    size = weight_bytes(model) / 1e9

    read = lambda: number(r'best ([\d.]+) GB/s', run([probe, model, str(a.t), '1']))
    engine = [a.mote, '-T', '0', '-n', str(a.n), '-t', str(a.t), '-c', '512', model, 'Once upon']
    decode = {'mote': lambda: number(r'answer \d+, ([\d.]+) tok/s', run(engine))}
    if a.peer:
        command = shlex.split(a.peer)
        decode['peer'] = lambda: number(r'tg\d+.* median ([\d.]+) tok/s', run(command))

    probes = [read()]
    speeds, ratios = {name: [] for name in decode}, {name: [] for name in decode}
    for i in range(a.rounds):
        now = {name: f() for name, f in decode.items()}
        probes.append(read())
        for name, speed in now.items():
            speeds[name].append(speed)
            ratios[name].append(speed * size / max(probes[-2:]))
        print(f'round {i + 1}: ' + ', '.join(f'{name} {s:.2f} tok/s' for name, s in now.items())
              + f', probe {probes[-1]:.1f} GB/s', flush=True)

    print(f'\n{model}: {size:.2f} GB of weights, {a.t} threads, medians of {a.rounds} rounds')
    print(f'{"":8}{"tok/s":>9}{"GB/s":>9}{"of probe":>11}   (lowest .. highest)')
    print(f'{"probe":8}{"":9}{statistics.median(probes):9.2f}{"":11}   '
          f'({min(probes):.2f} .. {max(probes):.2f} GB/s)')
    for name in decode:
        s, r = statistics.median(speeds[name]), statistics.median(ratios[name])
        print(f'{name:8}{s:9.2f}{s * size:9.2f}{r:11.2f}   ({min(ratios[name]):.2f} .. '
              f'{max(ratios[name]):.2f} of probe)')


if __name__ == '__main__':
    main()
