"""Scaled dot-product attention that keeps every intermediate, and the moves between heads and features.

Axes: ... any batch, H heads, Hk key/value heads, Tq queries, Tk keys, Dk width of a query or key, Dv of value
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from .checks import broadcasts, whole


@dataclass(frozen=True, eq=False)
class AttentionTrace:
    """Everything `attend` worked out, in order."""

    q: Tensor  # (..., H, Tq, Dk)
    k: Tensor  # (..., H, Tk, Dk)
    v: Tensor  # (..., H, Tk, Dv)
    raw: Tensor  # (..., H, Tq, Tk) q.k
    scaled: Tensor  # (..., H, Tq, Tk) raw * scale + bias
    masked: Tensor  # (..., H, Tq, Tk) scaled, -inf where hidden
    weights: Tensor  # (..., H, Tq, Tk) 0..1, each row sums to 1, or to 0 where a query sees no key
    mixed: Tensor  # (..., H, Tq, Dv)


class NotFiniteError(ValueError):
    """A number that is not finite reached attention or was made there. `culprit` names it in a few words."""

    def __init__(self, culprit: str, arrived: str, needed: str):
        self.culprit = culprit
        super().__init__(f"{culprit}: {arrived}; {needed} needed")


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    visible: Tensor | None = None,
    *,
    scale: float | None = None,
    bias: Tensor | None = None,
) -> AttentionTrace:
    """softmax(q.k * scale + bias, over the keys a query may read) . v, with every step of it.

    q (..., H, Tq, Dk), k (..., H, Tk, Dk), v (..., H, Tk, Dv). `visible` (Bool, True = may read) and `bias`
    broadcast to (..., H, Tq, Tk); `scale` defaults to 1/sqrt(Dk). A query that sees no key gets weights 0 and
    mixed 0. ValueError: shapes or dtypes that do not fit; numbers that are not finite (-inf in a bias hides).
    Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1.
    """
    scale = _check_inputs(q, k, v, visible, bias, scale)
    raw = q @ k.transpose(-2, -1)  # (..., H, Tq, Tk)
    scaled = raw * scale if bias is None else raw * scale + bias
    masked = scaled if visible is None else scaled.masked_fill(~visible, -math.inf)
    every_row_reads = visible is None and bias is None
    weights = torch.softmax(masked, dim=-1) if every_row_reads else _softmax_or_zero(masked)
    mixed = weights @ v  # (..., H, Tq, Dv)
    _check_finite(q, k, v, raw, scaled, mixed, scale, bias)
    return AttentionTrace(q, k, v, raw, scaled, masked, weights, mixed)


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """(..., T, n_heads*D) -> (..., n_heads, T, D): head h takes features h*D to (h+1)*D of every token."""
    n_heads = whole("n_heads", n_heads, 1)
    if x.dim() < 2 or x.shape[-1] % n_heads:
        raise ValueError(f"x: shape {tuple(x.shape)} arrived; (..., T, {n_heads} heads * D) is needed")
    return x.unflatten(-1, (n_heads, x.shape[-1] // n_heads)).transpose(-3, -2)


def merge_heads(x: Tensor) -> Tensor:
    """(..., H, T, D) -> (..., T, H*D): the inverse of split_heads."""
    if x.dim() < 3:
        raise ValueError(f"x: shape {tuple(x.shape)} arrived; (..., H, T, D) is needed")
    return x.transpose(-3, -2).flatten(-2)


def repeat_kv(x: Tensor, n_rep: int) -> Tensor:
    """(..., Hk, T, D) -> (..., Hk*n_rep, T, D): heads 0,0,1,1. GQA, Ainslie et al. 2023, section 2.2."""
    n_rep = whole("n_rep", n_rep, 1)
    if x.dim() < 3:
        raise ValueError(f"x: shape {tuple(x.shape)} arrived; (..., Hk, T, D) is needed")
    return x if n_rep == 1 else x.repeat_interleave(n_rep, dim=-3)


def _softmax_or_zero(masked: Tensor) -> Tensor:
    """Softmax over the last axis; a row of -inf alone gives zeros, in the gradient too, instead of NaN."""
    if masked.shape[-1] == 0:
        return masked
    sees_none = masked.amax(dim=-1, keepdim=True) == -math.inf
    return torch.softmax(masked.masked_fill(sees_none, 0.0), dim=-1).masked_fill(sees_none, 0.0)


def _check_inputs(q, k, v, visible, bias, scale) -> float:
    """The scale to use, once shapes and dtypes are known to fit."""
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x.dim() < 2 or not x.is_floating_point() or x.dtype != q.dtype:
            arrived = f"{x.dtype} of shape {tuple(x.shape)}"
            raise ValueError(f"{name}: {arrived} arrived; (..., H, T, D) in one floating dtype for q, k, v is needed")
    (n_q, d_k), n_k = q.shape[-2:], k.shape[-2]
    if k.shape[:-2] != q.shape[:-2] or k.shape[-1] != d_k or d_k == 0:
        needed = f"the batch and heads of q {tuple(q.shape)} and its width (repeat_kv shares heads)"
        raise ValueError(f"k: shape {tuple(k.shape)} arrived; {needed} is needed")
    if v.shape[:-1] != k.shape[:-1]:
        raise ValueError(f"v: shape {tuple(v.shape)} arrived; one row for each key of k {tuple(k.shape)} is needed")
    square = (*q.shape[:-2], n_q, n_k)
    if visible is not None and visible.dtype != torch.bool:
        raise ValueError(f"visible: {visible.dtype} arrived; Bool is needed, True where a query may read a key")
    for name, x in (("visible", visible), ("bias", bias)):
        if x is not None and not broadcasts(x.shape, square):
            raise ValueError(f"{name}: shape {tuple(x.shape)} arrived; one that broadcasts to {square} is needed")
    scale = 1.0 / math.sqrt(d_k) if scale is None else float(scale)
    if not math.isfinite(scale):
        raise NotFiniteError("scale", f"{scale} arrived", "a finite number is")
    return scale


def _check_finite(q, k, v, raw, scaled, mixed, scale, bias) -> None:
    """Two sums tell whether anything went wrong; only then is the culprit looked for."""
    wide = torch.promote_types(q.dtype, torch.float32)
    if math.isfinite(scaled.sum(dtype=wide).item()) and math.isfinite(mixed.sum(dtype=wide).item()):
        return
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not x.isfinite().all():
            raise NotFiniteError(name, "a number that is not finite arrived", "finite numbers are")
    hidden = torch.zeros(1, dtype=torch.bool) if bias is None else bias == -math.inf
    if bias is not None and not (bias.isfinite() | hidden).all():
        raise NotFiniteError("bias", "NaN or +inf arrived", "finite numbers, or -inf to hide a key, are")
    scores = (("q.k", raw), (f"q.k * {scale:.4g}", scaled.masked_fill(hidden, 0.0)), ("weights.v", mixed))
    for name, x in scores:
        if not x.isfinite().all():
            raise NotFiniteError(name, f"a number beyond {q.dtype} came out", "smaller numbers are")
