#!/usr/bin/env python3
"""train_vocabulary.py - the pieces of the tokenizer: byte pair encoding as SentencePiece does it.

    train_vocabulary.py train.txt 2048 vocabulary.json

Layout: <pad> <eos> <bos> <unk>, 256 bytes, then pieces, of which the k-th has score -k: the merges
in the order in which they were found, the line end, single characters from the most frequent one.
Read next: tokenizer.py.
"""
import collections
import json
import sys

import stories
from tokenizer import BYTE, CONTROL, NORMAL, SPACE, UNKNOWN


def words_of(texts):
    """How often each word occurs, a space before it being part of it."""
    words = collections.Counter()
    for text in texts:
        for line in text.replace(' ', SPACE).split('\n'):
            first, *others = line.split(SPACE)
            words.update([first] if first else [])
            words.update(SPACE + word for word in others)
    return words


def may_merge(piece):
    """Letters stay apart from everything else, but for an apostrophe within a word."""
    bare = piece.lstrip(SPACE)
    if all(c.isalpha() or c == "'" and i > 0 for i, c in enumerate(bare)):
        return True
    return bare != '' and not any(c.isalnum() for c in bare) and len(piece) <= 3


def merged(pieces, a, b):
    """The pieces of a word after the pair a b has become one."""
    out, i = [], 0
    while i < len(pieces):
        pair = pieces[i:i + 2] == [a, b]
        out.append(a + b if pair else pieces[i])
        i += 2 if pair else 1
    return out


def find_merges(words, n, known):
    """The n pieces that come from joining the most frequent pair of neighbours, again and again."""
    split = [[list(word), count] for word, count in words.items()]
    pairs = collections.Counter()               # pair -> how often it occurs
    where = collections.defaultdict(set)        # pair -> the words it may occur in

    def tally(i, sign):
        pieces, count = split[i]
        for pair in zip(pieces, pieces[1:]):
            pairs[pair] += sign * count
            where[pair].add(i)

    for i in range(len(split)):
        tally(i, 1)
    merges = []
    while len(merges) < n:
        a, b = min((p for p in pairs if may_merge(p[0] + p[1])), key=lambda p: (-pairs[p], p))
        if a + b not in known:
            known.add(a + b)
            merges.append(a + b)
        for i in list(where[a, b]):
            tally(i, -1)
            split[i][0] = merged(split[i][0], a, b)
            tally(i, 1)
        del pairs[a, b]
    return merges


def main():
    path, size, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    words = words_of(stories.read(path))
    characters = collections.Counter()
    for word, count in words.items():
        for c in word:
            characters[c] += count
    single = [c for c, n in characters.most_common() if n >= 20 and c > ' ']
    n_merges = size - 4 - 256 - 1 - len(single)
    if n_merges < 0:
        sys.exit(f'the vocabulary has {size - n_merges} pieces at least')
    pieces = find_merges(words, n_merges, set(single)) + ['\n'] + single
    vocabulary = [['<pad>', 0.0, CONTROL], ['<eos>', 0.0, CONTROL], ['<bos>', 0.0, CONTROL],
                  ['<unk>', 0.0, UNKNOWN]]
    vocabulary += [[f'<0x{b:02X}>', 0.0, BYTE] for b in range(256)]
    vocabulary += [[piece, -float(k), NORMAL] for k, piece in enumerate(pieces)]
    with open(out, 'w', encoding='utf8') as f:
        json.dump(vocabulary, f, ensure_ascii=False)
    print(len(vocabulary), 'pieces, the first merges', *pieces[:20])


if __name__ == '__main__':
    main()
