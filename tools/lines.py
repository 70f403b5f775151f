#!/usr/bin/env python3
"""lines.py - keeps the line counts in the READMEs true.

usage: lines.py --check | --write

A row of a table that begins with names of files or folders, in `quotes` or as [links](...), and whose
second cell is a number, tells how many lines these have: source code alone, data left out.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCE = {'.asm', '.cpp', '.h', '.inc', '.ld', '.mk', '.py', '.sh'}


def count(path):
    if path.is_dir():
        return sum(count(p) for p in sorted(path.iterdir()) if p.is_dir() or p.suffix in SOURCE)
    return path.read_bytes().count(b'\n')


def true(readme):
    """The README's text with the right numbers."""
    lines = readme.read_text().split('\n')
    for i, line in enumerate(lines):
        row = re.match(r'\| (.+?) \| ([\d,]+) \|', line)
        names = row and re.findall(r'`([^`]+)`|\[([^]]+)\]\(', row[1])
        paths = [readme.parent / (a or b) for a, b in names or ()]
        # `io.cpp`, `.h`: the second is the first with another suffix.
        paths = [paths[0].with_suffix(p.name) if p.name.startswith('.') else p for p in paths]
        if paths and all(p.exists() for p in paths):
            n = '{:,}'.format(sum(map(count, paths)))
            lines[i] = line[:row.start(2)] + n + line[row.end(2):]
    return '\n'.join(lines)


def main():
    if sys.argv[1:] not in (['--check'], ['--write']):
        sys.exit(__doc__.split('\n\n')[1])
    wrong = []
    for readme in sorted(ROOT.glob('**/README.md')):
        if 'build' in readme.relative_to(ROOT).parts:
            continue
        text = true(readme)
        if text != readme.read_text():
            wrong.append(str(readme.relative_to(ROOT)))
            if sys.argv[1] == '--write':
                readme.write_text(text)
    if wrong and sys.argv[1] == '--check':
        sys.exit('lines.py: other counts in ' + ', '.join(wrong) + ': --write mends them')


if __name__ == '__main__':
    main()
