#!/usr/bin/env python3
"""bytemap.py - where the bytes of mote go: by room, by file and by symbol.

Called by `make size`, and by the test that holds the budget.  Reads the map that ld.lld writes with
-Map=mote.map: which piece of which object file lies at which address, and the symbols in it.  What
no piece covers is padding.  The program is the image byte for byte, so the sums are its size.
"""
import argparse
import collections
import os.path
import re
import signal
import sys
from pathlib import Path

Item = collections.namedtuple('Item', 'room file symbol size')
Piece = collections.namedtuple('Piece', 'start size owner section symbols')

# VMA, LMA, size and alignment; then an output section, a piece of it or, deeper still, a symbol.
LINE = re.compile(r' *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) +\d+ ( {0,16})(\S.*)')


def read_map(path):
    """The pieces of the image by address, each with its symbols: [(address, size, name)]."""
    pieces = []
    for line in path.read_text().splitlines():
        match = LINE.fullmatch(line)
        if not match or int(match[1], 16) == 0:    # what is not loaded has no address
            continue
        start, size, depth, text = int(match[1], 16), int(match[2], 16), len(match[3]), match[4]
        where = re.fullmatch(r'(.+):\((.+)\)', text)
        if depth == 8 and where:
            pieces.append(Piece(start, size, where[1], where[2], []))
        elif depth == 16:
            pieces[-1].symbols.append((start, size, text))
    return sorted((p for p in pieces if p.size), key=lambda p: p.start)


def file_and_room(piece, build):
    """('loader/model.cpp', 'loader') for BUILD/loader/model.cpp.o."""
    if piece.owner == '<internal>':                # equal strings are merged, whoever has them
        return '(literals)', 'literals'
    file = piece.owner.removeprefix(build + '/').removesuffix('.o')
    return file, 'headers' if piece.section == '.header' else file.split('/')[0]


def literals(piece, image):
    """The strings of a piece of them, as (address, name)."""
    at = piece.start
    for text in image.split(b'\0'):
        yield at, '"' + text.decode('latin-1').encode('unicode_escape').decode() + '"'
        at += len(text) + 1


def items(piece, build, image):
    """A piece, cut at its symbols.  Assembly symbols have no size: each reaches to the next."""
    file, room = file_and_room(piece, build)
    end = piece.start + piece.size
    cuts = {piece.start: '(%s)' % piece.section}
    if room == 'literals':
        cuts.update((at, name) for at, name in literals(piece, image) if at < end)
    for at, size, name in sorted(piece.symbols):
        if size == 0 and '.' in name or not piece.start <= at < end:
            continue                               # a local label of an assembly file, or an end
        cuts[at] = name
        if size and at + size < end:
            cuts.setdefault(at + size, '(%s)' % piece.section)
    stops = sorted(cuts) + [end]
    for at, stop in zip(stops, stops[1:]):
        yield Item(room, file, cuts[at], stop - at)


def account(map_path, program):
    """Every byte of the program as an Item, in the order of the file."""
    pieces, image = read_map(map_path), program.read_bytes()
    build = os.path.commonpath([p.owner for p in pieces if p.owner != '<internal>'])
    found, base = [], pieces[0].start
    at = base
    for piece in pieces:
        if piece.start < at or piece.start + piece.size > base + len(image):
            sys.exit(f'bytemap: {map_path} is not the map of {program}')
        found.append(Item('padding', '(padding)', '(before %s)' % piece.section, piece.start - at))
        at = piece.start + piece.size
        found += items(piece, build, image[piece.start - base:at - base])
    found.append(Item('padding', '(padding)', '(at the end)', base + len(image) - at))
    assert sum(item.size for item in found) == len(image)
    return [item for item in found if item.size]


def show(title, sizes):
    print(f'\nby {title}')
    for name, size in sorted(sizes.items(), key=lambda entry: -entry[1]):
        print(f'{size:8,}  {name}')
    print(f'{sum(sizes.values()):8,}  in all')


def main():
    p = argparse.ArgumentParser(description='Show where the bytes of a program go.')
    p.add_argument('map', type=Path, help='the map of the linker, or the .elf that it lies beside')
    p.add_argument('program', type=Path, help='the program file, the image byte for byte')
    p.add_argument('--budget', type=int, metavar='N', help='exit 1 if the program has more bytes')
    a = p.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)    # quietly end when `head` has seen enough

    a.map = a.map.with_suffix('.map')
    if not a.map.exists():
        p.error(f'no {a.map}: link with -Map={a.map}')
    found = account(a.map, a.program)
    size = a.program.stat().st_size
    print(f'{a.program}: {size:,} bytes')
    rooms, files, symbols = (collections.Counter() for _ in range(3))
    for item in found:
        rooms[item.room] += item.size
        files[item.file] += item.size
        symbols[f'{item.file:28} {item.symbol}'] += item.size
    show('room', rooms)
    show('file', files)
    show('symbol', symbols)
    if a.budget is not None:
        over = size - a.budget
        print(f'\n{a.program}: {size:,} bytes, ' +
              (f'{over:,} OVER the budget' if over > 0 else f'{-over:,} below the budget') +
              f' of {a.budget:,}')
        sys.exit(over > 0)


if __name__ == '__main__':
    main()
