"""test_io.py - standard streams that are closed, full, gone or a terminal; statistics; the note
of a full context; a model behind the engine in one file."""
import os
import pty
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from common import DATA, DEMO, MOTE, PROMPT, Test, run, start

LONG = ' '.join(['Tim and Lily went to the park.'] * 40)  # 321 tokens, several batches


class Statistics(Test):
    def test_line(self):
        r = run('-T0', '-n', '30', '-s', '5', DEMO, PROMPT)
        self.assertTrue(r.err.startswith(b'\n'))  # text need not end with a newline
        prompt, prompt_speed, n, speed, bandwidth, seed = self.statistics(r.err[1:])
        self.assertEqual((prompt, n, seed), (5, 30, 5))
        self.assertTrue(0 < prompt_speed < 1e6 and 0 < speed < 1e6, r.err)
        # Weights that were read: between a part of the file and all of it for each token.
        a_token = os.path.getsize(DEMO) / 1e9
        self.assertTrue(0.5 * a_token * speed - 0.01 <= bandwidth <= a_token * speed + 0.01, r.err)

    def test_of_a_prompt_alone(self):
        r = run('-T0', '-n', '1', DEMO, PROMPT)
        self.assertEqual(self.statistics(r.err[1:])[2:5], [1, 0, 0])

    def test_quiet(self):
        self.assertEqual(run('-q', '-T0', '-n5', DEMO, PROMPT).err, b'')

    def test_does_not_count_the_end(self):
        """A file whose <eos> is the full stop: the text ends in front of the first."""
        with open(DEMO, 'rb') as f:
            model = f.read()
        for key in (b'ggml.eos_token_id', b'ggml.eot_token_id'):
            at = model.index(key) + len(key) + 4
            model = model[:at] + (1998).to_bytes(4, 'little') + model[at + 4:]
        with tempfile.NamedTemporaryFile() as f:
            f.write(model)
            f.flush()
            r = run('-T0', '-n', '300', f.name, PROMPT)
        self.assertEqual(r.out + b'.', self.greedy(PROMPT, n=10)[:len(r.out) + 1])
        self.assertEqual(self.statistics(r.err[1:])[2], 8)


class Context(Test):
    def test_full(self):
        whole = self.greedy(PROMPT, n=100)
        r = run('-q', '-T0', '-n', '100', '-c', '25', DEMO, PROMPT)
        self.assertEqual(r.code, 0)
        self.assertTrue(whole.startswith(r.out) and 20 < len(r.out) < len(whole), r.out)
        self.assertRegex(r.err, rb'\A\n?mote: [ -~]*context is full[ -~]*\n\Z')
        with_statistics = run('-T0', '-n', '100', '-c', '25', DEMO, PROMPT).err
        self.assertEqual(self.statistics(with_statistics[with_statistics.index(b'seed '):])[2],
                         len(self.tokens_of(r.out)))

    def tokens_of(self, out):
        """As many as -n needs to be for this text."""
        for n in range(100):
            if self.greedy(PROMPT, n=n) == out:
                return range(n)
        self.fail('no number of tokens gives ' + repr(out))

    def test_full_to_the_last_token(self):
        """A context of c positions takes c tokens, and lets the model say one more at most."""
        n = [len(self.tokens_of(run('-q', '-T0', '-c', str(c), DEMO, PROMPT).out))
             for c in (5, 6, 10)]
        self.assertEqual([n[1] - n[0], n[2] - n[1]], [1, 4])
        self.assertIn(n[0], (0, 1))

    def test_longer_than_the_model_s(self):
        right = self.greedy(PROMPT)
        r = run('-q', '-T0', '-n', '20', '-c', '513', DEMO, PROMPT)
        self.assertEqual((r.code, r.out), (0, right))
        self.assert_one_line(r.err)
        self.assertIn(b'-c', r.err)


