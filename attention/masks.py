"""Who may read whom: one function per mask. Rows are queries, columns are keys, True is readable.

Axes: n_q queries, n_k keys, both >= 1. When n_q < n_k the queries are the last n_q of the n_k positions, so
that a mask of one row is the row of the newest token. All return Bool (n_q, n_k); combine them with &.
"""

import torch
from torch import Tensor

from .checks import whole


def bidirectional(n_q: int, n_k: int) -> Tensor:
    """Every query reads every key."""
    return torch.ones(whole("n_q", n_q, 1), whole("n_k", n_k, 1), dtype=torch.bool)


def causal(n_q: int, n_k: int) -> Tensor:
    """A query reads its own position and those before it."""
    return key_distance(n_q, n_k) >= 0


def sliding_window(n_q: int, n_k: int, width: int) -> Tensor:
    """A query reads the last `width` >= 1 positions up to its own, which counts as one of them."""
    distance = key_distance(n_q, n_k)
    return (distance >= 0) & (distance < whole("width", width, 1))


def prefix_lm(n_q: int, n_k: int, prefix: int) -> Tensor:
    """Causal, and besides every query reads the first `prefix` >= 0 positions (more than n_k means all)."""
    in_prefix = torch.arange(whole("n_k", n_k, 1)) < whole("prefix", prefix, 0)  # (n_k,)
    return causal(n_q, n_k) | in_prefix


def padding(keep, n_q: int) -> Tensor:
    """Hides the keys that `keep`, a list or Bool tensor (n_k,), holds False for. Queries stay as they are."""
    keep = _keep_tensor(keep)
    return keep.expand(whole("n_q", n_q, 1), -1).clone()  # (n_q, n_k)


def key_distance(n_q: int, n_k: int) -> Tensor:
    """How far each key lies behind each query, negative ahead of it: (n_q, n_k)."""
    n_q, n_k = whole("n_q", n_q, 1), whole("n_k", n_k, 1)
    if n_q > n_k:
        raise ValueError(f"n_q: {n_q} queries arrived for {n_k} keys; queries are the last positions, at most n_k")
    return torch.arange(n_k - n_q, n_k)[:, None] - torch.arange(n_k)


def _keep_tensor(keep) -> Tensor:
    if not isinstance(keep, Tensor):
        keep = list(keep)
        strange = [item for item in keep if item not in (0, 1)]
        if strange:
            raise ValueError(f"keep: {strange[0]!r} arrived in the list; only True and False are needed")
        keep = torch.tensor([bool(item) for item in keep], dtype=torch.bool)
    if keep.dtype != torch.bool or keep.dim() != 1 or len(keep) == 0:
        arrived = f"{keep.dtype} of shape {tuple(keep.shape)}"
        raise ValueError(f"keep: {arrived} arrived; a list or Bool tensor of shape (n_k,), n_k >= 1, is needed")
    return keep
