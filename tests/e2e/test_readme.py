"""test_readme.py - the session in README.md is what every build says, word by word."""
import os
import re
import shlex
import unittest

from common import ROOT, Test, run


class Readme(Test):
    def test_session(self):
        with open(os.path.join(ROOT, 'README.md')) as f:
            session = f.read().split('\n## A session\n')[1].split('\n## ')[0]
        commands = re.findall(r'^ {4}\$ build/mote (.*)\n((?:(?! {4}\$)(?: {4}.*)?\n)+)', session, re.M)
        self.assertEqual(len(commands), 2)
        for command, told in commands:
            lines = [line[4:] for line in told.strip('\n').split('\n')]
            typed = [line[2:] for line in lines if line.startswith('> ')]
            said = [line for line in lines if not line.startswith(('> ', 'seed '))]
            r = run('-q', *shlex.split(command), cwd=ROOT, stdin='\n'.join(typed).encode())
            self.assertEqual((r.code, r.err), (0, b''))
            pattern = re.escape('\n'.join(said)).replace(re.escape('[...]'), '.*')
            self.assertRegex(r.out.decode(), r'(?s)\A%s\n*\Z' % pattern)


if __name__ == '__main__':
    unittest.main()
