#!/usr/bin/env python3
"""stories.py - the training text: a file of stories, with <|endoftext|> between them.

As a program it makes the two files that the trainers read out of stories of any origin:

    stories.py train.txt valid.txt MY-STORIES.txt...

ASCII quotes and dashes, single spaces, no story twice, none of fewer than 120 or more than 5000
characters or with other than ASCII ones; shuffled, and the first 150 (at most a tenth) kept for
validation.
"""
import random
import re
import sys

END = '<|endoftext|>'           # as in the files of the TinyStories data set
ASCII = str.maketrans({'“': '"', '”': '"', '‘': "'", '’': "'", '`': "'", '–': '-',
                       '—': '-', '…': '...', '\xa0': ' ', '\u200a': ' ', '\t': ' ', '\r': ''})


def read(path):
    with open(path, encoding='utf8') as f:
        return [story.strip() for story in f.read().split(END)]


def write(path, stories):
    with open(path, 'w', encoding='utf8') as f:
        f.write(f'\n{END}\n'.join(stories))


def normalise(story):
    story = re.sub(' +', ' ', story.translate(ASCII))
    story = re.sub(' *\n *', '\n', story)
    return re.sub('\n\n+', '\n\n', story).strip()


def main():
    train, valid, *sources = sys.argv[1:]
    found = {}
    for story in (normalise(s) for path in sources for s in read(path)):
        if 120 < len(story) < 5000 and story.isascii():
            found.setdefault(story[:150], story)
    stories = list(found.values())
    random.Random(1).shuffle(stories)
    n = min(150, len(stories) // 10)
    write(valid, stories[:n])
    write(train, stories[n:])
    print(len(stories), 'stories,', n, 'of them for validation;', sum(map(len, stories)), 'letters')


if __name__ == '__main__':
    main()
