"""test_cli.py - the command line: options wherever they stand, the prompt, errors of usage."""
import tempfile
import unittest

import bad_kit
from gguf_edit import ARR, STR, array
from common import DEMO, PROMPT, Test, run

LONG = ' '.join(['Tim and Lily went to the park.'] * 40)  # 321 tokens, several batches
TOO_LONG = LONG + LONG


class Help(Test):
    def test_asked_for(self):
        r = run('-h')
        self.assertEqual((r.code, r.err), (0, b''))
        self.assertTrue(r.out.startswith(b'usage: mote '))
        for option in 'nctTkPsiqh':
            self.assertIn(b' -%c ' % ord(option), r.out)
        self.assertEqual(run('-q', DEMO, 'x', '-h'), r)
        self.assertLess(max(map(len, r.out.splitlines())), 90)

    def test_instead_of_a_guess(self):
        usage = run('-h').out
        bad = [[], ['-x'], ['-n'], ['-n', 'x'], ['-n', ''], ['-n', '-5'], ['-n5x'], ['-n', '5.5'],
               ['-n', '0x10'], ['-n', ' 5'], ['-n', '99999999999999999999999'], ['-T'],
               ['-T', '-1'], ['-T', '1..5'], ['-T', '1e3'], ['-T', 'inf'], ['-T', 'nan'],
               ['-T', ''], ['-T', '1,5'], ['-P', '1.01'], ['-P', '2'], ['-P', 'x'], ['-k', '1.5'],
               ['-k', '-1'], ['-s', 'abc'], ['-s'], ['-c', '-1'], ['-c', '1048577'],
               ['-c', '99999999999'], ['-t', '1025'], ['-t', '99999999999'], ['-t', 'two'],
               ['--help'], ['--n', '5'], ['-qx'], ['-iz']]
        for options in bad:
            for args in (options, [DEMO, PROMPT, *options]) if options else ([],):
                r = run(*args)
                self.assertEqual((r.code, r.out), (2, b''), args)
                self.assertEqual(r.err, usage, args)
        self.assertEqual(run('-q', '-T', '0').code, 2)  # no model


class Options(Test):
    def same(self, *lines):
        texts = [self.text(*args) for args in lines]
        for args, text in zip(lines, texts):
            self.assertEqual(text, texts[0], args)
        self.assertNotEqual(texts[0], b'')

    def test_with_their_value(self):
        self.same(['-T', '0', '-n', '5', DEMO, PROMPT], ['-T0', '-n5', DEMO, PROMPT],
                  ['-T0.0', '-n', '05', DEMO, PROMPT], ['-T', '0.', '-n5', DEMO, PROMPT],
                  ['-T', '.0', '-n5', DEMO, PROMPT])

    def test_together(self):
        self.same(['-q', '-T', '0', '-n', '5', DEMO, PROMPT], ['-qT0', '-qn5', DEMO, PROMPT],
                  ['-qqT', '0', '-qqn', '5', DEMO, PROMPT])

    def test_anywhere(self):
        self.same(['-T', '0', '-n', '5', DEMO, 'Once', 'upon'],
                  [DEMO, '-T', '0', '-n', '5', 'Once', 'upon'],
                  [DEMO, 'Once', '-T', '0', 'upon', '-n', '5'],
                  [DEMO, 'Once', 'upon', '-T', '0', '-n5'],
                  ['-T0', '-n5', '--', DEMO, 'Once', 'upon'],
                  ['-T0', '-n5', DEMO, '--', 'Once', 'upon'])

    def test_the_last_counts(self):
        self.same(['-T0', '-n', '5', DEMO, PROMPT],
                  ['-T', '1', '-n', '9', '-T0', DEMO, '-n', '5', PROMPT])

    def test_number_of_tokens(self):
        texts = [self.greedy(PROMPT, n=n) for n in range(8)]
        self.assertEqual(texts[0], b'')
        for shorter, longer in zip(texts, texts[1:]):
            self.assertTrue(longer.startswith(shorter) and longer != shorter, longer)

    def test_largest_values(self):
        self.same(['-T0', '-n5', DEMO, PROMPT],
                  ['-T0', '-n5', '-k', '4294967295', '-s', '4294967295', DEMO, PROMPT])

    def test_fractions(self):
        self.same(['-s1', '-n', '40', '-T', '0.5', '-P', '0.25', DEMO, PROMPT],
                  ['-s1', '-n', '40', '-T', '.50', '-P', '00.250000', DEMO, PROMPT])
        self.assertNotEqual(self.text('-s1', '-n', '40', '-T', '0.5', DEMO, PROMPT),
                            self.text('-s1', '-n', '40', '-T', '0.7', DEMO, PROMPT))


