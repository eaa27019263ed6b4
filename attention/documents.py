"""A document of the grammar with what is true of it, and which documents are kept from training.

Rows and keys are 0-based positions of tokens. A row is that of the token which asks; in a causal model the row
of a token predicts the token after it.
"""

import hashlib
from dataclasses import dataclass

MAX_TOKENS = 56  # no document is longer: positions beyond are never learned
HELD_OUT = 32  # of the 256 values that the first hash byte of a pair can take

Link = tuple[int, int]  # (row, key)


@dataclass(frozen=True)
class Document:
    """Tokens and their true links. `answers` are rows whose next token the document decides."""

    family: str
    language: str
    tokens: tuple[str, ...]
    answers: tuple[int, ...] = ()
    hops: tuple[Link, ...] = ()  # an argument and its predicate or owner
    reads: tuple[Link, ...] = ()  # an adjective, a pronoun or an answer's row and the antecedent
    ahead: tuple[Link, ...] = ()  # `it` and its antecedent, decided by words that come later
    copies: tuple[Link, ...] = ()  # a row of a repeat and the token that followed its earlier twin
    opens: tuple[Link, ...] = ()  # a row and the innermost bracket that is still open
    said: tuple[Link, ...] = ()  # the row before a new noun and the nouns of its kind that it cannot be any more
    again: tuple[Link, ...] = ()  # the row before a noun that has to be one of those said, and each of them
    firsts: tuple[int, ...] = ()  # where a noun or name is mentioned first
    tail: int = 0  # where the question, or the repeat, begins
    pairs: tuple[tuple[str, ...], ...] = ()  # what the split into training and held-out goes by


def is_held_out(pair: tuple[str, ...]) -> bool:
    """Whether training never sees this ordered pair."""
    return hashlib.sha256(" ".join(pair).encode()).digest()[0] < HELD_OUT
