"""The one-layer model's task, measured: a verb and which of three things it goes with.

Also what 1/sqrt(d_k) does there: how sharp a row is, and what the softmax lets through to learn from. All of it
is taken at the row of the verb, in sentences with a pair of things that training never saw.
"""

from collections import defaultdict
from random import Random
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Tensor

from .batches import decoder_batch
from .documents import Document
from .forward import forward
from .lexicon import LANGUAGES
from .sequences import shelf
from .trained import TrainedModel

COUNT = 300


def shelf_documents(language: str, count: int = COUNT) -> list[Document]:
    rng = Random(f"held-out/shelf/{language}")
    return [shelf(rng, language, held_out=True) for _ in range(count)]


def shelf_rows(model: TrainedModel, documents: list[Document]) -> dict:
    """At the verb: mean weight on its object ("link"), entropy of the row in nats, and "pairs": by verb and object."""
    batch = decoder_batch(documents, model.vocabulary)
    with torch.inference_mode():
        weights = forward(model, batch.ids).weights[0][:, 0]  # (B, T, T)
    rows = _verb_rows(weights, documents)
    links = [rows[number, document.reads[0][1]].item() for number, document in enumerate(documents)]
    pairs: dict[str, list[float]] = defaultdict(list)
    for document, weight in zip(documents, links, strict=True):
        row, key = document.reads[0]
        pairs[f"{document.tokens[row]}→{document.tokens[key]}"].append(weight)
    return {
        "link": fmean(links),
        "entropy": _entropy(rows).mean().item(),
        "pairs": {pair: fmean(found) for pair, found in sorted(pairs.items())},
    }


def gradients(model: TrainedModel, count: int = 64) -> dict[str, float]:
    """How much of the loss reaches the scores, and the weights behind them.

    "jacobian": Frobenius norm of the softmax Jacobian diag(a) - aa^T, mean over verb rows. "scores": norm of
    dL/dscores at those rows. "w_q": norm of dL/dW_Q. L is the cross entropy at the verb rows.
    """
    documents = [document for language in LANGUAGES for document in shelf_documents(language, count)]
    batch = decoder_batch(documents, model.vocabulary)
    w_q = model.blocks[0].w_q.requires_grad_(True)
    done = forward(model, batch.ids)
    done.weights[0].retain_grad()
    every, rows = torch.arange(len(documents)), torch.tensor([document.answers[0] for document in documents])
    F.cross_entropy(done.logits[every, rows], batch.targets[every, rows]).backward()
    a, upstream = done.weights[0].detach()[every, 0, rows], done.weights[0].grad[every, 0, rows]  # (B, T)
    scores = a * (upstream - (a * upstream).sum(-1, keepdim=True))
    found = {"jacobian": _jacobian(a).mean().item(), "scores": scores.norm().item(), "w_q": w_q.grad.norm().item()}
    w_q.grad = None
    w_q.requires_grad_(False)
    return found


def _verb_rows(weights: Tensor, documents: list[Document]) -> Tensor:
    """(B, T): each document's row of weights at its verb."""
    rows = torch.tensor([document.answers[0] for document in documents])
    return weights[torch.arange(len(documents)), rows]


def _entropy(rows: Tensor) -> Tensor:
    """Nats of each row (B, T): 0 where one key has all the weight."""
    return torch.special.entr(rows).sum(-1)


def _jacobian(a: Tensor) -> Tensor:
    """Frobenius norm of diag(a) - aa^T for each row of weights (B, T)."""
    squares = a.square().sum(-1)
    return (squares - 2 * a.pow(3).sum(-1) + squares.square()).clamp_min(0).sqrt()
