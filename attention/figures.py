"""The figures of a model: everything that the gates, the model card and the app's notices say about it.

Plain numbers by name, so that a file's metadata can keep them. Shares are 0..1; surprise is in nats a token.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from statistics import fmean, quantiles

import torch

from .documents import Document
from .forward import mean_nll
from .grammar import FAMILIES, REFERENCE
from .lexicon import LANGUAGES
from .measure import accuracy, attention_on_links, filled, held_out, on_antecedent, recognised, twin
from .prose import PROSE
from .rank import truncated
from .shelf import gradients, shelf_documents, shelf_rows
from .tokeniser import encode
from .trained import TrainedModel

COUNT = 120  # documents of each family and language
CONTINUED = 330  # beginnings that are continued, in each language
FEW = 40  # documents of each family where a model is measured many times over
SURPRISED = 20  # documents of each family for the surprise
RANKS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
IT_FAMILIES = ("fit", "put", "chase")
GROUPS = {"antecedent": REFERENCE, "brackets": ("brackets",), "induction": ("induction",), "code": ("code",)}

Corpus = dict[str, dict[str, list[Document]]]  # by language, then family


def figures(model: TrainedModel) -> dict:
    """All figures of a model, by what it was trained on."""
    if len(model.blocks) == 1:
        return _one_layer(model)
    return (_decoder if model.causal else _encoder)(model)


def _decoder(model: TrainedModel) -> dict:
    corpus, few = _corpus(COUNT), _corpus(FEW)
    heads = [(layer, head) for layer in range(len(model.blocks)) for head in range(model.heads)]
    return {
        "accuracy": _by_family(corpus, lambda docs: accuracy(model, docs)),
        "unknown": _unknown(model),
        "links": {name: attention_on_links(model, _all(families)) for name, families in corpus.items()},
        "without": {f"{layer}.{head}": _groups(model, few, frozenset({(layer, head)})) for layer, head in heads},
        "recognised": {language: recognised(model, language, CONTINUED) for language in LANGUAGES},
        "rank": _ranks(model, lambda cut: _groups(cut, few)),
        **surprise(model, _usual(few)),
    }


def _encoder(model: TrainedModel) -> dict:
    corpus, few = _corpus(COUNT), _corpus(FEW)
    return {
        "filled": _by_family(corpus, lambda docs: filled(model, docs)),
        "it": {name: _twins(model, families) for name, families in corpus.items()},
        "rank": _ranks(model, lambda cut: _by_family(few, lambda docs: filled(cut, docs))),
        **surprise(model, _usual(few)),
    }


def _one_layer(model: TrainedModel) -> dict:
    """Is the object right, and how much does the verb's row read it?"""
    documents = {language: shelf_documents(language) for language in LANGUAGES}
    rows = {language: shelf_rows(model, docs) for language, docs in documents.items()}
    return {
        "accuracy": {language: accuracy(model, docs) for language, docs in documents.items()},
        **{name: {language: found[name] for language, found in rows.items()} for name in ("link", "entropy", "pairs")},
        "rank": _ranks(model, lambda cut: {name: accuracy(cut, docs) for name, docs in documents.items()}),
        **surprise(model, documents),
    }


def family_figures(models: dict[tuple[int, bool], TrainedModel]) -> list[dict]:
    """The one-layer family: a row of figures for each d_k, with and without 1/sqrt(d_k), languages together."""
    documents = {language: shelf_documents(language) for language in LANGUAGES}
    rows = []
    for (d_k, scaled), model in sorted(models.items(), key=lambda item: (item[0][0], not item[0][1])):
        found = [shelf_rows(model, docs) for docs in documents.values()]
        other = replace(model, scale=1.0 if scaled else d_k**-0.5)
        rows.append(
            {
                "d_k": d_k,
                "scaled": scaled,
                "accuracy": fmean(accuracy(model, docs) for docs in documents.values()),
                "entropy": fmean(row["entropy"] for row in found),
                "link": fmean(row["link"] for row in found),
                "switched": fmean(accuracy(other, docs) for docs in documents.values()),
                **model.figures,
                **{f"{name}, trained": value for name, value in gradients(model).items()},
            }
        )
    return rows


def surprise(model: TrainedModel, usual: dict[str, list[Document]]) -> dict:
    """Mean nats a token inside and outside the grammar, and the line between them that the app draws ("outside").

    Inside are held-out documents, whole and without their question, or of a repeat two words of it. The line is
    halfway between the surprise that all but a few of them stay below and what nearly all of the prose is above.
    """
    inside, outside = {}, {}
    for language in LANGUAGES:
        lines = [doc.tokens[:end] for doc in usual[language] for end in _ends(doc)]
        inside[language] = [_nll(model, [model.vocabulary.ids[token] for token in line]) for line in lines]
        outside[language] = [_nll(model, encode(text, model.vocabulary).ids) for text in PROSE[language]]
    most, least = (_percentile([*found["en"], *found["zh"]], at) for found, at in ((inside, 97), (outside, 3)))
    return {
        "nll": {
            "inside": {language: fmean(values) for language, values in inside.items()},
            "outside": {language: fmean(values) for language, values in outside.items()},
            "inside, 97 of 100 below": most,
            "outside, 97 of 100 above": least,
        },
        "outside": (most + least) / 2,
    }


def _twins(model: TrainedModel, families: dict[str, list[Document]]) -> dict[str, list[float]]:
    """The weight of `it` on its antecedent, in each sentence and in its twin with the other adjective."""
    pairs = {name: [(doc, twin(doc, Random(n))) for n, doc in enumerate(families[name])] for name in IT_FAMILIES}
    return {
        name: [on_antecedent(model, list(member)) for member in zip(*found, strict=True)]
        for name, found in pairs.items()
    }


def _ends(document: Document) -> tuple[int, ...]:
    """Where a reader may stop typing."""
    whole = len(document.tokens)
    if document.family == "brackets":
        return (whole,)
    return (document.tail + 2 if document.family == "induction" else document.tail, whole)


def _corpus(count: int) -> Corpus:
    return {language: {name: held_out(name, language, count) for name in FAMILIES} for language in LANGUAGES}


def _usual(corpus: Corpus) -> dict[str, list[Document]]:
    return {name: _all({family: docs[:SURPRISED] for family, docs in found.items()}) for name, found in corpus.items()}


def _unknown(model: TrainedModel) -> dict[str, float]:
    """Answers where nouns are words that the lexicon lacks."""
    return {
        language: accuracy(model, _all({name: held_out(name, language, FEW, slots=True) for name in REFERENCE}))
        for language in LANGUAGES
    }


def _by_family(corpus: Corpus, measure: Callable[[list[Document]], float]) -> dict:
    return {language: {name: measure(docs) for name, docs in families.items()} for language, families in corpus.items()}


def _groups(model: TrainedModel, corpus: Corpus, zeroed: frozenset = frozenset()) -> dict:
    return {
        language: {
            group: accuracy(model, _all({name: families[name] for name in names}), zeroed)
            for group, names in GROUPS.items()
        }
        for language, families in corpus.items()
    }


def _ranks(model: TrainedModel, measure: Callable[[TrainedModel], dict]) -> dict[str, dict]:
    return {str(rank): measure(truncated(model, rank)) for rank in RANKS if rank <= model.d_k}


def _nll(model: TrainedModel, ids) -> float:
    return mean_nll(model, torch.tensor(ids))


def _percentile(values: list[float], at: int) -> float:
    return quantiles(values, n=100, method="inclusive")[at - 1]


def _all(families: dict[str, list[Document]]) -> list[Document]:
    return [document for documents in families.values() for document in documents]
