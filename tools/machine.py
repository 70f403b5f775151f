"""machine.py - programs run and measured, for bench.py: its tools, the limits, the peer."""
import glob
import os
import re
import resource
import shlex
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.path.join(ROOT, 'build')


def busy():
    """Seconds of CPU that all programs took since the start: proc(5), /proc/stat, and ours."""
    with open('/proc/stat') as f:
        user, nice, system, _, _, irq, soft = map(int, f.readline().split()[1:8])
    ours = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ((user + nice + system + irq + soft) / os.sysconf('SC_CLK_TCK'),
            ours.ru_utime + ours.ru_stime)


def run(command, pattern):
    """What the command says that fits the pattern, and which share of the CPUs others took."""
    (all_before, ours_before), start = busy(), time.monotonic()
    try:
        text = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
                              stdin=subprocess.DEVNULL).stdout.decode(errors='replace')
    except OSError as e:
        sys.exit(f'bench.py: {e}')
    except subprocess.CalledProcessError as e:
        sys.exit(f'bench.py: {shlex.join(command)[:500]}: status {e.returncode}\n'
                 + e.output.decode(errors='replace'))
    (all_after, ours_after), duration = busy(), time.monotonic() - start
    others = all_after - all_before - (ours_after - ours_before)
    found = re.findall(pattern, text)
    if not found:
        sys.exit(f'bench.py: {shlex.join(command)[:500]}: no {pattern} in:\n{text}')
    return found, round(max(others, 0) / duration / os.cpu_count(), 3)


def make(target, command):
    """Runs the command, which ends in a name for what it makes, unless target is there."""
    if not os.path.exists(target):
        print('making', os.path.relpath(target), flush=True)
        run(command + [target + '.new'], '')
        os.replace(target + '.new', target)


def compile_tool(name, *flags):
    """The program of NAME.cpp, made anew where it is older than its sources."""
    target = os.path.join(BUILD, 'bench', name)
    sources = [os.path.join(HERE, name + '.cpp'), os.path.join(HERE, 'limits.h')]
    if os.path.exists(target) and os.path.getmtime(target) < max(map(os.path.getmtime, sources)):
        os.remove(target)
    make(target, ['g++', '-O2', '-std=c++20', '-pthread', sources[0], *flags, '-o'])
    return target


class Limits:
    """What the machine can do: {'read': GB/s, 'f32 avx2': GFLOP/s, ...}, again and again."""

    def __init__(self, path, n_threads):
        self.read = [compile_tool('read_probe'), path, str(n_threads), '1']
        self.flop = [compile_tool('flop_probe'), str(n_threads)]
        self.values = []

    def measure(self):
        found, _ = run(self.read, r'best ([\d.]+) GB/s')
        now = {'read': float(found[-1])}
        for name, value in run(self.flop, r'(\w+ \w+) +([\d.]+) GFLOP/s')[0]:
            now[name] = float(value)
        self.values.append(now)

    def best(self):
        """The better ones of the last two measurements: of those beside a run."""
        return {name: max(v[name] for v in self.values[-2:]) for name in self.values[-1]}


def find_llama():
    """The folder of llama.cpp's libraries in the npm package, or None."""
    for place in (ROOT, BUILD, os.getcwd()):
        found = glob.glob(f'{place}/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64')
        if found:
            return found[0]
