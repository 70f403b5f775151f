"""nouns.py - what stories are about: their nouns and the names of their people, found by rule.

Used by chat_samples.py, to ask for what a story holds, and by measure.py.
"""
import collections
import re

DETERMINERS = set('a an the his her my your their our this that'.split())
AFTER_NOUN = set('was is and named who that with in had to could did saw of on for at from but so '
                 'very . , ! ? ; : "'.split())
NO_TOPICS = set('''
time lot work way well while sometimes own fin mark top dark side turn rest name number loves
measure twist pass land fair head hand hands knee neck arm arms leg feet face eyes ears skin life
idea plan goal balance itch week story air world ground person job walk jog nap ride tie zip
spring print stand square design smell pastel nation stuff group line handle pitch post iron file
scale surf gas gun surprise sound smile secret task test event sport case class team mess pile
treat question patch mom dad mommy daddy mum mummy mama best voice morning evening grocery player
gear switch parent kids end bit day days lots things thing everyone everything something it back
inside outside away home door noise light match lock grill cop stack leak hook pedal staff
'''.split())
NO_NAMES = ('mr', 'miss', 'big', 'red', 'true', 'will')


def sentences(text):
    return re.split(r'(?<=[.!?"])\s+', text)


def opening(text):
    """The first three sentences."""
    return sentences(text)[:3]


def find_nouns(stories):
    """{noun: (its article, the number of stories that it is a topic of)}, the most frequent first.

    A noun is a lower-case word that often stands between a determiner and what may follow a noun;
    a story's topic is one that its opening names and that occurs twice."""
    total, as_noun, with_a, with_the, topic = (collections.Counter() for _ in range(5))
    for story in stories:
        words = re.findall(r"[A-Za-z']+|[.,!?;:\"]", story)
        count = collections.Counter(words)
        for word in set(re.findall('[a-z]+', ' '.join(opening(story)))):
            topic[word] += count[word] >= 2
        for before, det, word, after in zip([''] + words, words, words[1:], words[2:]):
            if word[0].islower():
                total[word] += 1
                as_noun[word] += det.lower() in DETERMINERS and after in AFTER_NOUN
                with_a[word] += (det.lower() in ('a', 'an') or
                                 before.lower() in ('a', 'an') and det.isalpha())
                with_the[word] += det.lower() == 'the'
    nouns = {}
    for word in sorted(total, key=lambda w: (-topic[w], w)):
        n = total[word]
        if topic[word] < 5 or as_noun[word] / n <= 0.15 or len(word) < 3 or word in NO_TOPICS:
            continue
        plural = word.endswith('s') and not word.endswith('ss') and word[:-1] in total
        if plural:
            article = ''
        elif with_the[word] / n >= 0.8 and with_a[word] / n < 0.1:
            article = 'the'
        elif with_a[word] / n >= 0.03:
            article = 'an' if word[0] in 'aeiou' else 'a'
        else:
            article = 'the' if with_the[word] / n >= 0.5 else ''
        nouns[word] = article, topic[word]
    return nouns


def find_names(stories):
    """Who is introduced as 'named X' three times or more."""
    names = collections.Counter(
        name for story in stories for name in re.findall(r'\bnamed ([A-Z][a-z]+)', story))
    return {name for name, n in names.items() if n >= 3 and name.lower() not in NO_NAMES}


def with_article(noun, nouns):
    return f'{nouns[noun][0]} {noun}'.strip()


def held_out(nouns):
    """The nouns that no request of the training data names, so that they can be measured."""
    return [noun for i, noun in enumerate(nouns) if i >= 60 and i % 14 == 9]
