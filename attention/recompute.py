"""The twin: everything worked out again from the tokens alone, without a cache.

Written apart on purpose. It shares the weights with the cached path and nothing else: other axis order, other
masks, other positions, other softmax, other norm, so that a mistake would have to be made twice to stay unseen.
Axes: T tokens, K key/value heads, G query heads of each (H = K*G), D features; i asks, j answers.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from .settings import Settings
from .weights import LayerWeights, Mlp, Norm, Weights


@dataclass(frozen=True, eq=False)
class FullLayer:
    """One layer over all tokens that are there, in the layout of the record: heads first."""

    residual: Tensor  # (T, d_model)
    x: Tensor  # (T, d_model)
    q: Tensor  # (H, T, Dk)
    k: Tensor  # (Hk, T, Dk)
    v: Tensor  # (Hk, T, Dv)
    raw: Tensor  # (H, T, T)
    weights: Tensor  # (H, T, T)
    mixed: Tensor  # (H, T, Dv)
    out: Tensor  # (T, d_model)
    mlp: Tensor | None  # (T, d_model)


@dataclass(frozen=True, eq=False)
class Tables:
    """What depends on positions alone, for the longest text; a shorter one takes the upper left corner."""

    x: Tensor  # (T, d_model) what enters the first layer
    hidden: Tensor  # (T, T) bool
    bias: Tensor | None  # (H, T, T)
    spin: Tensor | None  # (T, Dk/2) complex, of length 1
    scale: float


def make_tables(s: Settings, weights: Weights, embedded: Tensor) -> Tables:
    """Tables over all tokens of embedded (T, d_model) float64."""
    dtype = getattr(torch, s.dtype)
    place = torch.arange(len(embedded), dtype=torch.float64)
    behind = place.unsqueeze(1) - place.unsqueeze(0)  # (T, T) i - j
    x = embedded + _sinusoids(place, s.d_model) if s.positions == "sinusoidal" else embedded
    if s.positions == "learned":
        x = embedded + weights.positions[: len(embedded)]
    bias = None
    if s.positions == "alibi":
        bias = (0.0 - torch.einsum("h,ij->hij", _slopes(s.heads), behind.abs())).to(dtype)
    spin = None
    if s.positions == "rotary":
        rates = torch.tensor([10000.0 ** -(2 * pair / s.d_k) for pair in range(s.d_k // 2)], dtype=torch.float64)
        spin = torch.exp(1j * torch.outer(place, rates))
    scale = s.d_k**-0.5 if s.scale == "on" else 1.0
    return Tables(x.to(dtype), HIDDEN[s.mask_kind](behind, place, s.width), bias, spin, scale / s.temperature)


def full_pass(s: Settings, tables: Tables, weights: Weights, n: int) -> list[FullLayer]:
    """All layers over the first n tokens."""
    h, layers = tables.x[:n], []
    for w in weights.layers:
        layers.append(_layer(s, tables, w, h))
        h = h + layers[-1].out
        h = h if layers[-1].mlp is None else h + layers[-1].mlp
    return layers


def _layer(s: Settings, tables: Tables, w: LayerWeights, h: Tensor) -> FullLayer:
    n, shared = len(h), (s.kv_heads, s.heads // s.kv_heads)
    x = h if w.norm is None else _even(h, w.norm)
    q = torch.einsum("td,de->te", x, w.w_q).reshape(n, *shared, s.d_k)  # (T, K, G, Dk)
    k = torch.einsum("td,de->te", x, w.w_k).reshape(n, s.kv_heads, s.d_k)  # (T, K, Dk)
    v = torch.einsum("td,de->te", x, w.w_v).reshape(n, s.kv_heads, s.d_v)  # (T, K, Dv)
    if tables.spin is not None:
        q, k = _spin(q, tables.spin[:n, None, None], s.pairing), _spin(k, tables.spin[:n, None], s.pairing)
    raw = torch.einsum("ikgd,jkd->kgij", q, k).reshape(s.heads, n, n)
    scores = raw * tables.scale
    if tables.bias is not None:
        scores = scores + tables.bias[:, :n, :n]
    weights = _shares(scores, tables.hidden[:n, :n])  # (H, T, T)
    mixed = torch.einsum("kgij,jkd->ikgd", weights.reshape(*shared, n, n), v).reshape(n, s.heads, s.d_v)
    out = torch.einsum("te,ed->td", mixed.reshape(n, -1), w.w_o)
    heads_first = [part.transpose(0, 1) for part in (q.reshape(n, s.heads, s.d_k), k, v, mixed)]
    mlp = None if w.w_mlp is None else _bend(_even(h + out, w.w_mlp.norm), w.w_mlp)
    return FullLayer(h, x, *heads_first[:3], raw, weights, heads_first[3], out, mlp)


def _even(h: Tensor, norm: Norm) -> Tensor:
    """Each row less its mean, over its standard deviation, times gain, plus shift."""
    wide = h.to(torch.promote_types(h.dtype, torch.float32))
    centred = wide - wide.mean(1, keepdim=True)
    spread = (centred.square().mean(1, keepdim=True) + norm.eps).sqrt()
    return (centred / spread * norm.gain + norm.shift).to(h.dtype)


def _bend(x: Tensor, w: Mlp) -> Tensor:
    """Two affine maps; between them each number times the share of a normal distribution that lies below it."""
    inner = torch.einsum("td,df->tf", x, w.w_in) + w.b_in
    below = torch.special.ndtr(inner.to(torch.promote_types(x.dtype, torch.float32)))
    return torch.einsum("tf,fd->td", (inner * below).to(x.dtype), w.w_out) + w.b_out


def _shares(scores: Tensor, hidden: Tensor) -> Tensor:
    """exp(score - the row's largest) over its sum, hidden keys left out; a row reads at least itself."""
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32)).masked_fill(hidden, float("-inf"))
    powers = (wide - wide.amax(2, keepdim=True)).exp()
    return (powers / powers.sum(2, keepdim=True)).to(scores.dtype)


