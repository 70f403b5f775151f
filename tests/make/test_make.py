"""test_make.py - which ISA make builds for: by default that of this CPU, else the one that is named.

Nothing is built here: `make -n` tells what would be.
"""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ISAS = ('x86_64_v4', 'x86_64', 'portable')  # the best first
DEMO = os.path.join(ROOT, 'tests/data/tiny-gemma-q8_0.gguf')
CALLERS = ('ISA', 'CPUINFO', 'MAKEFLAGS', 'MAKELEVEL')  # of the make that runs the tests
AVX2 = 'fpu avx f16c avx2 fma'
AVX512 = AVX2 + ' avx512f avx512bw avx512_vnni'


def without(flags, one):
    return ' '.join(f for f in flags.split() if f != one)


@unittest.skipUnless(shutil.which('make'), 'make is not installed')
class Isa(unittest.TestCase):
    def isa(self, *arguments, **variables):
        """What build/mote would be a link to, or in which folder a program would be linked."""
        own = {v: os.environ[v] for v in os.environ if v not in CALLERS}
        done = subprocess.run(['make', '-nB', '-C', ROOT, *arguments], capture_output=True, text=True,
                              env=dict(own, **variables))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.search(r'ln -sfn (\w+)/mote build/mote', done.stdout)
        return found[1] if found else re.search(r' -o build/(\w+)/mote\.elf', done.stdout)[1]

    def on(self, flags, *arguments, **variables):
        """The same where /proc/cpuinfo has these flags."""
        with tempfile.NamedTemporaryFile('w') as f:
            for cpu in range(2):
                f.write('processor\t: %d\nflags\t\t: %s\nbugs\t\t:\n\n' % (cpu, flags))
            f.flush()
            return self.isa('CPUINFO=' + f.name, *arguments, **variables)

    def test_of_the_cpu(self):
        self.assertEqual(self.on(AVX512), 'x86_64_v4')
        self.assertEqual(self.on(AVX2), 'x86_64')
        self.assertEqual(self.on('fpu avx'), 'portable')
        for flag in 'avx512f', 'avx512bw', 'avx512_vnni':
            self.assertEqual(self.on(without(AVX512, flag)), 'x86_64', flag)
        for flag in 'avx2', 'fma', 'f16c':
            self.assertEqual(self.on(without(AVX2, flag)), 'portable', flag)
            self.assertEqual(self.on(without(AVX512, flag)), 'portable', flag)

    def test_without_flags(self):
        self.assertEqual(self.isa('CPUINFO=/nowhere'), 'x86_64')
        with tempfile.NamedTemporaryFile('w') as f:
            f.write('processor\t: 0\nFeatures\t: fp asimd\n')
            f.flush()
            self.assertEqual(self.isa('CPUINFO=' + f.name), 'x86_64')

    def test_that_is_named(self):
        for isa in ISAS:
            for goal in 'all', 'boot', 'iso', 'run':
                self.assertEqual(self.on(AVX2, goal, 'ISA=' + isa), isa, goal)
            self.assertEqual(self.on(AVX2, ISA=isa), isa)  # in the environment

    def test_of_goals(self):
        for flags, host in (AVX512, 'x86_64_v4'), (AVX2, 'x86_64'), ('fpu', 'portable'):
            for goal in 'all', 'run', 'chat', 'bench', 'size', 'install':
                self.assertEqual(self.on(flags, goal), host, goal)
            for goal in 'boot', 'iso':  # QEMU's CPU
                self.assertEqual(self.on(flags, goal), 'x86_64', goal)

    def test_of_this_cpu(self):
        """The choice is the best of those that do run here: /proc/cpuinfo and cpu.asm agree."""
        programs = {isa: os.path.join(ROOT, 'build', isa, 'mote') for isa in ISAS}
        if not all(map(os.path.exists, programs.values())):
            self.skipTest('make dist: not all ISAs are built')
        run = [isa for isa in ISAS
               if not subprocess.run([programs[isa], '-qn1', DEMO, 'A'],
                                     capture_output=True).returncode]
        self.assertEqual(self.isa(), run[0])


if __name__ == '__main__':
    unittest.main()
