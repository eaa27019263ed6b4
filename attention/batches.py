"""Documents to tensors: what goes in, what is to come out, and the true links that guided heads are shown.

Axes: B documents, T tokens (padded to the longest). A batch depends on the recipe's seed and the step alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

import torch
from torch import Tensor

from .documents import Document, Link
from .grammar import FAMILIES, training_document
from .lexicon import END, LANGUAGES, MASK
from .sequences import SEQUENCES, shelf
from .tokeniser import Vocabulary

POOL = 8  # batches that are drawn together and sorted by length, so that little is padding
FIRST, NEW = 0.5, 3.0  # loss of a noun that is new, and of one that has to differ from those before
ANSWER, CLOSER = 3.0, 1.5  # of an answer, of a closing bracket
SIDE = {"decoder": 0.25, "encoder": 1.0}  # how much the bracket head's other rows count beside its brackets
MASKED, MASKED_ANSWER, MASKED_LINK = 0.06, 0.7, 0.02  # how often the encoder has to fill a word in
MASKED_OF_SEQUENCE = 4  # words of a repeat or of brackets that it has to fill in, at most
WITHOUT_TAIL = 0.5  # of the documents that can do without, for the encoder
CAN_END_EARLY = ("fit", "put", "chase", "gender")

MORE_OFTEN = {
    "decoder": {"brackets": 2.0, "induction": 2.0},
    "encoder": {"brackets": 7.0, "induction": 1.5, "code": 3.0},
}

PREVIOUS, ARGUMENT, COPY, OPENER = (0, 0), (0, 1), (1, 0), (1, 1)  # (layer, head)
JOBS = {
    "decoder": {
        PREVIOUS: "previous token",
        ARGUMENT: "argument",
        COPY: "antecedent and repeat",
        OPENER: "open bracket",
    },
    "encoder": {
        PREVIOUS: "previous token",
        ARGUMENT: "argument",
        COPY: "antecedent and repeat",
        OPENER: "matching bracket",
    },
}


@dataclass(frozen=True, eq=False)
class Links:
    """The true links of one head in a batch: document, row, key, and how much each counts."""

    document: Tensor  # (N,)
    row: Tensor  # (N,)
    key: Tensor  # (N,)
    share: Tensor  # (N,) 1 / number of links of that row


@dataclass(frozen=True, eq=False)
class Batch:
    ids: Tensor  # (B, T)
    keep: Tensor  # (B, T) False at padding
    targets: Tensor  # (B, T)
    weights: Tensor  # (B, T) of the loss, 0 where nothing is asked
    links: dict[tuple[int, int], Links]


def stream(kind: str, task: str, seed: int, step: int, steps: int, size: int, words: Vocabulary) -> Batch:
    """The batch of a step: `size` documents of a task, "grammar" or "shelf", for a kind of model."""
    drawn = _pool(kind, task, seed, step // POOL, 3 * step < steps, size)
    place = Random(f"{seed}/order/{step // POOL}").sample(range(POOL), POOL)[step % POOL]
    documents = drawn[place * size : (place + 1) * size]
    if kind == "decoder":
        return decoder_batch(documents, words)
    return encoder_batch(documents, words, Random(f"{seed}/masks/{step}"))


@lru_cache(maxsize=2)
def _pool(kind: str, task: str, seed: int, number: int, early: bool, size: int) -> list[Document]:
    rng = Random(f"{seed}/{task}/{number}")
    if task == "shelf":
        drawn = [shelf(rng, rng.choice(LANGUAGES)) for _ in range(POOL * size)]
    else:
        weights = family_weights(kind, early)
        drawn = [training_document(rng, weights) for _ in range(POOL * size)]
    return sorted(drawn, key=lambda document: len(document.tokens))


def family_weights(kind: str, early: bool) -> dict[str, float]:
    """How often each family is drawn.

    For a decoder repeats make up nearly half of the first third, or no head learns them. An encoder is slow with
    brackets and with digits.
    """
    weights = dict.fromkeys(FAMILIES, 1.0) | MORE_OFTEN[kind]
    if early and kind == "decoder":
        weights["induction"] = 0.45 / 0.55 * (sum(weights.values()) - weights["induction"])
    return weights


def decoder_batch(documents: list[Document], words: Vocabulary) -> Batch:
    """Each row predicts the next token; the last one the end of the document."""
    lines = [(*document.tokens, END) for document in documents]
    ids, keep = padded(lines, words)
    targets, weights = torch.roll(ids, -1, 1), torch.roll(keep, -1, 1).float()
    weights[:, -1] = 0.0
    for number, document in enumerate(documents):
        mentioned = [row - 1 for row in document.firsts if row > 0]
        weights[number, mentioned] = FIRST
        weights[number, [row for row, _ in document.said]] = NEW
        weights[number, list(document.answers)] = _answer_weight(document)
    return Batch(ids, keep, targets, weights, _links(documents, "decoder"))


def encoder_batch(documents: list[Document], words: Vocabulary, rng: Random) -> Batch:
    """Some tokens give way to a mask, whose row predicts them; documents lose their question now and then."""
    documents = [_maybe_cut(document, rng) for document in documents]
    hidden = [_hidden(document, rng) for document in documents]
    targets, keep = padded([document.tokens for document in documents], words)
    ids, weights = targets.clone(), torch.zeros(targets.shape)
    for number, (document, places) in enumerate(zip(documents, hidden, strict=True)):
        ids[number, places] = words.ids[MASK]
        weights[number, places] = 1.0
        weights[number, [row + 1 for row in document.answers if row + 1 in places]] = ANSWER
    return Batch(ids, keep, targets, weights, _links(documents, "encoder"))


def decoder_links(document: Document) -> dict[tuple[int, int], list[Link]]:
    """Which key each row of a guided head has to read, nothing ahead of the row."""
    links = _links_of_heads(document.hops, document.reads + document.copies, document.opens, len(document.tokens))
    return {head: [(row, key) for row, key in pairs if key <= row] for head, pairs in links.items()}


def encoder_links(document: Document) -> dict[tuple[int, int], list[Link]]:
    """The same where everything can be read: an answer is filled in at its own row, not predicted before it."""
    answers = set(document.answers)

    def moved(pairs: Iterable[Link]) -> list[Link]:
        return [(row + (row in answers), key) for row, key in pairs]

    copies = [*moved(document.reads), *document.ahead, *moved(document.copies[:-1])]
    opens = [(row + 1, key) for row, key in document.opens if row in answers]
    counted = [(row, key) for row, key in document.hops if key < row]  # brackets before this one
    hops = counted if document.family == "brackets" else moved(document.hops)
    return _links_of_heads(hops, copies, opens, len(document.tokens))


def _links_of_heads(
    hops: Iterable[Link], copies: Iterable[Link], opens: Iterable[Link], n: int
) -> dict[tuple[int, int], list[Link]]:
    return {
        PREVIOUS: [(row, max(row - 1, 0)) for row in range(n)],
        ARGUMENT: list(hops),
        COPY: list(copies),
        OPENER: list(opens),
    }


def side_links(document: Document, kind: str) -> dict[tuple[int, int], list[Link]]:
    """What two heads do beside their jobs.

    The bracket head rests on the rows of the copy head, or it becomes its spare and neither is needed. In a decoder
    it reads, before a new noun, those that are taken; and where a question names a noun, the copy head reads those
    that were said.
    """
    copies = (decoder_links if kind == "decoder" else encoder_links)(document)[COPY]
    resting = [(row, row) for row, _ in copies]
    if kind == "encoder":
        return {OPENER: resting}
    return {OPENER: [*resting, *document.said], COPY: list(document.again)}


def _answer_weight(document: Document) -> float:
    return {"brackets": CLOSER, "induction": 1.0}.get(document.family, ANSWER)


def _maybe_cut(document: Document, rng: Random) -> Document:
    """Without its question, as a reader types it; only where `it` or a pronoun has something to find."""
    if document.family not in CAN_END_EARLY or rng.random() >= WITHOUT_TAIL:
        return document
    tail = document.tail

    def kept(pairs: tuple[Link, ...]) -> tuple[Link, ...]:
        return tuple((row, key) for row, key in pairs if row < tail and key < tail)

    links = {name: kept(getattr(document, name)) for name in ("hops", "reads", "ahead")}
    return replace(document, tokens=document.tokens[:tail], answers=(), **links)


def _hidden(document: Document, rng: Random) -> list[int]:
    """The places to mask: answers often, words that others lean on seldom, at least one."""
    answers, rows = [row + 1 for row in document.answers], range(len(document.tokens))
    if document.family in SEQUENCES:
        seldom = [row for row in rows if row not in answers and rng.random() < MASKED_LINK]
        return seldom + rng.sample(answers, min(len(answers), rng.randint(1, MASKED_OF_SEQUENCE)))
    leant_on = {key for _, key in document.hops + document.reads}
    rates = [MASKED_ANSWER if row in answers else MASKED_LINK if row in leant_on else MASKED for row in rows]
    places = [row for row in rows if rng.random() < rates[row]]
    return places or [rng.choice(answers or rows)]


def padded(lines: list[tuple[str, ...]], words: Vocabulary) -> tuple[Tensor, Tensor]:
    """ids (B, T) and keep (B, T); padding is the end token, which no row is asked about."""
    longest = max(map(len, lines))
    rows = [[words.ids[word] for word in line] + [words.end] * (longest - len(line)) for line in lines]
    lengths = torch.tensor([len(line) for line in lines])
    return torch.tensor(rows), torch.arange(longest) < lengths[:, None]


def _links(documents: Iterable[Document], kind: str) -> dict[tuple[int, int], Links]:
    links_of = decoder_links if kind == "decoder" else encoder_links
    found: dict[tuple[int, int], list[tuple[int, int, int, float]]] = {}
    for number, document in enumerate(documents):
        for head, pairs in links_of(document).items():
            found.setdefault(head, []).extend(_shares(number, pairs, 1.0))
        for head, pairs in side_links(document, kind).items():
            found[head].extend(_shares(number, pairs, SIDE[kind]))
    return {head: _columns(quads) for head, quads in found.items() if quads}


def _shares(number: int, pairs: list[Link], weight: float) -> list[tuple[int, int, int, float]]:
    """(document, row, key, share): the links of one row add up to `weight`."""
    rows = [row for row, _ in pairs]
    return [(number, row, key, weight / rows.count(row)) for row, key in pairs]


def _columns(quads: list[tuple[int, int, int, float]]) -> Links:
    document, row, key, share = zip(*quads, strict=True)
    return Links(torch.tensor(document), torch.tensor(row), torch.tensor(key), torch.tensor(share))
