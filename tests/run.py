#!/usr/bin/env python3
"""run.py - runs all tests of a build and says at the end how many passed and failed.

usage: run.py [-v] [NAME...]     suites, or those whose name begins so; without a name, all

Called by `make test`, which builds what is run here: for each ISA build/ISA/mote and, in
build/ISA/tests, kernels_test, unit_test and unit_asan_test.  What is missing counts as failed.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ISAS = ('x86_64', 'x86_64_v4', 'portable')
# Bytes of the programs: what they have come down to, on their way to 8192 and 4608.
BUDGETS = {'build/x86_64/mote': 15296, 'build/small/mote': 10240}


def has_avx512():
    try:
        with open('/proc/cpuinfo') as f:
            return {'avx512f', 'avx512bw', 'avx512_vnni'} <= set(f.read().split())
    except OSError:
        return False


class Score:
    passed = failed = skipped = 0

    def add(self, suite, name, outcome, detail='', verbose=False):
        setattr(self, outcome, getattr(self, outcome) + 1)
        if verbose or outcome != 'passed':
            print('%-7s %s %s%s' % (outcome, suite, name, ': ' + detail if detail else ''))


def gtest(score, suite, program, verbose, options=()):
    """A GoogleTest program; its own words are shown where it fails."""
    if not os.path.exists(program):
        return score.add(suite, '', 'failed', program + ' is missing')
    with tempfile.NamedTemporaryFile('r', suffix='.json') as report:
        try:
            done = subprocess.run([program, '--gtest_brief=1', '--gtest_output=json:' + report.name,
                                   *options], cwd=ROOT, timeout=600, text=True, errors='replace',
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except (OSError, subprocess.TimeoutExpired) as e:
            return score.add(suite, '', 'failed', str(e))
        report = report.read()  # empty, where the program did not come to its end
    if not report:
        return score.add(suite, '', 'failed', 'exit status %d\n' % done.returncode +
                         done.stdout[-3000:])
    tests = [t for s in json.loads(report)['testsuites'] for t in s['testsuite']]
    for t in tests:
        outcome = ('failed' if 'failures' in t else
                   'skipped' if t['result'] == 'SKIPPED' else 'passed')
        score.add(suite, t['classname'] + '.' + t['name'], outcome, verbose=verbose)
    if done.returncode or verbose:
        print(done.stdout)
    if done.returncode and not any('failures' in t for t in tests):
        score.add(suite, '', 'failed', 'exit status %d' % done.returncode)


class Result(unittest.TextTestResult):
    """Counts sub-tests with the test they belong to."""

    def stopTest(self, test):
        super().stopTest(test)
        bad = [d for t, d in self.failures + self.errors if getattr(t, 'test_case', t) is test]
        skip = [why for t, why in self.skipped if t is test]
        self.score.add(self.suite, test.id(), 'failed' if bad else 'skipped' if skip else 'passed',
                       '\n'.join(bad or skip), self.verbose)


def e2e(score, suite, program, verbose, folder='e2e'):
    """The tests of a folder, in a process of their own: they read MOTE when they are imported."""
    lines = subprocess.run([sys.executable, os.path.abspath(__file__), '--e2e', folder], text=True,
                           env=dict(os.environ, MOTE=program), capture_output=True, timeout=900)
    try:
        for outcome, name, detail in json.loads(lines.stdout):
            score.add(suite, name, outcome, detail, verbose)
    except ValueError:
        score.add(suite, '', 'failed', lines.stdout[-2000:] + lines.stderr[-2000:])


def e2e_here(folder):
    """What e2e() starts: prints (outcome, test, detail) of each test as JSON."""
    results = []

    class Collector:
        def add(self, suite, name, outcome, detail, verbose):
            results.append((outcome, name, detail))
    folder = os.path.join(ROOT, 'tests', folder)
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    Result.score, Result.suite, Result.verbose = Collector(), '', False
    tests = unittest.defaultTestLoader.discover(folder, 'test_*.py')
    with open(os.devnull, 'w') as nowhere:
        r = unittest.TextTestRunner(nowhere, resultclass=Result).run(tests)
    for test, detail in r.errors:  # of a whole class or module: no stopTest() saw them
        if not isinstance(test, unittest.TestCase):
            results.append(('failed', test.id(), detail))
    json.dump(results, sys.stdout)


def size(score, suite, program, verbose):
    """The program keeps its budget, and README.md tells it."""
    path, budget = os.path.join(ROOT, program), BUDGETS[program]
    if not os.path.exists(path):
        return score.add(suite, program, 'failed', 'is missing')
    n = os.path.getsize(path)
    score.add(suite, program, 'passed' if n <= budget else 'failed',
              '%d of %d bytes; by part: make size' % (n, budget), verbose)
    with open(os.path.join(ROOT, 'README.md')) as f:
        told = '{:,} bytes'.format(budget) in ' '.join(f.read().split()).replace('**', '')
    score.add(suite, program + ' in README.md', 'passed' if told else 'failed', '', verbose)


def tool(score, suite, script, verbose, arguments):
    """A tool that checks something, and whose exit status tells what it found."""
    done = subprocess.run([sys.executable, os.path.join(ROOT, script), *arguments], cwd=ROOT,
                          capture_output=True, text=True)
    score.add(suite, script, 'failed' if done.returncode else 'passed',
              (done.stdout + done.stderr)[-500:], verbose)


def skip(score, suite, why, verbose):
    score.add(suite, '', 'skipped', why)


def suites():
    for isa in ISAS:
        if isa == 'x86_64_v4' and not has_avx512():
            for kind in 'kernels/', 'unit/', 'e2e/':
                yield kind + isa, skip, 'this CPU has no AVX-512'
            continue
        build = os.path.join(ROOT, 'build', isa)
        tests = os.path.join(build, 'tests')
        if isa == 'x86_64':
            for program in BUDGETS:
                yield 'size', size, program
            yield 'docs', tool, 'tools/support.py', ('--check', 'README.md')
            yield 'docs', tool, 'tools/lines.py', ('--check',)
            yield 'make', e2e, build + '/mote', 'make'
        yield 'kernels/' + isa, gtest, tests + '/kernels_test'
        # The loader is the same code in every ISA, and its tests are the longest.
        yield ('unit/' + isa, gtest, tests + '/unit_test',
               () if isa == 'x86_64' else ('--gtest_filter=-*Loader*',))
        if isa == 'x86_64':
            yield ('asan/' + isa, gtest, tests + '/unit_asan_test', ('--gtest_filter=-*Threads*',))
        yield 'e2e/' + isa, e2e, build + '/mote'
        if isa == 'x86_64':
            yield 'boot', e2e, build + '/mote', 'boot'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('-v', action='store_true', help='name the tests that pass')
    parser.add_argument('--e2e', metavar='FOLDER', help=argparse.SUPPRESS)
    parser.add_argument('names', nargs='*', metavar='NAME')
    args = parser.parse_args()
    if args.e2e:
        return e2e_here(args.e2e)
    score, known = Score(), {suite[0] for suite in suites()}
    for name, run, program, *options in suites():
        if args.names and not any(name == n or name.startswith(n) and n not in known
                                  for n in args.names):
            continue
        start, before = time.time(), (score.passed, score.failed, score.skipped)
        run(score, name, program, args.v, *options)
        counts = [b - a for a, b in zip(before, (score.passed, score.failed, score.skipped))]
        print('%-18s %3d passed, %d failed, %d skipped, %.1f s' %
              (name, *counts, time.time() - start), flush=True)
    print('%d passed, %d failed' % (score.passed, score.failed))
    return 1 if score.failed or not score.passed else 0


if __name__ == '__main__':
    sys.exit(main())