def _sinusoids(place: Tensor, d_model: int) -> Tensor:
    """(T, d_model): the sine of place * 10000^(-2*(c // 2)/d_model) in column c, the cosine if c is odd."""
    column = torch.arange(d_model)
    rates = torch.pow(10000.0, -(column - column % 2).to(torch.float64) / d_model)
    angles = torch.outer(place, rates)
    return torch.where(column % 2 == 0, angles.sin(), angles.cos())


def _spin(x: Tensor, spin: Tensor, pairing: str) -> Tensor:
    """Each pair of features of x (..., Dk) as one complex number, times a number of length 1."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    half = x.shape[-1] // 2
    pairs = wide.unflatten(-1, (half, 2)) if pairing == "interleaved" else wide.unflatten(-1, (2, half)).mT
    numbers = torch.view_as_complex(pairs.contiguous())
    turned = torch.view_as_real(numbers * spin.to(numbers.dtype))  # (..., Dk/2, 2)
    return (turned if pairing == "interleaved" else turned.mT).flatten(-2).to(x.dtype)


def _slopes(n_heads: int) -> Tensor:
    """(H,): a geometric sequence from 2^(-8/n), filled up from one twice as long if H is no power of two."""
    power = 1
    while power * 2 <= n_heads:
        power *= 2
    exponents = [(head + 1) / power for head in range(power)]
    exponents += [(2 * head + 1) / (2 * power) for head in range(n_heads - power)]
    return torch.tensor(exponents, dtype=torch.float64).mul(-8.0).exp2()


HIDDEN = {
    "bidirectional": lambda behind, place, width: behind.isnan(),
    "causal": lambda behind, place, width: behind < 0,
    "window": lambda behind, place, width: (behind < 0) | (behind > width - 1),
    "prefix": lambda behind, place, width: (behind < 0) & (place > width - 1),
}