class Streams(Test):
    def shell(self, line):
        r = subprocess.run(['sh', '-c', line], capture_output=True, timeout=60,
                           env={'M': MOTE, 'F': DEMO, 'P': PROMPT})
        return r.returncode, r.stdout, r.stderr

    def test_standard_input_closed(self):
        right = self.greedy(PROMPT)
        self.assertEqual(self.shell('"$M" -q -T0 -n20 "$F" "$P" <&-'), (0, right, b''))
        code, out, err = self.shell('"$M" -q -T0 -n20 "$F" <&-')
        self.assertEqual((code, out), (1, b''))
        self.assert_one_line(err)

    def test_standard_input_that_cannot_be_read(self):
        code, out, err = self.shell('"$M" -q -T0 -n20 "$F" </')
        self.assertEqual((code, out), (1, b''))
        self.assert_one_line(err)

    def test_standard_output_closed_or_full(self):
        for where in ('>&-', '>/dev/full', '</dev/null >&-', '<&- >&-'):
            for args in ('-T0 -n20 "$F" "$P"', '-h'):
                code, out, err = self.shell('"$M" %s %s' % (args, where))
                self.assertEqual((code, out), (1, b''), where)
                self.assert_one_line(err)

    def test_standard_error_closed(self):
        right = self.greedy(PROMPT)
        self.assertEqual(self.shell('"$M" -q -T0 -n20 "$F" "$P" 2>&-'), (0, right, b''))
        self.assertEqual(self.shell('"$M" -q nowhere 2>&-')[:2], (1, b''))
        self.assertIn(self.shell('"$M" 2>&-')[:2], [(1, b''), (2, b'')])

    def test_pipe_that_nobody_reads(self):
        with start('-T', '0', '-n', '400', DEMO, 'One day, a girl named Sue') as p:
            p.stdout.read(5)
            p.stdout.close()
            err = p.stderr.read()
            self.assertEqual(p.wait(), 1)
        self.assert_one_line(err)

    def test_pipe_that_is_slow(self):
        with start('-q', '-T0', '-n20', DEMO, stdin=subprocess.PIPE) as p:
            for piece in ('Once', ' upon a', ' ti', 'me'):
                p.stdin.write(piece.encode())
                p.stdin.flush()
                time.sleep(0.02)
            p.stdin.close()
            self.assertEqual(p.stdout.read(), self.greedy(PROMPT))

    def test_text_comes_as_it_is_made(self):
        with start('-q', '-T0', '-i', DEMO) as p:
            p.stdin.write(b'Hello!\n')
            p.stdin.flush()
            self.assertEqual(os.read(p.stdout.fileno(), 1), b'H')
            p.stdin.close()
            p.stdout.read()


class Terminal(Test):
    def run_in(self, *args, typed=b''):
        """A run in a terminal: what both streams show, and the status."""
        main, end = pty.openpty()
        p = subprocess.Popen([MOTE, *args], stdin=end, stdout=end, stderr=end)
        os.close(end)
        shown = b''
        while True:
            try:
                got = os.read(main, 4096)
            except OSError:
                break
            shown += got
            if typed and shown.rstrip(b'\r\n').endswith((b'>', b':', b'> ')):
                time.sleep(0.05)
                line, _, typed = typed.partition(b'|')
                os.write(main, line)
        os.close(main)
        return p.wait(), shown.replace(b'\r\n', b'\n')

    def test_asks_for_the_prompt_once(self):
        code, shown = self.run_in('-q', '-T0', '-n20', DEMO, typed=PROMPT.encode() + b'\n\x04')
        self.assertEqual(code, 0)
        asked, _, rest = shown.partition(b'\n')
        self.assertRegex(asked, rb'(?i)\A[ -~]*prompt[ -~]*Ctrl-D[ -~]*:\Z')
        self.assertNotIn(b'Ctrl-D', rest)
        self.assertIn(self.greedy(PROMPT), shown)

    def test_shows_how_far_a_long_prompt_is(self):
        code, shown = self.run_in('-q', '-T0', '-n5', '-t1', DEMO, LONG)
        self.assertEqual(code, 0)
        text = self.greedy(LONG, n=5)
        self.assertTrue(shown.endswith(text), shown)
        shown = shown[:-len(text)]
        told = [int(n) for n in re.findall(rb'\rprompt (\d+)', shown)]
        self.assertGreaterEqual(len(told), 3)
        self.assertEqual(told, sorted(set(told)))
        self.assertLess(told[-1], 321)
        self.assertRegex(shown, rb'[\r\n]\Z')  # the text begins where a line does
        r = run('-q', '-T0', '-n5', DEMO, LONG)
        self.assertEqual(r.err, b'')

    def test_shows_none_for_a_short_prompt(self):
        code, shown = self.run_in('-q', '-T0', '-n5', DEMO, PROMPT)
        self.assertEqual((code, shown.lstrip(b'\r')), (0, self.greedy(PROMPT, n=5)))

    def test_chat(self):
        code, shown = self.run_in('-q', '-T0', '-i', DEMO, typed=b'Hello!\n|Thank you!\n|\x04')
        self.assertEqual(code, 0)
        self.assertEqual(shown.count(b'> '), 3, shown)
        self.assertEqual(shown.count(b'Do you want to hear a story?\n'), 2, shown)


