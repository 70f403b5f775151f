"""test_system.py - what the kernel sees: memory that is never writable and executable at once,
few system calls, a CPU that lacks what a build needs."""
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from common import DEMO, MOTE, PROMPT, ROOT, Test, run, start

PORTABLE = os.path.join(ROOT, 'build/portable/mote')
V4 = os.path.join(ROOT, 'build/x86_64_v4/mote')


def need(tool):
    return unittest.skipUnless(shutil.which(tool), tool + ' is not installed')


class Memory(Test):
    def test_nothing_is_writable_and_executable(self):
        with start('-i', '-q', '-T0', '-t', '3', DEMO) as p:
            p.stdin.write(b'Hello!\n')
            p.stdin.flush()
            self.assertEqual(p.stdout.readline(), b'Hello! Do you want to hear a story?\n')
            with open('/proc/%d/maps' % p.pid) as f:
                maps = [line.split(None, 5) for line in f]
            p.stdin.close()
            p.stdout.read()
            self.assertEqual(p.wait(), 0)
        for m in maps:
            self.assertFalse('w' in m[1] and 'x' in m[1], m)
        own = [m for m in maps if m[-1].strip() == os.path.realpath(MOTE)]
        self.assertEqual({m[1] for m in own} - {'r--p'}, {'r-xp'})
        stacks = [m[1] for m in maps if m[-1].strip() == '[stack]']
        self.assertEqual(stacks, ['rw-p'])
        models = [m[1] for m in maps if m[-1].strip() == os.path.realpath(DEMO)]
        self.assertEqual(models, ['r--p'])

    @need('readelf')
    def test_program_headers(self):
        text = subprocess.run(['readelf', '-lW', MOTE], capture_output=True, text=True).stdout
        rows = re.findall(r'^ +(LOAD|GNU_STACK|INTERP|DYNAMIC).* ([R ][W ][E ]) +(?:0x)?[\da-f]+$', text,
                          re.M)
        self.assertEqual(sorted(rows), [('GNU_STACK', 'RW '), ('LOAD', 'R E')], text)


class Calls(Test):
    @need('strace')
    def test_only_those_that_sys_h_names(self):
        with open(os.path.join(ROOT, 'runtime/sys.h')) as f:
            known = {int(n) for n in re.findall(r'^ +SYS_\w+ = (\d+)', f.read(), re.M)}
        self.assertGreater(len(known), 8)
        with tempfile.NamedTemporaryFile('r') as log:
            trace = ('strace', '-f', '-n', '-qq', '-o', log.name)
            for args, stdin in ((['-T0', '-n20', '-t2', DEMO], PROMPT.encode()),
                                (['-i', '-t', '3', DEMO], b'Hello!\n'), (['nowhere'], b''),
                                (['-h'], b'')):
                r = run(*args, stdin=stdin, wrap=trace)
                if b'ptrace' in r.err.lower():
                    self.skipTest('strace may not trace here: %r' % r.err[:99])
                calls = {int(n) for n in re.findall(r'^\d+ +\[ *(\d+)\]', log.read(), re.M)}
                self.assertGreater(len(calls), 2, args)
                self.assertEqual(calls - known - {59}, set(), args)  # 59: strace's own execve
                log.seek(0)

    def test_waits_without_burning_the_cpu(self):
        with start('-q', '-i', '-t', '2', DEMO) as p:
            p.stdin.write(b'Hello!\n')
            p.stdin.flush()
            p.stdout.readline()

            def ticks():
                with open('/proc/%d/stat' % p.pid) as f:
                    return sum(map(int, f.read().rsplit(')', 1)[1].split()[11:13]))
            time.sleep(0.2)
            before = ticks()
            time.sleep(0.5)
            self.assertLessEqual(ticks() - before, 5)  # of 50
            p.stdin.close()
            p.stdout.read()


@need('qemu-x86_64')
class OtherCpus(Test):
    def qemu(self, cpu, program):
        return run('-q', '-T0', '-n', '5', '-t', '1', DEMO, PROMPT, program=program,
                   wrap=('qemu-x86_64', '-cpu', cpu))

    @unittest.skipIf('portable' in MOTE, 'the portable build runs anywhere')
    def test_without_avx2(self):
        for cpu in ('Nehalem', 'qemu64', 'max,avx2=off', 'max,fma=off', 'max,f16c=off',
                    'max,xsave=off'):
            r = self.qemu(cpu, MOTE)
            self.assert_refused(r)
            self.assertIn(b'AVX', r.err)

    # qemu knows no AVX-512: to this build all of its CPUs are too old.
    @unittest.skipUnless(os.path.exists(V4), 'build/x86_64_v4/mote is not built')
    def test_without_avx512(self):
        for cpu in ('qemu64', 'max'):
            r = self.qemu(cpu, V4)
            self.assert_refused(r)
            self.assertIn(b'AVX-512', r.err)

    @unittest.skipIf('x86_64_v4' in MOTE, 'qemu knows no AVX-512')
    def test_with_avx2(self):
        self.assertEqual(self.qemu('max', MOTE), (0, self.greedy(PROMPT, n=5), b''))

    @unittest.skipUnless(os.path.exists(PORTABLE), 'build/portable/mote is not built')
    def test_portable_build(self):
        for cpu in ('Nehalem', 'qemu64', 'max'):
            self.assertEqual(self.qemu(cpu, PORTABLE), (0, self.greedy(PROMPT, n=5), b''), cpu)


if __name__ == '__main__':
    unittest.main()
