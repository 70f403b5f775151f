"""machine.py - programs run and measured, for bench.py: its tools, the limits, the peer."""
import glob
import os
import re
import resource
import select
import shlex
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.path.join(ROOT, 'build')


def busy():
    """Seconds of CPU that all programs took since the start: proc(5), /proc/stat, and ours."""
    with open('/proc/stat') as f:
        user, nice, system, _, _, irq, soft = map(int, f.readline().split()[1:8])
    ours = map(resource.getrusage, (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF))
    return ((user + nice + system + irq + soft) / os.sysconf('SC_CLK_TCK'),
            sum(r.ru_utime + r.ru_stime for r in ours))


def listen(command):
    """What the command says."""
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
                          stdin=subprocess.DEVNULL).stdout,


def watch(command):
    """What the command says, the seconds from before exec to the first byte of its standard output
    (or None), and the most that it had of anonymous memory (RssAnon) and of memory that may become
    so (VmData), in bytes.  The kernel keeps a high-water mark of all resident pages together, none
    of the anonymous ones: so they are read every 5 ms.  A peak between two readings is missed, and
    the kernel's own count may be some pages behind: proc(5)."""
    said, first, peaks = b'', None, {'RssAnon': 0, 'VmData': 0}
    with tempfile.TemporaryFile() as errors:
        start = time.monotonic()
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=errors, bufsize=0) as process:
            # Popen returns behind exec, so the status is that of the program.
            with open(f'/proc/{process.pid}/status', 'rb', buffering=0) as status:
                while True:
                    now = os.pread(status.fileno(), 1 << 16, 0)
                    for name in peaks:
                        kb = re.search(rf'{name}:\s*(\d+) kB'.encode(), now)
                        peaks[name] = max(peaks[name], int(kb[1]) * 1024 if kb else 0)
                    if select.select([process.stdout], [], [], 0.005)[0]:
                        part = process.stdout.read(1 << 16)
                        if not part:
                            break
                        first = first or time.monotonic() - start
                        said += part
        errors.seek(0)
        said += errors.read()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, said)
    return said, first, *peaks.values()


def run(command, pattern, how=listen):
    """What the command says that fits the pattern, which share of the CPUs others took, and what
    else comes of the way how it is run: listen or watch."""
    (all_before, ours_before), start = busy(), time.monotonic()
    try:
        said, *more = how(command)
    except OSError as e:
        sys.exit(f'bench.py: {e}')
    except subprocess.CalledProcessError as e:
        sys.exit(f'bench.py: {shlex.join(command)[:500]}: status {e.returncode}\n'
                 + e.output.decode(errors='replace'))
    (all_after, ours_after), duration = busy(), time.monotonic() - start
    others = all_after - all_before - (ours_after - ours_before)
    text = said.decode(errors='replace')
    found = re.findall(pattern, text)
    if not found:
        sys.exit(f'bench.py: {shlex.join(command)[:500]}: no {pattern} in:\n{text}')
    return found, round(max(others, 0) / duration / os.cpu_count(), 3), *more


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
