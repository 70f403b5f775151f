"""test_bad.py - malformed files end with one line and status 1; odd but legal ones run."""
import os
import tempfile
import unittest

import bad_cases
import bad_kit
from common import Test, add_tests, run


class Bad(Test):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        bad_cases.write_all(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, name, expect):
        r = run('-q', '-T', '0', '-t', '1', '-n', str(bad_kit.N), self.folder.name + '/' + name,
                bad_kit.PROMPT, timeout=20)
        text = bytes.fromhex(bad_kit.text_of(name))
        runs = r.code == 0 and (expect == 'any' or (r.out, r.err) == (text, b''))
        if expect == 'ok' or (expect != 'error' and r.code == 0):
            self.assertTrue(runs, r)
        else:
            self.assert_refused(r, name)
            says = bad_kit.SAYS.get(name, '').encode()
            self.assertIn(says, r.err.replace(name.encode(), b''))

    def test_that_none_is_forgotten(self):
        self.assertGreater(len(CASES), 480)


CASES = bad_cases.listed()
add_tests(Bad, [(name.removesuffix('.gguf'), name, expect) for name, expect, _ in CASES])


class Odd(Test):
    """What is no regular file."""

    def test_devices(self):
        for name in ('/dev/null', '/dev/zero', '/', '/dev/null/x', ''):
            self.assert_refused(run(name, 'x'), name)

    def test_pipe(self):
        """Nobody writes to it, and opening it would wait for ever."""
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, 'pipe')
            os.mkfifo(name)
            self.assert_refused(run(name, 'x', timeout=10), name)


if __name__ == '__main__':
    unittest.main()