class OneFile(Test):
    """cat mote model.gguf > story: the model behind the engine."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.story = os.path.join(self.folder, 'story')
        self.join(DEMO)

    def join(self, model):
        with open(self.story, 'wb') as f:
            for part in (MOTE, model):
                with open(part, 'rb') as source:
                    shutil.copyfileobj(source, f)
        os.chmod(self.story, 0o755)

    def test_by_every_way_to_call_it(self):
        right = self.greedy(PROMPT)
        os.symlink('story', os.path.join(self.folder, 'link'))
        os.makedirs(os.path.join(self.folder, 'deep'))
        path = dict(os.environ, PATH=self.folder)
        options = ['-q', '-T0', '-n20', '-t1', PROMPT]
        for program, how in ((self.story, {}), ('./story', {'cwd': self.folder}),
                             ('../story', {'cwd': self.folder + '/deep'}),
                             ('story', {'env': path}), ('link', {'env': path}),
                             (self.folder + '/link', {}),
                             ('story', {'env': path, 'cwd': '/'})):
            r = run(*options, program=program, **how)
            self.assertEqual(r, (0, right, b''), program)
        r = run(*options, program='no name', executable=self.story)
        self.assertEqual(r, (0, right, b''))

    def test_all_words_are_the_prompt(self):
        def story(*args, **how):
            return run('-q', '-T0', '-n20', *args, program=self.story, **how).out
        self.assertEqual(story('Once', 'upon'), self.greedy('Once', 'upon'))
        self.assertEqual(story(DEMO), self.greedy(DEMO))
        self.assertEqual(story(stdin=b'Once upon\n'), self.greedy('Once upon'))
        self.assertEqual(story('-i', stdin=b'Hello!\n'), b'Hello! Do you want to hear a story?\n')

    def test_of_all_small_models(self):
        for name in ('gemma-f32', 'gemma-f16', 'gemma-bf16'):
            model = os.path.join(DATA, 'cases', name + '.gguf')
            self.join(model)
            r = run('-q', '-T0', '-n20', 'the river', program=self.story)
            self.assertEqual(r, (0, self.greedy('the river', model=model), b''))

    def test_bad_model(self):
        self.join(__file__)
        self.assert_refused(run(PROMPT, program=self.story), 'story')
        with open(self.story, 'ab') as f:
            f.truncate(os.path.getsize(MOTE) + 1000)
        self.assert_refused(run(PROMPT, program=self.story), 'story')

    def test_size_keeps_the_alignment_of_tensors(self):
        self.assertEqual(os.path.getsize(MOTE) % 32, 0)


if __name__ == '__main__':
    unittest.main()
