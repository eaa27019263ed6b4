"""The language the trained models learn: documents with every true link known, and a recogniser.

A document says something and ends in a tail whose answer is decided: who is meant by `it`, what comes next in a
sequence that repeats, which bracket closes. Rows and keys are 0-based positions of tokens.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from random import Random

from .documents import Document, is_held_out
from .lexicon import BRACKETS, END, LANGUAGES, LIKES, MASK, SLOTS
from .sequences import RECOGNISERS, SEQUENCES, pool
from .templates import SHELF_WORDS, Template, templates

TEMPLATE_FAMILIES = ("fit", "put", "chase", "gender", "has", "location", "role", "like", "code")
FAMILIES = TEMPLATE_FAMILIES + tuple(SEQUENCES)
REFERENCE = TEMPLATE_FAMILIES[:-1]  # the families whose answer is an antecedent
SLOTTED = 0.15  # of the documents have some nouns replaced by slots


def write(rng: Random, family: str, language: str, *, held_out: bool = False, slots: bool = False) -> Document:
    """One document. None of its pairs is held out, or with `held_out` at least one is."""
    make = SEQUENCES.get(family, _from_template)
    while True:
        document = make(rng, family, language)
        if any(map(is_held_out, document.pairs)) == held_out:
            return _with_slots(rng, document) if slots else document


def training_document(rng: Random, weights: dict[str, float]) -> Document:
    """A document of the training stream: families by weight, languages by halves, slots now and then."""
    family = rng.choices(tuple(weights), tuple(weights.values()))[0]
    language = rng.choice(LANGUAGES)
    return write(rng, family, language, slots=rng.random() < SLOTTED)


def recognise(tokens: tuple[str, ...], language: str) -> str | None:
    """The family of a whole document (without the end token) if its grammar and its answer are right."""
    line = " ".join(tokens) + " "
    for family, forms in templates(language).items():
        if any(_fits(form, line) for form in forms):
            return family
    return next((name for name, holds in RECOGNISERS.items() if holds(tokens, language)), None)


def vocabulary_words() -> tuple[str, ...]:
    """Every word that a document can hold, the reserved ones first."""
    words = [END, MASK, *SLOTS]
    for language in LANGUAGES:
        for form in (form for forms in templates(language).values() for form in forms):
            words += [piece.word for piece in _pieces(form.text) if not piece.variable]
            for piece in _pieces(form.text):
                words += form.classes.get(piece.variable, ())
        words += [mark for pair in BRACKETS[language].items() for mark in pair]
        words += [*pool(language), *SHELF_WORDS[language].split(), *LIKES[language]]
    return tuple(dict.fromkeys(words))


@dataclass(frozen=True)
class Piece:
    """One token of a template."""

    word: str
    variable: str
    optional: bool
    labels: tuple[str, ...]
    hops: tuple[str, ...]
    reads: str
    ahead: str
    answer: bool


@cache
def _pieces(text: str) -> tuple[Piece, ...]:
    return tuple(_piece(part) for part in text.split())


def _piece(part: str) -> Piece:
    word, *tags = part.split("/")
    optional = word.startswith("[") and len(word) > 1
    word = word.strip("[]") if optional else word
    variable = word.strip("{}") if word.startswith("{") and len(word) > 1 else ""
    marks = {tag[0]: tag[1:] for tag in tags}
    hops = tuple(marks[">"].split(",")) if ">" in marks else ()
    labels = (marks["@"],) if "@" in marks else ()
    return Piece(word, variable, optional, labels, hops, marks.get("=", ""), marks.get("~", ""), "!" in marks)


def _is_noun(variable: str) -> bool:
    return variable[:1].isupper() or variable[:1] == "x"


def _from_template(rng: Random, family: str, language: str) -> Document:
    form = rng.choice(templates(language)[family])
    pieces = [piece for piece in _pieces(form.text) if not piece.optional or rng.random() < 0.5]
    chosen: dict[str, str] = {}
    for piece in pieces:
        if piece.variable and piece.variable not in chosen:
            chosen[piece.variable] = _draw(rng, form.classes[piece.variable], set(chosen.values()))
    return _document(form, pieces, chosen)


def _draw(rng: Random, words: tuple[str, ...], taken: set[str]) -> str:
    """A word that is not taken; those that come first in their class are drawn more often.

    So the likeliest word is worth ruling out once it has been said: no table ends up on itself.
    """
    free = [word for word in words if word not in taken]
    return rng.choices(free, [1.0 / (place + 4) for place, word in enumerate(words) if word not in taken])[0]


def _document(form: Template, pieces: list[Piece], chosen: dict[str, str]) -> Document:
    tokens = tuple(chosen.get(piece.variable, piece.word) for piece in pieces)
    place: dict[str, int] = {}
    for row, piece in enumerate(pieces):
        for label in piece.labels or ((piece.variable,) if piece.variable else ()):
            place.setdefault(label, row)
    firsts = sorted(place[name] for name in chosen if _is_noun(name))
    answer = next(row for row, piece in enumerate(pieces) if piece.answer)
    stops = [row for row, token in enumerate(tokens[:answer]) if token in (".", "。", ";")]
    return Document(
        form.family,
        form.language,
        tokens,
        answers=(answer,),
        hops=tuple((row, place[label]) for row, piece in enumerate(pieces) for label in piece.hops if label in place),
        reads=tuple((row, place[piece.reads]) for row, piece in enumerate(pieces) if piece.reads),
        ahead=tuple((row, place[piece.ahead]) for row, piece in enumerate(pieces) if piece.ahead),
        said=_said(form, tokens, place, chosen),
        again=_again(form, pieces, tokens, place),
        firsts=tuple(firsts),
        tail=stops[-1] + 1,
        pairs=_pairs(form.family, chosen, pieces[answer].reads),
    )


def _said(form: Template, tokens: tuple[str, ...], place: dict[str, int], chosen: dict[str, str]):
    """At the beginning of a sentence an old noun may follow as well, so such a row has nothing to rule out."""
    nouns = [name for name in chosen if _is_noun(name)]
    return tuple(
        (place[new] - 1, place[old])
        for number, new in enumerate(nouns)
        for old in nouns[:number]
        if form.classes[new] == form.classes[old] and tokens[place[new] - 1] not in (".", "。")
    )


def _again(form: Template, pieces: list[Piece], tokens: tuple[str, ...], place: dict[str, int]):
    """Where a question names a noun: all of its kind that were said before."""
    return tuple(
        (row - 1, place[name])
        for row, piece in enumerate(pieces)
        if piece.labels == ("k",) and _is_noun(piece.variable) and tokens[row - 1] not in (".", "。")
        for name in form.classes
        if name in place and form.classes[name] == form.classes[piece.variable]
    )


def _pairs(family: str, chosen: dict[str, str], asked: str) -> tuple[tuple[str, str], ...]:
    """The ordered pairs of things in a document; of people where there are no two things."""
    if family == "code":
        return ((chosen["x" + asked[1:]], chosen[asked]),)
    things = [word for name, word in chosen.items() if name[0] in "ABCD"]
    nouns = [word for name, word in chosen.items() if name[0].isupper()]
    return tuple(combinations(things if len(things) > 1 else nouns, 2))


def _with_slots(rng: Random, document: Document) -> Document:
    """Some nouns give way to slots, as words that the lexicon lacks will; the same noun to the same slot."""
    nouns = sorted({document.tokens[row] for row in document.firsts})
    rng.shuffle(nouns)
    most = 1 if document.family == "gender" else len(nouns)  # a name without a gender, but only one
    count = rng.randint(1, max(1, most))
    swap = dict(zip(nouns[:count], rng.sample(SLOTS, len(nouns))[:count], strict=False))
    return replace(document, tokens=tuple(swap.get(token, token) for token in document.tokens))


@cache
def _pattern(text: str, words: tuple[tuple[str, tuple[str, ...]], ...]) -> re.Pattern:
    classes, seen, parts = dict(words), set(), []
    for piece in _pieces(text):
        part = re.escape(piece.word)
        if piece.variable in seen:
            part = f"(?P={piece.variable})"
        elif piece.variable:
            known = classes[piece.variable] + (SLOTS if _is_noun(piece.variable) else ())
            part = f"(?P<{piece.variable}>{'|'.join(map(re.escape, known))})"
            seen.add(piece.variable)
        parts.append(f"(?:{part} )?" if piece.optional else f"{part} ")
    return re.compile("".join(parts))


def _fits(form: Template, line: str) -> bool:
    used = {piece.variable for piece in _pieces(form.text) if piece.variable}
    words = tuple((name, form.classes[name]) for name in sorted(used))
    match = _pattern(form.text, words).fullmatch(line)
    if match is None:
        return False
    nouns = [word for name, word in match.groupdict().items() if _is_noun(name)]
    return len(set(nouns)) == len(nouns)
