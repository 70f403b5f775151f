"""test_lookup.py - prompt lookup decoding (-l) is lossless: the same text, in fewer passes."""
import glob
import os
import unittest

from common import DATA, DEMO, Test, run

ECHO = 'Lily had a red ball. Lily had a red ball. Lily had a red ball. Lily'
AGAIN = 'The cat sat. The dog ran. ' * 10
STORY = 'Once upon a time there was a girl. She had a cat. Once upon a time there was a boy. He had'


class Lookup(Test):
    def same(self, *args, drafts=('1', '2', '5', '31', '59'), stdin=b''):
        text = self.text('-l', '0', *args, stdin=stdin)
        for n in drafts:
            self.assertEqual(self.text('-l', n, *args, stdin=stdin), text, n)
        return text

    def test_greedy_text(self):
        for prompt in (ECHO, STORY, 'a a a a a a a a', 'x'):
            self.assertNotEqual(self.same('-T', '0', '-n', '150', DEMO, prompt), b'')

    def test_sampled_text(self):
        for seed in '123':
            self.same('-s', seed, '-T', '0.7', '-n', '150', DEMO, STORY)
            self.same('-s', seed, '-T', '1.5', '-k', '5', '-n', '80', DEMO, ECHO)

    def test_threads(self):
        text = self.text('-T', '0', '-n', '100', DEMO, ECHO)
        for threads in '23':
            self.assertEqual(self.text('-t', threads, '-l', '7', '-T', '0', '-n', '100', DEMO, ECHO),
                             text)

    def test_number_of_tokens(self):
        for n in range(1, 20):
            self.same('-T', '0', '-n', str(n), DEMO, ECHO, drafts='9')

    def test_end_of_the_context(self):
        for context in range(40, 60):
            r = [run('-q', '-T', '0', '-l', n, '-c', str(context), DEMO, ECHO) for n in ('0', '9')]
            self.assertEqual(r[0], r[1], context)

    def test_chat(self):
        turns = b'Hello!\nTell me a story about a dog.\nTell me a story about a dog.\nHello!\n'
        self.same('-i', '-T', '0', '-n', '60', DEMO, stdin=turns)

    def test_windows_and_softcaps(self):
        """The ring of a local layer holds what a wrong guess has overwritten no more."""
        for model in sorted(glob.glob(os.path.join(DATA, 'cases', 'gemma[23]*.gguf'))):
            self.same('-T', '0', '-n', '200', model, ECHO, drafts=('3', '59'))

    def test_fewer_passes(self):
        """GB/s counts passes over the weights, tok/s tokens: where a text repeats itself, one grows."""
        def tokens_per_pass(n):
            r = run('-t', '1', '-l', n, '-T', '0', '-n', '250', DEMO, AGAIN)
            _, _, _, speed, bandwidth, _ = self.statistics(r.err.strip() + b'\n')
            return speed / bandwidth
        self.assertGreater(tokens_per_pass('7'), 4 * tokens_per_pass('0'))

    def test_default(self):
        """It is on: fewer passes where a text repeats itself, about as many where it does not."""
        def passes(*options):
            _, _, tokens, speed, bandwidth, _ = self.statistics(run(*options).err.strip() + b'\n')
            return tokens * bandwidth / speed
        plain = ('-t', '1', '-T', '0', '-n', '250', DEMO, AGAIN)
        self.assertLess(passes(*plain), 0.25 * passes('-l', '0', *plain))
        story = ('-t', '1', '-s', '1', '-n', '100', DEMO, 'x')
        self.assertGreater(passes(*story), 0.8 * passes('-l', '0', *story))

    def test_statistics(self):
        """Tokens a second are all of them: with what a pass reads they make a whole number of passes."""
        def figures(*options):
            r = run('-t', '1', '-T', '0', '-n', '100', *options, DEMO, AGAIN)
            return self.statistics(r.err.strip() + b'\n')[3:5]
        speed, plain = figures('-l', '0')
        size = plain / speed
        for n in '7', '20', '59':
            speed, bandwidth = figures('-l', n)
            passes = 99 * bandwidth / speed / size
            rounding = passes * 0.005 * (1 / plain + 1 / bandwidth)
            self.assertAlmostEqual(passes, round(passes), delta=0.02 + rounding)
            self.assertLess(passes, 30)

    def test_limits(self):
        for bad in ('60', '4294967295', 'x', ''):
            self.assertEqual(run('-l', bad, DEMO, ECHO).code, 2, bad)


if __name__ == '__main__':
    unittest.main()