class Prompt(Test):
    def test_of_several_words(self):
        self.assertEqual(self.greedy('Once', 'upon', 'a', 'time'), self.greedy(PROMPT))
        self.assertEqual(self.greedy('Once upon', '', 'a'), self.greedy('Once upon  a'))

    def test_with_dashes(self):
        self.assertEqual(self.greedy('-', 'Tim'), self.greedy('--', '- Tim'))
        self.assertEqual(self.greedy('--', '-n', '3'), self.greedy(stdin=b'-n 3'))
        self.assertEqual(self.greedy('--', '--'), self.greedy(stdin=b'--'))
        self.assertEqual(self.greedy('--', '-h'), self.greedy(stdin=b'-h'))

    def test_empty(self):
        empty = self.greedy('')
        self.assertNotEqual(empty, b'')
        self.assertEqual(self.greedy(stdin=b''), empty)
        self.assertEqual(self.greedy(stdin=b'\n'), empty)

    def test_from_standard_input(self):
        self.assertEqual(self.greedy(stdin=PROMPT.encode()), self.greedy(PROMPT))
        self.assertEqual(self.greedy(stdin=PROMPT.encode() + b'\n'), self.greedy(PROMPT))
        for text in ('a story\n', '\n', 'two\nlines\n', 'crlf\r', '\r', ' x ', '\t', '\ufeffx',
                     '\xe9'):
            self.assertEqual(self.greedy(stdin=text.encode() + b'\n'), self.greedy(text), text)

    def test_from_standard_input_not_if_it_is_given(self):
        self.assertEqual(self.greedy(PROMPT, stdin=b'The little dog'), self.greedy(PROMPT))

    def test_of_any_bytes(self):
        for text in (bytes(range(1, 256)), b'a\0b', bytes(300), b'\xff' * 20, b'\xe2\x96'):
            r = run('-q', '-T0', '-n5', DEMO, stdin=text)
            self.assertEqual((r.code, r.err), (0, b''), text)

    def test_long(self):
        self.assertEqual(self.greedy(LONG), self.greedy(stdin=LONG.encode()))
        figures = self.statistics(run('-T0', '-n1', DEMO, stdin=LONG.encode()).err.lstrip(b'\n'))
        self.assertEqual(figures[0], 321)

    def test_of_long_pieces(self):
        """Pieces of 32 bytes, longer than any control token: the text is more than it seems."""
        g = bad_kit.fresh()
        names = ['<pad>', '<eos>', '<bos>', '<unk>'] + ['<0x%02X>' % i for i in range(256)]
        names += ['a' * 2 ** i for i in range(6)]
        names += ['%d.' % i for i in range(bad_kit.V - len(names))]
        g.set(bad_kit.TOK + 'tokens', ARR, array(STR, names))
        with tempfile.NamedTemporaryFile() as f:
            f.write(g.bytes())
            f.flush()
            for n in (1, 100, 200, 254):
                text = b'a' * 32 * n
                for r in (run('-T0', '-n1', f.name, text), run('-T0', '-n1', f.name, stdin=text)):
                    self.assertEqual(self.statistics(r.err.lstrip(b'\n'))[0], n + 1)
            self.assert_refused(run(f.name, b'a' * 32 * 256), f.name)
            self.assert_refused(run(f.name, stdin=b'a' * 32 * 256), f.name)


class Errors(Test):
    def test_no_such_file(self):
        self.assert_refused(run('nowhere.gguf', PROMPT), 'nowhere.gguf')

    def test_no_model(self):
        self.assert_refused(run(__file__, PROMPT), __file__)

    def test_prompt_longer_than_the_context(self):
        r = run(DEMO, TOO_LONG)
        self.assert_refused(r)
        self.assertIn(b'too long', r.err)
        self.assertEqual(run(DEMO, stdin=TOO_LONG.encode()), r)
        self.assert_refused(run('-c', '3', DEMO, PROMPT))
        self.assert_refused(run('-c', '1', DEMO, PROMPT))


if __name__ == '__main__':
    unittest.main()
