"""The numbers a run is made with, of either kind of source, as one record.

The random source draws every block from a generator of its own, named by what it is for. So a token's
embedding depends on its text and the seed alone, and one size changed leaves the other numbers alone (a wider
d_k keeps the columns that were there). All in float64, cast in the end. Projections have variance 1/fan-in.
A trained source brings norms, an MLP and words to choose from; the random one has none of them.
"""

import hashlib
from dataclasses import dataclass
from math import sqrt

import numpy as np
import torch
from torch import Tensor

from .heads import cut_rank, flatten, zero
from .settings import RANGES, Settings, places
from .trained import Block, TrainedModel

WIDEST = RANGES["d_model"][1]


@dataclass(frozen=True, eq=False)
class Norm:
    """A layer norm over the features of a row."""

    gain: Tensor  # (d_model,)
    shift: Tensor  # (d_model,)
    eps: float


@dataclass(frozen=True, eq=False)
class Mlp:
    """norm(h) @ w_in + b_in, GELU (exact, by erf), @ w_out + b_out, which is added to h."""

    norm: Norm
    w_in: Tensor  # (d_model, d_ff)
    b_in: Tensor  # (d_ff,)
    w_out: Tensor  # (d_ff, d_model)
    b_out: Tensor  # (d_model,)


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """One layer; its four projections have no biases. H heads, Hk key/value heads, Dk Dv widths of one head."""

    w_q: Tensor  # (d_model, H*Dk)
    w_k: Tensor  # (d_model, Hk*Dk)
    w_v: Tensor  # (d_model, Hk*Dv)
    w_o: Tensor  # (H*Dv, d_model)
    norm: Norm | None  # before the projections
    w_mlp: Mlp | None


@dataclass(frozen=True, eq=False)
class Words:
    """How a row becomes a next word: norm(h) @ embedding.T, one logit for each word of V."""

    norm: Norm
    embedding: Tensor  # (V, d_model), of the rows that enter too


@dataclass(frozen=True, eq=False)
class Weights:
    """Everything a run multiplies with, in its dtype where nothing else is said."""

    embedded: Tensor  # (T, d_model) float64, the typed tokens without their positions
    positions: Tensor | None  # (P, d_model) float64, where a source has learned them
    layers: tuple[LayerWeights, ...]
    words: Words | None


def weights_of(settings: Settings) -> Weights:
    """The weights that the settings' source has."""
    model = settings.model
    return _random(settings) if model is None else _trained(settings, model)


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
    matrices = (torch.from_numpy(w).to(dtype).contiguous() for w in (w_q, w_k, w_v, w_o))
    return LayerWeights(*matrices, norm=None, w_mlp=None)


def _random(s: Settings) -> Weights:
    layers = tuple(random_layer(s, layer) for layer in range(s.layers))
    return Weights(embeddings(s.tokens, s.seed, s.d_model), None, layers, None)


def _trained(s: Settings, model: TrainedModel) -> Weights:
    dtype = getattr(torch, s.dtype)
    embedded = model.embedding[list(s.encoded.ids)].double()  # (T, d_model)
    layers = tuple(_trained_layer(s, model, block, layer) for layer, block in enumerate(model.blocks))
    words = Words(_norm(model.final_norm, model.eps, dtype), model.embedding.to(dtype))
    return Weights(embedded, model.positions.double(), layers, words)


def _trained_layer(s: Settings, model: TrainedModel, block: Block, layer: int) -> LayerWeights:
    """A block as it was trained, or with what the reader did to its heads written into its matrices."""
    dtype = getattr(torch, s.dtype)
    w_q, w_k, w_o = block.w_q, block.w_k, block.w_o
    if s.rank is not None:
        w_q, w_k = cut_rank(w_q, s.heads, s.rank), cut_rank(w_k, s.kv_heads, s.rank)
    w_q = flatten(w_q, s.heads, [head for at, head in places(s.flattened) if at == layer])
    w_o = zero(w_o, s.heads, [head for at, head in places(s.zeroed) if at == layer])
    matrices = (w.to(dtype) for w in (w_q, w_k, block.w_v, w_o))
    mlp = None
    if block.mlp_norm is not None:
        parts = (block.mlp_in, block.mlp_in_bias, block.mlp_out, block.mlp_out_bias)
        mlp = Mlp(_norm(block.mlp_norm, model.eps, dtype), *(part.to(dtype) for part in parts))
    return LayerWeights(*matrices, norm=_norm(block.norm, model.eps, dtype), w_mlp=mlp)


def _norm(parts: tuple[Tensor, Tensor], eps: float, dtype: torch.dtype) -> Norm:
    return Norm(*(part.to(dtype) for part in parts), eps)
