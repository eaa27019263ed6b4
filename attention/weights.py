"""Where the random source gets its numbers: every block from a generator of its own, named by what it is for.

So a token's embedding depends on its text and the seed alone, and one size changed leaves the other numbers
alone (a wider d_k keeps the columns that were there). All in float64; the caller casts. Projections have
variance 1/fan-in.
"""

import hashlib
from dataclasses import dataclass
from math import sqrt

import numpy as np
import torch
from torch import Tensor

from .settings import RANGES, Settings

WIDEST = RANGES["d_model"][1]


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """The four projections of one layer, without biases. H heads, Hk key/value heads, Dk Dv widths of one
    head.
    """

    w_q: Tensor  # (d_model, H*Dk)
    w_k: Tensor  # (d_model, Hk*Dk)
    w_v: Tensor  # (d_model, Hk*Dv)
    w_o: Tensor  # (H*Dv, d_model)


def normal(key: str, *shape: int) -> np.ndarray:
    """Standard normal float64 numbers that depend on `key` and nothing else."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big")).standard_normal(shape)


def embeddings(tokens: tuple[str, ...], seed: int, d_model: int) -> Tensor:
    """(T, d_model) float64: the first d_model of 256 numbers drawn for each token's text."""
    rows = {token: normal(f"{seed}/embedding/{token}", WIDEST)[:d_model] for token in set(tokens)}
    return torch.from_numpy(np.stack([rows[token] for token in tokens]))


def random_layer(settings: Settings, layer: int) -> LayerWeights:
    """The weights of layer `layer`, counted from 0, in the dtype of the settings."""
    s, dtype = settings, getattr(torch, settings.dtype)

    def columns(name: str, n_heads: int, width: int) -> np.ndarray:  # (d_model, n_heads*width)
        blocks = [normal(f"{s.seed}/{layer}/{name}/{head}", width, s.d_model) for head in range(n_heads)]
        return np.concatenate(blocks).T / sqrt(s.d_model)

    w_q, w_k = columns("w_q", s.heads, s.d_k), columns("w_k", s.kv_heads, s.d_k)
    w_v = columns("w_v", s.kv_heads, s.d_v)
    w_o = [normal(f"{s.seed}/{layer}/w_o/{head}", s.d_v, s.d_model) for head in range(s.heads)]
    w_o = np.concatenate(w_o) / sqrt(s.heads * s.d_v)
    return LayerWeights(*(torch.from_numpy(w).to(dtype).contiguous() for w in (w_q, w_k, w_v, w_o)))
