"""common.py - how the end-to-end tests run mote.  Read next: test_text.py, then the others.

MOTE names the program, else what was built last, and MOTE_DEMO the demo model, where it is not
the one of tests/data.
"""
import collections
import os
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOTE = os.path.realpath(os.environ.get('MOTE', os.path.join(ROOT, 'build/mote')))
DATA = os.path.join(ROOT, 'tests/data')
DEMO = os.environ.get('MOTE_DEMO', os.path.join(DATA, 'tiny-gemma-q8_0.gguf'))
PROMPT = 'Once upon a time'

Result = collections.namedtuple('Result', 'code out err')


def run(*args, stdin=b'', program=MOTE, wrap=(), timeout=60, **how):
    """The program with these arguments.  stdin: its bytes, or what subprocess takes for it."""
    if isinstance(stdin, bytes):
        how['input'] = stdin
    else:
        how['stdin'] = stdin
    how.setdefault('stdout', subprocess.PIPE)
    how.setdefault('stderr', subprocess.PIPE)
    done = subprocess.run([*wrap, program, *args], timeout=timeout, **how)
    return Result(done.returncode, done.stdout, done.stderr)


def start(*args, **how):
    """The program with these arguments, running, with pipes for what is not said otherwise."""
    for stream in ('stdin', 'stdout', 'stderr'):
        how.setdefault(stream, subprocess.PIPE)
    return subprocess.Popen([MOTE, *args], **how)


class Test(unittest.TestCase):
    maxDiff = 2000

    def text(self, *args, **how):
        """What a run that ends well prints; -t 1 and -q, so that it says nothing else."""
        r = run('-q', '-t', '1', *args, **how)
        self.assertEqual((r.code, r.err), (0, b''), args)
        return r.out

    def greedy(self, *args, n=20, model=DEMO, **how):
        return self.text('-T', '0', '-n', str(n), model, *args, **how)

    def statistics(self, err):
        """The figures of the statistics line: prompt, tok/s, answer, tok/s, GB/s, seed."""
        self.assertRegex(err, rb'\Aseed \d+; prompt \d+, \d+\.\d\d tok/s; answer \d+, '
                              rb'\d+\.\d\d tok/s, \d+\.\d\d GB/s\n\Z')
        words = err.replace(b';', b'').replace(b',', b'').split()
        return [float(words[i]) for i in (3, 4, 7, 8, 10, 1)]

    def assert_refused(self, r, name='', code=1):
        """One line on standard error, fit for a terminal, and nothing else."""
        self.assertEqual((r.code, r.out), (code, b''), r.err)
        self.assert_one_line(r.err, name)

    def assert_one_line(self, err, name=''):
        self.assertRegex(err, rb'\Amote: [ -~]{4,300}\n\Z')
        self.assertIn(os.fsencode(name), err)


def add_tests(cls, cases):
    """Gives a test class a method for each (name, arguments...) of cases, which calls check()."""
    for name, *args in cases:
        name = 'test_' + ''.join(c if c.isalnum() else '_' for c in name)
        assert not hasattr(cls, name), name
        setattr(cls, name, lambda self, args=args: self.check(*args))
