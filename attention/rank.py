"""The rank of a head's scores: W_Q W_Kᵀ, cut down to what matters most for the rows that a layer really sees.

x W_Q W_Kᵀ yᵀ is a form in two rows. With C = E[xᵀx] over rows x of a layer, the singular values of
C^½ W_Q W_Kᵀ C^½ say how much each of its d_k terms moves the scores. `canonical` writes W_Q and W_K so that the
terms stand in that order: the scores stay, and the first r features of q and k are the best form of rank r.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from .trained import Block, TrainedModel

FLOOR = 1e-9  # of the largest eigenvalue, so that C can be inverted


def canonical(model: TrainedModel, rows: Sequence[Tensor]) -> TrainedModel:
    """The same scores, the features of q and k in order of weight. `rows` (N, d_model) for each layer."""
    blocks = (_canonical_block(model, block, x) for block, x in zip(model.blocks, rows, strict=True))
    return replace(model, blocks=tuple(blocks))


def truncated(model: TrainedModel, rank: int) -> TrainedModel:
    """The first `rank` features of every head's q and k, 1 to d_k; the scale stays that of the whole model."""
    if not 1 <= rank <= model.d_k:
        raise ValueError(f"rank: {rank} arrived; 1 to {model.d_k} is needed")

    def first(w: Tensor, heads: int) -> Tensor:  # (d_model, heads*d_k) -> (d_model, heads*rank)
        return w.unflatten(1, (heads, model.d_k))[:, :, :rank].flatten(1)

    blocks = (
        replace(block, w_q=first(block.w_q, model.heads), w_k=first(block.w_k, model.kv_heads))
        for block in model.blocks
    )
    return replace(model, d_k=rank, blocks=tuple(blocks))


def _canonical_block(model: TrainedModel, block: Block, x: Tensor) -> Block:
    assert model.heads == model.kv_heads, "a shared key has no order of its own"
    values, vectors = torch.linalg.eigh((x.double().T @ x.double()) / len(x))
    values = values.clamp_min(FLOOR * values.max()).sqrt()
    root, inverse = vectors * values @ vectors.T, vectors / values @ vectors.T  # (d_model, d_model)
    w_q, w_k = (w.double().unflatten(1, (model.heads, model.d_k)) for w in (block.w_q, block.w_k))
    new_q, new_k = torch.empty_like(w_q), torch.empty_like(w_k)
    for head in range(model.heads):
        u, s, vh = torch.linalg.svd(root @ w_q[:, head] @ w_k[:, head].T @ root)
        keep, share = slice(0, model.d_k), s[: model.d_k].sqrt()
        new_q[:, head] = inverse @ u[:, keep] * share
        new_k[:, head] = inverse @ vh[keep].T * share
    return replace(block, w_q=new_q.flatten(1).float(), w_k=new_k.flatten(1).float())
