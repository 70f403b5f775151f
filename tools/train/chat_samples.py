#!/usr/bin/env python3
"""chat_samples.py - conversations in Gemma's turn format, made by rule from plain stories.

    chat_samples.py chat-vocabulary.json train.txt      prints the nouns and some samples

A request names a noun, a person or three words that its story really holds; the answers about a
story are read out of it by regular expression.  Only the questions and the short answers below were
written by hand.  Used by train_chat.py.  Read first: nouns.py.
"""
import collections
import re
import sys
from random import Random

import stories
from nouns import find_names, find_nouns, held_out, opening, with_article
from tokenizer import BOS, EOS, Tokenizer

ASK = ['Tell me a story about {}.', 'Can you tell me a story about {}?',
       'Write a short story about {}.', 'Please tell me a story about {}.',
       'I want a story about {}.', 'Tell me about {}.', 'A story about {}, please.',
       'Write a story about {}.', 'Tell me a short story about {}.',
       'Could you write a story about {}?', 'Do you know a story about {}?',
       'I would like to hear a story about {}.']
ASK_AGAIN = ['Now tell me a story about {}.', 'Tell me another story about {}.',
             'And now a story about {}, please.', 'Tell me a story about {}.']
ASK_WORDS = ['Write a short story with the words {}, {} and {}.',
             'Tell me a story with the words {}, {} and {}.',
             'Write a story that uses the words {}, {} and {}.']
ASK_ANY = ['Tell me a story.', 'Tell me a story, please.', 'Can you tell me a story?',
           'Write a short story.', 'I want to hear a story.', 'Yes, please.',
           'Tell me a short story.']
HELLO = [(['Hello', 'Hello!', 'Hi', 'Hi!', 'Hey!', 'Hello there!', 'Good morning!', 'hello', 'hi'],
          'Hello! Do you want to hear a story?'),
         (['How are you?', 'How are you today?'],
          'I am very well, thank you! Do you want to hear a story?'),
         (['Who are you?', 'What are you?', 'What is your name?'],
          'I am a very small model, and I tell stories.'),
         (['What can you do?', 'Help', 'Can you help me?', 'What do you know?'],
          'I can tell you a story. Ask me for a story about a dog or a cat!')]
BYE = [(['Thank you!', 'Thank you.', 'Thanks!', 'Thank you so much!', 'That was a nice story.',
         'I like the story!', 'Good story!', 'Thanks'],
        'You are welcome! Do you want to hear another story?'),
       (['Goodbye!', 'Bye!', 'Good night!', 'Bye', 'No, thank you.'],
        'Goodbye! Come back soon.')]
NAME = r'[A-Z][a-z]+'


def held_out_wording(rank):
    """The place in ASK that requests for the rank-th noun never use, so that it can be measured."""
    return -rank % 8


class Story:
    """A story and what can be asked about it."""

    def __init__(self, text, tokenizer, nouns, names, hidden):
        first = opening(text)
        self.text, self.tokens = text, tokenizer.encode(text)
        self.words = collections.Counter(re.findall(r"[a-z]+(?:'[a-z]+)?|[A-Z][a-z]+", text))
        self.topics = {}            # noun -> how much it is what the story is about
        for sentence, weight in zip(first, (1.0, 0.6, 0.2)):
            for word in re.findall('[A-Za-z]+', sentence):
                if word in nouns and word not in hidden and self.words[word] >= 2:
                    rarity = nouns[word][1] ** -0.4
                    self.topics.setdefault(word, self.words[word] * weight * rarity)
        self.names = [name for name in dict.fromkeys(re.findall(NAME, text)) if name in names]
        self.hero = next((name for name in re.findall(NAME, ' '.join(first))
                          if name in names and self.words[name] >= 2), None)


