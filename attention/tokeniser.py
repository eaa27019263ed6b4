"""Text to the ids of the trained models' vocabulary, and back to what the reader typed.

Latin words, numbers, brackets and marks are one token each; Chinese goes by longest match on the vocabulary. A
word that the vocabulary lacks takes a slot, each distinct word its own, and is shown as it was typed.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import regex

from .lexicon import END, MASK, SLOTS

_PIECE = regex.compile(
    r"(?V1)->|<mask>|_+|(?P<han>[\p{Han}々〇]+)"
    r"|[[\p{L}\p{N}]--\p{Han}](?:[[\p{L}\p{M}\p{N}'’\-]--\p{Han}]*[[\p{L}\p{M}\p{N}]--\p{Han}])?|\X"
)
_FULL_WIDTH = {",": "，", ".": "。", "?": "？"}


@dataclass(frozen=True)
class Vocabulary:
    """The words a model knows; a word's id is its place."""

    words: tuple[str, ...]

    @cached_property
    def ids(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}

    @cached_property
    def longest(self) -> int:
        """Letters in the longest word."""
        return max(map(len, self.words))

    @property
    def end(self) -> int:
        """The id of the end of a document."""
        return self.ids[END]

    @property
    def mask(self) -> int:
        """The id of a word that the encoder is to fill in."""
        return self.ids[MASK]

    @cached_property
    def reserved(self) -> frozenset[str]:
        """Words that nobody can type."""
        return frozenset((END, MASK, *SLOTS))


@dataclass(frozen=True)
class Encoded:
    """A text as a model reads it. `unknown` are the distinct words without an entry, in order."""

    ids: tuple[int, ...]
    shown: tuple[str, ...]  # each token as it was typed
    unknown: tuple[str, ...]

    @property
    def reused(self) -> bool:
        """Whether there were more unknown words than slots, so that some share one."""
        return len(self.unknown) > len(SLOTS)

    def label(self, token: int, vocabulary: Vocabulary) -> str:
        """A generated id as the reader should see it: a slot is the word that took it first."""
        word = vocabulary.words[token]
        place = SLOTS.index(word) if word in SLOTS else len(self.unknown)
        return self.unknown[place] if place < len(self.unknown) else word


def encode(text: str, vocabulary: Vocabulary, *, masks: bool = False) -> Encoded:
    """The tokens of `text`. With `masks`, `<mask>` and `_` ask the encoder for a word.

    Letters are looked up as typed, then in lower case. An ASCII mark after a Chinese word is taken for its
    full-width twin where the vocabulary knows no better.
    """
    pieces = tuple(_pieces(text, vocabulary))
    known = [_look_up(piece, before, vocabulary, masks) for before, piece in zip(("", *pieces), pieces, strict=False)]
    unknown = tuple(dict.fromkeys(piece for piece, word in zip(pieces, known, strict=True) if word is None))
    slots = {piece: SLOTS[number % len(SLOTS)] for number, piece in enumerate(unknown)}
    words = (slots[piece] if word is None else word for piece, word in zip(pieces, known, strict=True))
    return Encoded(tuple(vocabulary.ids[word] for word in words), pieces, unknown)


def _pieces(text: str, vocabulary: Vocabulary) -> Iterator[str]:
    for chunk in text.split():
        for match in _PIECE.finditer(chunk):
            if match["han"] is None:
                yield match[0]
            else:
                yield from _longest_matches(match[0], vocabulary)


def _longest_matches(run: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Known words, longest first; the letters between two of them are one unknown word."""
    start = pending = 0
    while start < len(run):
        ends = range(min(len(run), start + vocabulary.longest), start, -1)
        end = next((end for end in ends if run[start:end] in vocabulary.ids), None)
        if end is None:
            start += 1
            continue
        if pending < start:
            yield run[pending:start]
        yield run[start:end]
        start = pending = end
    if pending < start:
        yield run[pending:]


def _look_up(piece: str, before: str, vocabulary: Vocabulary, masks: bool) -> str | None:
    """The vocabulary's word for `piece`, or None."""
    if masks and (piece == MASK or set(piece) == {"_"}):
        return MASK
    after_han = regex.search(r"\p{Han}$", before) is not None
    folded = unicodedata.normalize("NFKC", piece).lower().replace("’", "'")
    for word in (_FULL_WIDTH.get(piece, piece) if after_han else piece, piece, folded):
        if word in vocabulary.ids and word not in vocabulary.reserved:
            return word
    return None
