"""Documents without a template: a random sequence that repeats, and brackets. Rows and keys are 0-based."""

from functools import lru_cache
from itertools import combinations
from random import Random

from .documents import MAX_TOKENS, Document, is_held_out
from .lexicon import BRACKETS, LEXICON, LIKES, SLOTS, VARIABLES

DEEPEST = 5  # brackets open at once
LONGEST_BRACKETS = 24
PERIODS = range(3, 13)
LONGEST_REPEAT = 40


@lru_cache
def pool(language: str) -> tuple[str, ...]:
    """The words that a sequence is drawn from."""
    lexicon = LEXICON[language]
    words = lexicon["thing"] + lexicon["animal"] + lexicon["he"] + lexicon["she"] + VARIABLES
    return tuple(dict.fromkeys(words + sum(LIKES[language].values(), ())))


def induction(rng: Random, family: str, language: str) -> Document:
    """Distinct words, and the same again, once or twice, broken off anywhere after the first repeat."""
    period = rng.choice(PERIODS)
    n = rng.randint(2 * period, min(3 * period, LONGEST_REPEAT))
    words = rng.sample(pool(language), period)
    rows = range(period, n)
    return Document(
        family,
        language,
        tuple(words[row % period] for row in range(n)),
        answers=tuple(rows[:-1]),
        copies=tuple((row, row - period + 1) for row in rows),
        firsts=tuple(range(period)),
        tail=period,
        pairs=((words[0], words[1]),),
    )


def repeats(tokens: tuple[str, ...], language: str) -> bool:
    """Whether `tokens` are distinct words of the pool, or slots, and then the same again, at least once."""
    period = tokens.index(tokens[0], 1) if tokens[0] in tokens[1:] else len(tokens)
    known = set(pool(language)) | set(SLOTS)
    first = tokens[:period]
    regular = all(token == first[row % period] for row, token in enumerate(tokens))
    distinct = len(set(first)) == period >= 2 and known.issuperset(first)
    return regular and distinct and 2 * period <= len(tokens) <= MAX_TOKENS


def brackets(rng: Random, family: str, language: str) -> Document:
    """Brackets of four kinds, up to five deep, now and then a letter or a slot between them."""
    closers, tokens, stack, opens = BRACKETS[language], [], [], []
    while not tokens or stack or (len(tokens) < LONGEST_BRACKETS // 2 and rng.random() < 0.4):
        room = len(tokens) + len(stack) < LONGEST_BRACKETS and len(stack) < DEEPEST
        if not stack or (room and rng.random() < 0.5):
            stack.append(len(tokens))
            tokens.append(rng.choice(tuple(closers)))
        elif room and rng.random() < 0.15:
            tokens.append(rng.choice(VARIABLES if rng.random() < 0.7 else SLOTS))
        else:
            tokens.append(closers[tokens[stack.pop()]])
        if stack:
            opens.append((len(tokens) - 1, stack[-1]))
    closing = set(closers.values())
    marks = [row for row, token in enumerate(tokens) if token in closing or token in closers]
    return Document(
        family,
        language,
        tuple(tokens),
        answers=tuple(row for row in range(len(tokens) - 1) if tokens[row + 1] in closing),
        hops=tuple((row, key) for row in marks for key in marks if key <= row),
        opens=tuple(opens),
        pairs=(tuple(tokens[:8]),),
    )


def balanced(tokens: tuple[str, ...], language: str) -> bool:
    """Whether every bracket closes in order, none is left open, and only letters stand between them."""
    closers, stack = BRACKETS[language], []
    for token in tokens:
        if token in closers:
            stack.append(closers[token])
        elif token in closers.values():
            if not stack or stack.pop() != token:
                return False
        elif not stack or token not in VARIABLES + SLOTS:
            return False
    return bool(tokens) and not stack


def shelf(rng: Random, language: str, *, held_out: bool = False) -> Document:
    """What the one-layer model learns: three things, and a verb that goes with one of them.

    "here are books , tea and horses . tom wants to ride horses ." The verb's row is the answer's.
    """
    lexicon, verbs = LEXICON[language], LIKES[language]
    while True:
        chosen = rng.sample(tuple(verbs), 3)
        things = [rng.choice(verbs[verb]) for verb in chosen]
        pairs = tuple(combinations(things, 2))
        if len(set(things)) == 3 and any(map(is_held_out, pairs)) == held_out:
            break
    who, right = rng.choice(lexicon["he"] + lexicon["she"]), rng.randrange(3)
    a, b, c = things
    if language == "en":
        tokens = ("here", "are", a, ",", b, "and", c, ".", who, "wants", "to", chosen[right], things[right], ".")
    else:
        tokens = ("这里", "有", a, "、", b, "和", c, "。", who, "去", chosen[right], things[right], "。")
    row = len(tokens) - 3
    link = (row, 2 * right + 2)
    return Document("shelf", language, tokens, answers=(row,), reads=(link,), firsts=(2, 4, 6), tail=8, pairs=pairs)


SEQUENCES = {"brackets": brackets, "induction": induction}
RECOGNISERS = {"brackets": balanced, "induction": repeats}
