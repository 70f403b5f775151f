"""tokenizer.py - text to tokens and back: SentencePiece's BPE with byte fallback, Gemma's layout.

A vocabulary is a list of [piece, score, type], as JSON or in a GGUF file.  Its pieces never reach
over a space or a line end (train_vocabulary.py sees to that), so texts are encoded word by word.
"""
import json
import re

NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6     # token types: ggml, docs/gguf.md
PAD, EOS, BOS, UNK, BYTE0 = 0, 1, 2, 3, 4       # tokens; BYTE0 + b is byte b
SPACE = '\u2581'                                # stands for a space in a piece
TURN = '<start_of_turn>user\n{}<end_of_turn>\n<start_of_turn>model\n'


class Tokenizer:
    def __init__(self, vocabulary):
        self.vocabulary = vocabulary
        self.ids = {p: i for i, (p, _, kind) in enumerate(vocabulary) if kind == NORMAL}
        self.control = {p: i for i, (p, _, kind) in enumerate(vocabulary) if kind == CONTROL}
        self.stops = {i for p, i in self.control.items() if p in ('<eos>', '<end_of_turn>')}
        self.words = {}                         # what has been encoded before

    @classmethod
    def from_file(cls, path):
        with open(path, encoding='utf8') as f:
            return cls(json.load(f))

    def merge(self, word):
        """The tokens of a word: the best-scored pair of neighbours becomes one, leftmost first."""
        pieces = list(word)
        while True:
            pairs = [(self.vocabulary[self.ids[a + b]][1], -i)
                     for i, (a, b) in enumerate(zip(pieces, pieces[1:])) if a + b in self.ids]
            if not pairs:
                break
            i = -max(pairs)[1]
            pieces[i:i + 2] = [pieces[i] + pieces[i + 1]]
        tokens = []
        for piece in pieces:
            i = self.ids.get(piece)
            tokens += [i] if i is not None else [BYTE0 + b for b in piece.encode()]
        return tokens

    def encode(self, text):
        """Tokens of a text, in which control tokens have no meaning; without <bos>."""
        tokens = []
        for word in re.findall(f'\n|{SPACE}?[^{SPACE}\n]+|{SPACE}', text.replace(' ', SPACE)):
            if word not in self.words:
                self.words[word] = self.merge(word)
            tokens += self.words[word]
        return tokens

    def encode_template(self, text):
        """Tokens of a text in which control tokens are written out."""
        tokens = []
        for part in re.split('(' + '|'.join(map(re.escape, self.control)) + ')', text):
            tokens += [self.control[part]] if part in self.control else self.encode(part)
        return tokens

    def decode(self, tokens):
        """The text; control tokens have none."""
        out = b''
        for t in tokens:
            piece, _, kind = self.vocabulary[t]
            if kind == BYTE:
                out += bytes([t - BYTE0])
            elif kind == NORMAL:
                out += piece.replace(SPACE, ' ').encode()
        return out.decode('utf8', 'replace')
