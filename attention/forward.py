"""One pass of a trained model over a batch: what training, evaluation and masked words need.

Axes: B documents, T tokens, H heads, V words. The same `attend` as everywhere.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from .core import attend, merge_heads, repeat_kv, split_heads
from .masks import causal
from .trained import Block, TrainedModel


@dataclass(frozen=True, eq=False)
class Pass:
    """What one pass worked out; per layer where it is a tuple."""

    logits: Tensor  # (B, T, V)
    weights: tuple[Tensor, ...]  # (B, H, T, T) each
    rows: tuple[Tensor, ...]  # (B, T, d_model) each: the normalised rows that enter the projections


def forward(model: TrainedModel, ids: Tensor, keep: Tensor | None = None, zeroed: frozenset = frozenset()) -> Pass:
    """ids (B, T) -> Pass. `keep` (B, T) Bool is False at padding; `zeroed` are (layer, head) set to zero."""
    n = ids.shape[1]
    visible = causal(n, n) if model.causal else torch.ones(n, n, dtype=torch.bool)
    if keep is not None and not model.causal:
        visible = visible & keep[:, None, None, :]  # (B, 1, T, T)
    h = model.embedding[ids] + model.positions[:n]  # (B, T, d_model)
    weights, rows = [], []
    for layer, block in enumerate(model.blocks):
        x = normalised(h, block.norm, model.eps)
        off = [head for at, head in zeroed if at == layer]
        out, seen = _attention(model, block, x, visible, off)
        h = h + out
        if block.mlp_norm is not None:
            h = h + mlp(block, normalised(h, block.mlp_norm, model.eps))
        weights.append(seen)
        rows.append(x)
    logits = normalised(h, model.final_norm, model.eps) @ model.embedding.T
    return Pass(logits, tuple(weights), tuple(rows))


@torch.inference_mode()
def mean_nll(model: TrainedModel, ids: Tensor) -> float:
    """Nats per token of one text, ids (T,): how much the model is surprised by it. NaN for a single token.

    A decoder says how likely each token was after those before it; an encoder, each token masked in its turn, those
    that the text itself leaves open aside.
    """
    n = len(ids)
    if n < 2:
        return float("nan")
    if model.causal:
        logits, wanted = forward(model, ids[None]).logits[0, :-1], ids[1:]
    else:
        masked = ids.repeat(n, 1).fill_diagonal_(model.vocabulary.mask)
        logits, wanted = forward(model, masked).logits.diagonal().T, ids
    known = wanted != model.vocabulary.mask
    return F.cross_entropy(logits[known], wanted[known]).item()


def normalised(h: Tensor, norm: tuple[Tensor, Tensor], eps: float) -> Tensor:
    """Layer norm over the last axis. Ba et al. 2016, "Layer Normalization", section 3."""
    return F.layer_norm(h, h.shape[-1:], norm[0], norm[1], eps)


def mlp(block: Block, x: Tensor) -> Tensor:
    """GELU (exact, by erf) between two affine maps. Hendrycks and Gimpel 2016, "Gaussian Error Linear Units"."""
    return F.gelu(x @ block.mlp_in + block.mlp_in_bias) @ block.mlp_out + block.mlp_out_bias


def _attention(model: TrainedModel, block: Block, x: Tensor, visible: Tensor, off: list[int]):
    """What attention adds to the residual (B, T, d_model), and its weights (B, H, T, T)."""
    repeat = model.heads // model.kv_heads
    q = split_heads(x @ block.w_q, model.heads)  # (B, H, T, Dk)
    k, v = (repeat_kv(split_heads(x @ w, model.kv_heads), repeat) for w in (block.w_k, block.w_v))
    trace = attend(q, k, v, visible, scale=model.scale)
    mixed = trace.mixed
    if off:
        mixed = mixed.index_fill(1, torch.tensor(off), 0.0)
    return merge_heads(mixed) @ block.w_o, trace.weights
