"""What a trained model can do, measured on held-out pairs. Every figure is a share, 0..1."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from random import Random

import torch

from .batches import COPY, OPENER, PREVIOUS, decoder_batch, decoder_links, padded
from .documents import MAX_TOKENS, Document, Link
from .forward import forward
from .grammar import FAMILIES, recognise, write
from .lexicon import BRACKETS, LEXICON
from .templates import ADJECTIVES
from .trained import TrainedModel

CHUNK = 64
GUIDED_TO = {"previous token": PREVIOUS, "repeat": COPY, "open bracket": OPENER}
GUIDED_TO |= dict.fromkeys(("adjective", "pronoun", "answer"), COPY)  # the head that has to find a kind of link


def held_out(family: str, language: str, count: int, *, slots: bool = False) -> list[Document]:
    """Documents with at least one pair that training never saw."""
    rng = Random(f"held-out/{family}/{language}/{slots}")
    return [write(rng, family, language, held_out=True, slots=slots) for _ in range(count)]


def accuracy(model: TrainedModel, documents: list[Document], zeroed: frozenset = frozenset()) -> float:
    """How often the likeliest next token is the decided one; of closing brackets, the likeliest of those."""
    right = asked = 0
    for part, done, batch in _passes(model, documents, zeroed):
        for number, document in enumerate(part):
            rows = list(document.answers)
            logits, target = done.logits[number, rows], batch.targets[number, rows]
            if document.family == "brackets":
                closers = [model.vocabulary.ids[mark] for mark in BRACKETS[document.language].values()]
                guess = torch.tensor(closers)[logits[:, closers].argmax(-1)]
            else:
                guess = logits.argmax(-1)
            right, asked = right + (guess == target).sum().item(), asked + len(rows)
    return right / asked


def attention_on_links(model: TrainedModel, documents: list[Document]) -> dict[str, dict[str, float]]:
    """The mean weight on the true link, by what kind of row asks and then by head, "layer.head" from 0."""
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    counts: dict[str, int] = defaultdict(int)
    for part, done, _ in _passes(model, documents):
        for number, document in enumerate(part):
            for kind, pairs in _kinds(document).items():
                rows, keys = torch.tensor(pairs).T
                counts[kind] += len(pairs)
                for layer, weights in enumerate(done.weights):
                    for head, found in enumerate(weights[number][:, rows, keys].sum(-1).tolist()):
                        sums[kind][f"{layer}.{head}"] += found
    return {kind: {head: total / counts[kind] for head, total in heads.items()} for kind, heads in sums.items()}


def _kinds(document: Document) -> dict[str, list[Link]]:
    """The links of a document by the kind of row that asks."""
    found: dict[str, list[Link]] = defaultdict(list)
    found["previous token"] = decoder_links(document)[PREVIOUS]
    for row, key in document.reads:
        kind = "pronoun" if document.family == "gender" else "adjective"
        found["answer" if row in document.answers else kind].append((row, key))
    found["repeat"], found["open bracket"] = list(document.copies), list(document.opens)
    return {kind: pairs for kind, pairs in found.items() if pairs}


def recognised(model: TrainedModel, language: str, count: int) -> float:
    """How many greedy continuations of held-out beginnings end up as whole documents with the right answer."""
    rng = Random(f"continue/{language}")
    documents = [write(rng, FAMILIES[n % len(FAMILIES)], language, held_out=True) for n in range(count)]
    prompts = [document.tokens[: _cut(document, rng)] for document in documents]
    lines = [line for start in range(0, count, CHUNK) for line in greedy(model, prompts[start : start + CHUNK])]
    return sum(recognise(line, language) is not None for line in lines) / count


def _cut(document: Document, rng: Random) -> int:
    """Somewhere a continuation has a rule to follow: of a repeat not before it begins."""
    first = document.tail + 1 if document.family == "induction" else 1
    return rng.randint(first, document.answers[-1] + 1)


def greedy(model: TrainedModel, prompts: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Each prompt and the likeliest tokens after it, up to the end of the document or of the positions."""
    words = model.vocabulary
    lines = [[words.ids[token] for token in prompt] for prompt in prompts]
    going = set(range(len(lines)))
    while going:
        longest = max(len(lines[number]) for number in going)
        ids = torch.tensor([(lines[n] + [words.end] * longest)[:longest] for n in sorted(going)])
        with torch.inference_mode():
            logits = forward(model, ids).logits
        for place, number in enumerate(sorted(going)):
            token = logits[place, len(lines[number]) - 1].argmax().item()
            if token == words.end or len(lines[number]) == MAX_TOKENS:
                going.discard(number)
            else:
                lines[number].append(token)
    return [tuple(words.words[token] for token in line) for line in lines]


# ---- encoder


def filled(model: TrainedModel, documents: list[Document]) -> float:
    """How often the encoder fills in the right word, one decided word of each document masked at a time."""
    rng, words = Random("fill"), model.vocabulary
    right = 0
    for part in _chunks(documents):
        ids, keep = padded([document.tokens for document in part], words)
        rows = torch.tensor([rng.choice(document.answers) + 1 for document in part])
        every = torch.arange(len(part))
        target = ids[every, rows]
        ids[every, rows] = words.mask
        with torch.inference_mode():
            logits = forward(model, ids, keep).logits
        right += (logits[every, rows].argmax(-1) == target).sum().item()
    return right / len(documents)


def on_antecedent(model: TrainedModel, documents: list[Document]) -> float:
    """The mean weight of the row of `it` on its antecedent, over sentences that stop before the question."""
    found: list[float] = []
    for part in _chunks(documents):
        ids, keep = padded([document.tokens[: document.tail] for document in part], model.vocabulary)
        with torch.inference_mode():
            weights = forward(model, ids, keep).weights[COPY[0]][:, COPY[1]]
        found += [weights[n, row, key].item() for n, doc in enumerate(part) for row, key in doc.ahead]
    return sum(found) / len(found)


def twin(document: Document, rng: Random) -> Document:
    """The same sentence with an adjective that means the other noun."""
    (_, old), *_ = document.ahead
    new = next(place for place in document.firsts[-2:] if place != old)
    adjective = next(row for row, key in document.reads if key == old)
    lexicon, classes = LEXICON[document.language], ADJECTIVES[document.family]
    other = next(name for name in classes if document.tokens[adjective] not in lexicon[name])
    word, before = rng.choice(lexicon[other]), document.tokens[adjective]
    swap = {before: word, document.tokens[old]: document.tokens[new]}
    tokens = tuple(
        swap.get(token, token) if token == before or row > document.tail else token
        for row, token in enumerate(document.tokens)
    )

    def moved(links: Iterable[Link]) -> tuple[Link, ...]:
        return tuple((row, new if key == old else key) for row, key in links)

    return replace(document, tokens=tokens, reads=moved(document.reads), ahead=moved(document.ahead))


def _passes(model: TrainedModel, documents: list[Document], zeroed: frozenset = frozenset()):
    for part in _chunks(documents):
        batch = decoder_batch(part, model.vocabulary)
        with torch.inference_mode():
            yield part, forward(model, batch.ids, batch.keep, zeroed), batch


def _chunks(documents: list[Document]) -> Iterator[list[Document]]:
    for start in range(0, len(documents), CHUNK):
        yield documents[start : start + CHUNK]
