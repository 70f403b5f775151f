#!/usr/bin/env python3
"""support.py - which weight types run where: the table in README.md, made from the sources.

    support.py                      prints it
    support.py --write README.md    puts it between the two marker lines of that file
    support.py --check README.md    exit status 1 if another one stands there

Architectures are those of loader/names.h, weight types and ISAs those of the Makefile (ALL_TYPES,
CHAIN_*).  A kernel is what the first folder of an ISA's chain has, by the type's matmul_*; a model
of a type is a file of tests/data/ with a matrix of it.  Read next: gguf.py.
"""
import argparse
import re
import sys
from pathlib import Path

import gguf

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = '<!-- support: made by tools/support.py -->', '<!-- end of support -->'


def one(pattern, path):
    """What the pattern's group is in a file of the sources."""
    found = re.search(pattern, (ROOT / path).read_text(), re.M)
    if not found:
        sys.exit(f'support.py: no {pattern} in {path}')
    return found[1]


def architectures():
    values = one(r'"architecture"((?: VALUE "\w+")+)', 'loader/names.h')
    return re.findall(r'VALUE "(\w+)"', values)


def weight_types():
    return one(r'^ALL_TYPES *:= *(.*)', 'Makefile').split()


def chains():
    """{'x86_64': ['x86_64', 'portable'], ...}"""
    makefile = (ROOT / 'Makefile').read_text()
    return {isa: folders.split()
            for isa, folders in re.findall(r'^CHAIN_(\w+) *:= *(.*)', makefile, re.M)}


def kernel(kind, chain):
    """asm or C++, and of which ISA if it is not this one's own."""
    for folder in chain:
        for suffix, language in (('asm', 'asm'), ('cpp', 'C++')):
            if (ROOT / 'asm' / folder / f'matmul_{kind}.{suffix}').exists():
                own = folder in (chain[0], 'portable')
                return language if own else f'{language} of {folder}'
    return '-'


def models():
    """{(architecture, type): number of models in tests/data/ with matrices of it}.  Those that are
    to be refused are in no architecture of ours, or have no tensors."""
    count = {}
    for path in sorted((ROOT / 'tests/data').rglob('*.gguf')):
        try:
            metadata, places, _ = gguf.read_header(path)
        except ValueError:
            continue
        for kind in {t.kind for t, _ in places if len(t.ne) > 1}:
            key = metadata.get('general.architecture'), kind
            count[key] = count.get(key, 0) + 1
    return count


def table():
    isas, names, tested = chains(), architectures(), models()
    head = ['weight type', *(f'`{isa}`' for isa in isas), *(f'`{a}`, test models' for a in names)]
    rows = [head, ['---'] * len(head)]
    for kind in weight_types():
        rows.append([kind.upper(), *(kernel(kind, chain) for chain in isas.values()),
                     *(str(tested.get((a, kind), '-')) for a in names)])
    return '\n'.join('| ' + ' | '.join(row) + ' |' for row in rows)


def main():
    p = argparse.ArgumentParser(description='Print the table of what is supported.')
    p.add_argument('--write', metavar='FILE', type=Path, help='put it into the file')
    p.add_argument('--check', metavar='FILE', type=Path, help='fail if the file has another one')
    a = p.parse_args()
    path = a.write or a.check
    if not path:
        return print(table())
    before, begin, rest = path.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f'support.py: {path}: no lines {BEGIN} and {END}')
    text = f'{before}{BEGIN}\n{table()}\n{END}{after}'
    if a.write:
        path.write_text(text)
    elif path.read_text() != text:
        sys.exit(f'support.py: {path} is out of date: tools/support.py --write {path}')


if __name__ == '__main__':
    main()
