"""test_text.py - the exact text: of the demo model, and of every prompt in tests/data/cases."""
import json
import os
import tempfile
import unittest

import bad_kit
import gguf_edit
from common import DATA, DEMO, PROMPT, Test, add_tests, run

CASES = os.path.join(DATA, 'cases')


def demo_answers(model):
    with open(os.path.join(DATA, model + '.json'), encoding='utf-8') as f:
        return [a for a in json.load(f) if a['sure'] or 'pinned' in a]


def lines(tsv):
    with open(os.path.join(CASES, tsv), encoding='utf-8') as f:
        return [line.rstrip('\n').split('\t') for line in f if line[0] != '#']


class Demo(Test):
    """Greedy text, plain and in a chat, from an fp64 oracle: as far as 8-bit activations reach."""

    def check(self, model, answer):
        right, n = answer['text'].encode(), len(answer['ids'])
        stops = answer['ids'][-1] in (1, 2047)  # <eos>, <end_of_turn>
        whole = answer['sure'] == len(right) or 'pinned' in answer
        model = os.path.join(DATA, model + '.gguf')
        if 'turns' in answer:
            turns = ''.join(turn + '\n' for turn in answer['turns']).encode()
            out = self.greedy('-i', n=400, model=model, stdin=turns)
            before = answer.get('before', '').encode()
            right = before + (b'\n' if before else b'') + right + b'\n'
            before = len(right) - 1 - len(answer['text'].encode())
            answer = dict(answer, sure=before + answer['sure'])
        else:
            out = self.greedy(answer['prompt'], n=n + 100 * stops, model=model)
        self.assertEqual(out[:answer['sure']], right[:answer['sure']])
        if whole:
            self.assertEqual(out, right)

    def test_counts_its_tokens(self):
        for answer in demo_answers('tiny-gemma-q8_0'):
            if 'turns' not in answer:
                r = run('-T', '0', '-n', '9', DEMO, answer['prompt'])
                figures = self.statistics(r.err.lstrip(b'\n'))
                self.assertEqual((figures[0], figures[2]), (len(answer['prompt_ids']), 9))


for model in ('tiny-gemma-q8_0', 'tiny-gemma-q4_0'):
    add_tests(Demo, [
        ('%s %02d %.20s' % (model[-4:], i, ' / '.join(a.get('turns', [a.get('prompt')]))), model, a)
        for i, a in enumerate(demo_answers(model))])


class Models(Test):
    """32 greedy tokens of a small model of each kind and weight type, from an fp64 oracle."""

    def check(self, name):
        with open(os.path.join(CASES, name + '.txt')) as f:
            case = dict(line.rstrip('\n').split(' ', 1) for line in f)
        text, right = bytes.fromhex(case['text']), bytes.fromhex(case['greedy_hex'])
        out = self.greedy(text, n=32, model=os.path.join(CASES, name + '.gguf'))
        sure = int(case['sure'])  # bytes, beyond the reach of 8-bit activations
        self.assertEqual(out[:sure], right[:sure])
        if sure == len(right):
            self.assertEqual(out, right)


add_tests(Models, [(name[:-5], name[:-5]) for name in sorted(os.listdir(CASES))
                   if name.endswith('.gguf') and name != 'small.gguf'])


class Sentinels(Test):
    """Prompts at which an engine with a known mistake says something else."""

    def check(self, model, text, n, right):
        out = self.greedy(json.loads(text), n=n, model=os.path.join(CASES, model))
        self.assertEqual(out, bytes.fromhex(right))


add_tests(Sentinels, [(' '.join(line[1:3]), line[1], line[3], int(line[4]), line[5])
                      for line in lines('sentinels.tsv') if line[0] == 'sure'])


class Tokens(Test):
    """The eight tokens after a text: wrong token ids would give others."""

    def test_of_all_texts(self):
        done = 0
        for text, ids, flags, right in lines('small.tsv'):
            if right == '-' or flags == 'special':
                continue
            text = json.loads(text).encode('latin1' if 'bytes' in flags else 'utf-8')
            with self.subTest(text=text):
                out = self.greedy('--', text, n=8, model=os.path.join(CASES, 'small.gguf'))
                self.assertEqual(out, bytes.fromhex(right))
            done += 1
        self.assertGreater(done, 80)


class SpacePrefix(Test):
    """A file may ask for a space in front of the text: wherever that comes from."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.models = []
        for wanted in (0, 1):
            g = bad_kit.fresh()
            g.set('tokenizer.ggml.add_space_prefix', gguf_edit.BOOL, wanted)
            cls.models.append(os.path.join(folder.name, '%d.gguf' % wanted))
            with open(cls.models[-1], 'wb') as f:
                f.write(g.bytes())

    def test_of_arguments(self):
        without, wanted = self.models
        right = self.greedy(' the rain', n=8, model=without)
        self.assertEqual(self.greedy('the rain', n=8, model=wanted), right)
        self.assertEqual(self.greedy('the', 'rain', n=8, model=wanted), right)
        self.assertNotEqual(self.greedy('the rain', n=8, model=without), right)

    def test_of_standard_input(self):
        without, wanted = self.models
        self.assertEqual(self.greedy(n=8, model=wanted, stdin=b'the rain'),
                         self.greedy(n=8, model=without, stdin=b' the rain'))

    def test_spares_the_name_of_the_file(self):
        r = run('-q', '-c', '2', self.models[1], 'the rain')
        self.assertEqual(r.err, b'mote: %s: prompt too long\n' % self.models[1].encode())


class Settings(Test):
    """What must not change the text, and what must."""

    def test_threads(self):
        right = self.greedy(PROMPT, n=60)
        for options in ([], ['-t1'], ['-t2'], ['-t3'], ['-t5']):
            r = run('-q', '-T0', '-n60', *options, DEMO, PROMPT)
            self.assertEqual(r, (0, right, b''), options)

    def test_context(self):
        right = self.greedy(PROMPT)
        for n in ('25', '100', '511', '512'):
            self.assertEqual(self.greedy('-c', n, PROMPT), right)

    def test_seed(self):
        def drawn(seed):
            return self.text('-n', '40', '-s', seed, DEMO, PROMPT)
        texts = {drawn(seed) for seed in ('0', '1', '2', '3', '4294967295')}
        self.assertEqual(len(texts), 5)
        self.assertEqual(drawn('7'), drawn('7'))
        self.assertNotIn(self.greedy(PROMPT, n=40), texts)

    def test_no_seed(self):
        seeds = set()
        for _ in range(3):
            r = run('-n', '20', DEMO, PROMPT)
            seed = str(int(self.statistics(r.err.lstrip(b'\n'))[5]))
            self.assertEqual(self.text('-n', '20', '-s', seed, DEMO, PROMPT), r.out)
            seeds.add(seed)
        self.assertEqual(len(seeds), 3)

    def test_greedy_by_any_name(self):
        right = self.greedy(PROMPT, n=40)
        for options in (['-k', '1'], ['-P', '0'], ['-P', '0.0000001'], ['-T', '0.000001'],
                        ['-T', '.0'], ['-T', '0', '-k', '0', '-P', '1']):
            for seed in '12':
                out = self.text('-n', '40', '-s', seed, *options, DEMO, PROMPT)
                self.assertEqual(out, right, options)

    def test_hot(self):
        out = self.text('-T', '100', '-k', '0', '-P', '1', '-n', '60', '-s', '1', DEMO, PROMPT)
        self.assertGreater(len(set(out)), 30)


if __name__ == '__main__':
    unittest.main()
