"""Text to tokens, by rule: no vocabulary, no start or end token.

`words`: white space separates words; sentence punctuation at either end of a word is a token of its own.
A run of Chinese, Japanese or Korean letters splits into graphemes, unless the writer put white space between
two such letters somewhere in the text: then every run stays as written.
`characters`: extended grapheme clusters (Unicode Standard Annex 29) of the whole text, white space included.
"""

import unicodedata

import regex

PUNCTUATION = '.,!?;:…"()¿¡«»。，．！？；：、“”‘’「」『』《》〈〉（）【】〔〕—·・'

_CJK = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}々〇ーｰﾞﾟ]\p{M}*"
_CJK_RUN = regex.compile(f"((?:{_CJK})+)")
_SPACED_CJK = regex.compile(rf"{_CJK}\s+{_CJK}")
_GRAPHEME = regex.compile(r"\X")

_MARKS = {" ": "␣", "\n": "⏎", "\t": "⇥"}
_INVISIBLE_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"}
# Blank though their category says otherwise: joiners of another name, fillers, the empty Braille cell.
_BLANK = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_SELECTORS = regex.compile(r"[\ufe00-\ufe0f\U000e0100-\U000e01ef\u180b-\u180d\u180f]")
_EMOJI_TAGS = regex.compile(r"[\U000e0020-\U000e007f]")


def words(text: str) -> tuple[str, ...]:
    """Words, punctuation and CJK letters of `text`, in order."""
    keep_runs = _SPACED_CJK.search(text) is not None
    pieces = []
    for word in text.split():
        for place, piece in enumerate(_CJK_RUN.split(word)):
            if place % 2 == 0:
                pieces += _peel(piece)
            else:
                pieces += [piece] if keep_runs else _GRAPHEME.findall(piece)
    return tuple(pieces)


def characters(text: str) -> tuple[str, ...]:
    """One token per grapheme, white space included."""
    return tuple(_GRAPHEME.findall(text))


def _peel(piece: str) -> list[str]:
    """Sentence punctuation at either end, each mark alone, around what is left in the middle."""
    core = piece.strip(PUNCTUATION)
    if not core:
        return list(piece)
    start = piece.index(core)
    return [*piece[:start], core, *piece[start + len(core) :]]


SPLITS = {"words": words, "characters": characters}


def visible(token: str) -> str:
    """A label for `token` in which every invisible character has a mark: ␣ ⏎ ⇥ or ⟨U+200B⟩.

    What only shapes a grapheme that is seen anyway stays: joiners inside it, variation selectors, flag tags.
    """
    return "".join(_visible_grapheme(grapheme) for grapheme in _GRAPHEME.findall(token))


def _visible_grapheme(grapheme: str) -> str:
    seen = not _is_invisible(grapheme[0]) and not unicodedata.category(grapheme[0]).startswith("M")
    label = "".join(
        character if seen and _shapes(character, place, grapheme) else _mark(character)
        for place, character in enumerate(grapheme)
    )
    return "◌" + label if unicodedata.category(grapheme[0]).startswith("M") and label == grapheme else label


def _is_invisible(character: str) -> bool:
    return (
        unicodedata.category(character) in _INVISIBLE_CATEGORIES
        or character in _BLANK
        or _SELECTORS.match(character) is not None
    )


def _shapes(character: str, place: int, grapheme: str) -> bool:
    """Whether an invisible character inside a visible grapheme only shapes how that grapheme looks."""
    joins = character in "\u200c\u200d" and 0 < place < len(grapheme) - 1
    return joins or bool(_SELECTORS.match(character) or _EMOJI_TAGS.match(character))


def _mark(character: str) -> str:
    if not _is_invisible(character):
        return character
    return _MARKS.get(character, f"⟨U+{ord(character):04X}⟩")
