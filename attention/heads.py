"""What can be done to a trained head: cut its rank, make its weights even, take it out. Written into the matrices,
so that a run of what is left is a run like any other.

Axes: H heads, Dk Dv widths of one head.
"""

import torch
from torch import Tensor


def cut_rank(w: Tensor, n_heads: int, rank: int) -> Tensor:
    """w_q or w_k (d_model, H*Dk) with all but the first `rank` features of every head 0.

    A trained file has them in order of weight (`rank.canonical`), so that W_Q W_K^T becomes its best form of that
    rank. The scores keep the scale of the whole head.
    """
    kept = torch.arange(w.shape[1]) % (w.shape[1] // n_heads) < rank
    return w * kept


def flatten(w_q: Tensor, n_heads: int, which: list[int]) -> Tensor:
    """w_q (d_model, H*Dk) with the columns of some heads 0: every score is 0, every visible key weighs the same."""
    return _without(w_q.T, n_heads, which).T if which else w_q


def zero(w_o: Tensor, n_heads: int, which: list[int]) -> Tensor:
    """w_o (H*Dv, d_model) with the rows of some heads 0: what they mix does not reach the residual."""
    return _without(w_o, n_heads, which) if which else w_o


def _without(w: Tensor, n_heads: int, which: list[int]) -> Tensor:
    """w (H*D, ...) with the rows of some heads 0."""
    return w.unflatten(0, (n_heads, -1)).index_fill(0, torch.tensor(which), 0.0).flatten(0, 1)
