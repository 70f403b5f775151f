"""test_published.py - files with the very headers of published ones: text, or a refusal."""
import json
import os
import unittest

from common import DATA, Test, add_tests, run

PUBLISHED = os.path.join(DATA, 'published')


def profiles():
    """(name, expectation, word, prompt, tokens, their bytes, how many of these are sure)."""
    with open(os.path.join(PUBLISHED, 'published.tsv'), encoding='utf-8') as f:
        for line in f:
            if line[0] != '#':
                name, expect, says, prompt, n, right, sure = line.rstrip('\n').split('\t')[:7]
                yield (name, expect, says, json.loads(prompt), int(n),
                       b'' if right == '-' else bytes.fromhex(right), int(sure))


class Published(Test):
    def check(self, name, expect, says, prompt, n, right, sure):
        path = os.path.join(PUBLISHED, name + '.gguf')
        if expect == 'error':
            r = run('-q', '-T', '0', '-n', str(n), path, prompt)
            self.assert_refused(r, name)
            self.assertIn(says.encode(), r.err.replace(name.encode(), b''))
        else:  # 'text'; and 'either', for an engine with all types
            self.assertEqual(self.greedy(prompt, n=n, model=path)[:sure], right[:sure])

    def test_that_none_is_forgotten(self):
        files = sum(name.endswith('.gguf') for name in os.listdir(PUBLISHED))
        self.assertEqual((files, len(PROFILES)), (22, 22))


PROFILES = list(profiles())
add_tests(Published, [(p[0], *p) for p in PROFILES])

if __name__ == '__main__':
    unittest.main()