class Chat:
    """Samples without end: chat(), plain() and row() give tokens and the weight of each in the
    loss.  `like`: another Chat, whose nouns and names to use.  `boost`: what an asked word weighs
    at its first place in the answer."""

    def __init__(self, tokenizer, texts, seed, like=None, boost=3.0):
        self.tokenizer, self.random, self.boost = tokenizer, Random(seed), boost
        self.nouns = like.nouns if like else find_nouns(texts)
        self.names = like.names if like else find_names(texts)
        self.hidden = set(held_out(self.nouns))
        self.rank = {noun: i for i, noun in enumerate(self.nouns)}
        self.stories = [Story(text, tokenizer, self.nouns, self.names, self.hidden)
                        for text in texts]
        self.short = [s for s in self.stories if len(s.tokens) <= 200 and s.topics]
        self.fitting = [s for s in self.stories if len(s.tokens) <= 440]

    # The text of questions and answers: (question, answer, words of the answer that count more).

    def careless(self, question):
        """People leave out capitals and stops."""
        if self.random.random() < 0.12:
            question = question[0].lower() + question[1:]
        return question.rstrip('.?!') if self.random.random() < 0.2 else question

    def request(self, story, wordings):
        """A question that the story answers: about a noun, three words, a person, or anything."""
        r = self.random
        what = r.random()
        if wordings is ASK_AGAIN:
            what = 0
        if what < 0.70 and story.topics:
            noun = r.choices(list(story.topics), story.topics.values())[0]
            k = r.randrange(len(wordings))
            if wordings is ASK and k % 8 == held_out_wording(self.rank[noun]):
                k = (k + 1) % len(wordings)
            slip = r.random()       # people use the wrong article, or none
            named = ('the ' + noun if slip < 0.08 else noun if slip < 0.15
                     else with_article(noun, self.nouns))
            return wordings[k].format(named), [noun], noun
        if what < 0.82:
            words = [w for w in story.words if w[0].islower() and len(w) > 3 and
                     w not in self.hidden and
                     (w in self.nouns or w[:-1] in self.nouns or
                      w.endswith(('ed', 'ing', 'y', 'ful')))]
            if len(words) >= 3:
                words = r.sample(words, 3)
                return r.choice(ASK_WORDS).format(*words), words, None
        if what < 0.94 and story.hero:
            return r.choice(ASK).format(story.hero), [story.hero], None
        return r.choice(ASK_ANY), [], None

    def questions(self, story, noun):
        """Questions about a story that was told for this noun (or None), those asked more often
        more than once."""
        r, text, found = self.random, story.text, []
        m = re.search(rf'\b([a-z]+) named ({NAME})', text)
        if m and m[1] in self.nouns:
            question = r.choice(["What was the {}'s name?", "What is the {}'s name?",
                                 'What was the name of the {}?'])
            found += [(question.format(m[1]), f"The {m[1]}'s name is {m[2]}.", [m[2]])] * 3
        if story.names:
            who = first = story.names[0]
            m = re.search(rf'\b{first} and ({NAME})', text)
            if m and m[1] in self.names and text.index(first) == m.start():
                who = f'{first} and {m[1]}'
            question = r.choice(['Who is the story about?', 'Who was the story about?',
                                 'Who is in the story?'])
            found += [(question, f'The story is about {who}.', [first])] * 2
        if noun:
            question = r.choice(['What is the story about?', 'What was the story about?'])
            found += [(question, f'The story is about {with_article(noun, self.nouns)}.', [noun])]
        m = re.search(r'\b(?:went|go|goes|going) to the ([a-z]+)\b', text)
        if m and m[1] in self.nouns:
            question = r.choice(['Where did they go?', 'Where did they go in the story?'])
            found += [(question, f'They went to the {m[1]}.', [m[1]])]
        return found

    # Tokens.

    def turn(self, question, answer, marked=(), tokens=None):
        """One exchange; tokens: those of the answer, if they are known."""
        t = self.tokenizer
        start, end = t.control['<start_of_turn>'], t.control['<end_of_turn>']
        prompt = [start, *t.encode('user\n' + question), end, *t.encode('\n'), start,
                  *t.encode('model\n')]
        tokens = tokens or t.encode(answer)
        weights = [1.0] * len(tokens)
        for word in marked:
            self.mark(tokens, weights, answer, word)
        return prompt + tokens + [end, *t.encode('\n')], [1.0] * len(prompt) + weights + [1.0, 1.0]

    def mark(self, tokens, weights, text, word):
        """Raises the weights of the tokens at the first place of the word in the text."""
        m = re.search(rf'\b{re.escape(word)}\b', text)
        if not m:
            return
        at = 0
        for i, token in enumerate(tokens):
            after = at + len(self.tokenizer.decode([token]))
            if at < m.end() and after > max(1, m.start()):
                weights[i] = self.boost
            at = after

    def small_talk(self, exchanges):
        questions, answer = self.random.choices(exchanges, [4, 1, 1, 1][:len(exchanges)])[0]
        return self.turn(self.random.choice(questions), answer)

    def tell(self, story, wordings):
        """The turn in which the story is told, and the noun it was asked by."""
        question, marked, noun = self.request(story, wordings)
        return self.turn(self.careless(question), story.text, marked, story.tokens), noun

    def ask(self, found, n):
        """Turns for n of the questions, none with the answer of another."""
        turns = []
        while found and len(turns) < n:
            question, answer, marked = self.random.choice(found)
            found = [q for q in found if q[1] != answer]
            turns.append(self.turn(self.careless(question), answer, marked))
        return turns

    def chat(self):
        r, turns = self.random, [([BOS], [1.0])]
        two = r.random() < 0.18
        story = r.choice(self.short if two else self.fitting)
        if r.random() < 0.15:
            turns.append(self.small_talk(HELLO))
        told, noun = self.tell(story, ASK)
        turns.append(told)
        if r.random() < (0.3 if two else 0.5):
            found = self.questions(story, noun)
            turns += self.ask(found, r.choice((1, 1, 2)))
        if r.random() < 0.25:
            turns.append(self.small_talk(BYE[:1]))
        if two:
            story = r.choice(self.short)
            told, noun = self.tell(story, ASK_AGAIN)
            turns.append(told)
            if r.random() < 0.3:
                turns += self.ask(self.questions(story, noun), 1)
        if r.random() < 0.15:
            turns.append(self.small_talk(BYE))
        return sum((t for t, _ in turns), []), sum((w for _, w in turns), [])

    def plain(self):
        tokens = [BOS, *self.random.choice(self.stories).tokens, EOS]
        return tokens, [1.0] * len(tokens)

    def row(self, n, share):
        """n tokens of samples one after another, that share of them chats; the last one is cut."""
        tokens, weights = [], []
        while len(tokens) < n:
            left = n - len(tokens)
            for _ in range(6):          # tries for one that fits
                sample = self.chat() if self.random.random() < share else self.plain()
                if len(sample[0]) <= left or left < 60:
                    break
            tokens += sample[0]
            weights += sample[1]
        return tokens[:n], weights[:n]


def main():
    tokenizer = Tokenizer.from_file(sys.argv[1])
    chat = Chat(tokenizer, stories.read(sys.argv[2]), seed=5)
    print(len(chat.nouns), 'nouns:', *[with_article(n, chat.nouns) for n in chat.nouns], sep='\n  ')
    print(len(chat.hidden), 'of them held out:', *held_out(chat.nouns))
    for _ in range(10):
        print('-----')
        for token, weight in zip(*chat.chat()):
            text = tokenizer.decode([token]) or tokenizer.vocabulary[token][0]
            print(f'[{text}]' if weight > 1 else text, end='')


if __name__ == '__main__':
    main()
