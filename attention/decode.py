"""The cached path: the prompt in one step, then one token a step, each row's keys and values written once.

A trained source goes on where the text ends: each new token is chosen from this path's own probabilities and
taken in like those that were typed. The breaks live here: they spoil this path alone (`causal` also the
recompute), so that the twin shows what went wrong.
Axes: H query heads, Hk key/value heads, T tokens, Dk Dv widths of one head; rows are queries, columns keys.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from .cache import KVCache
from .core import attend, merge_heads, repeat_kv, split_heads
from .generate import choose
from .masks import bidirectional, causal, prefix_lm, sliding_window
from .positions import linear_bias, rotary_table, sinusoid, turn
from .settings import Settings
from .weights import LayerWeights, Mlp, Norm, Weights, Words

MASKS = {
    "bidirectional": lambda n, width: bidirectional(n, n),
    "causal": lambda n, width: causal(n, n),
    "window": lambda n, width: sliding_window(n, n, width),
    "prefix": lambda n, width: prefix_lm(n, n, width),
}
# What is added to the embeddings of tokens that are told the positions `signal` (T,): (T, d_model) float64.
SIGNALS = {
    "sinusoidal": lambda signal, s, weights: sinusoid(signal, s.d_model),
    "learned": lambda signal, s, weights: weights.positions[signal],
}


@dataclass(frozen=True, eq=False)
class Plan:
    """What is known before the first step: where each token takes its place and what its row may read."""

    told: Tensor | None  # (T, d_model) float64, added to the embeddings
    visible: Tensor  # (T, T) bool: the row may read the column at its own step
    present: Tensor  # (T, T) bool: the column's key is there at the row's own step
    sees_all: list[bool]  # per row: nothing that is there is hidden
    bias: Tensor | None  # (H, T, T)
    turns: tuple[Tensor, Tensor] | None  # cos, sin (T, Dk/2)
    scale: float
    window: int | None

    def first(self, n: int) -> "Plan":
        """The plan of the first n tokens, where a text ended before all that were planned for. It has no bias."""
        if n == len(self.visible):
            return self
        squares = {"visible": self.visible[:n, :n], "present": self.present[:n, :n]}
        return replace(self, told=self.told[:n], sees_all=self.sees_all[:n], **squares)


@dataclass(frozen=True, eq=False)
class CachedLayer:
    """One layer as the cached run worked it out, row by row."""

    residual: Tensor  # (T, d_model) what the layer is given
    x: Tensor  # (T, d_model) the same after its norm, if it has one
    q: Tensor  # (H, T, Dk)
    k: Tensor  # (Hk, T, Dk) as written into the cache
    v: Tensor  # (Hk, T, Dv) as written into the cache
    raw: Tensor  # (H, T, T) NaN where nobody worked the score out
    weights: Tensor  # (H, T, T) 0 there
    mixed: Tensor  # (H, T, Dv)
    out: Tensor  # (T, d_model)
    mlp: Tensor | None  # (T, d_model) what the MLP, if there is one, makes of residual + out


@dataclass(frozen=True, eq=False)
class Decoded:
    """The cached run as a whole."""

    layers: list[CachedLayer]
    probabilities: Tensor | None  # (T, V) float32 of the next word, where the source has words
    generated: tuple[int, ...]  # ids of the tokens after the text


def make_plan(s: Settings, weights: Weights) -> Plan:
    """The plan of the cached run, breaks included, for as many tokens as it may have."""
    n, dtype = s.most_tokens, getattr(torch, s.dtype)
    place = torch.arange(n)
    decoded = place >= s.prompt  # tokens that come one by one
    signal = torch.where(decoded, place - s.prompt, place) if "position" in s.breaks else place
    window = s.width if s.mask_kind == "window" else None
    present = present_keys(n, s.prompt, window)
    rule = MASKS[s.mask_kind](n, s.width)
    if "mask" in s.breaks:
        rule = torch.where(decoded[:, None], rule[0], rule)
    visible = rule & present
    bias = linear_bias(s.heads, signal[:, None] - signal).to(dtype) if s.positions == "alibi" else None
    turns = rotary_table(signal, s.d_k) if s.positions == "rotary" else None
    scale = (1.0 / math.sqrt(s.d_k) if s.scale == "on" else 1.0) / s.temperature
    told = SIGNALS[s.positions](signal, s, weights) if s.positions in SIGNALS else None
    return Plan(told, visible, present, (visible == present).all(1).tolist(), bias, turns, scale, window)


def present_keys(n: int, prompt: int, window: int | None) -> Tensor:
    """(n, n): whose keys are there as a row is worked out, the prompt's for its rows, then what is held."""
    row, column = torch.arange(n)[:, None], torch.arange(n)
    held = column <= row
    if window is not None:
        held &= column > row - window
    return torch.where(row < prompt, column < prompt, held)


def decode(s: Settings, plan: Plan, weights: Weights) -> Decoded:
    """Prefill, a step for each further token, then a step for each token that the source adds by itself.

    It stops before the word that ends a document, or at the last token that was planned for.
    """
    caches = [KVCache.empty(s.kv_heads, s.d_k, s.d_v, plan.window) for _ in weights.layers]
    rows, generated, rng = _entering(s, plan, weights.embedded, 0), [], np.random.default_rng(s.sampling_seed)
    steps, shares = [], []
    for start, stop in [(0, s.prompt), *((t, t + 1) for t in range(s.prompt, len(plan.visible)))]:
        if start == len(rows):  # the text is over
            chosen = choose(s, shares[-1][-1], rng)
            if chosen == s.model.vocabulary.end:
                break
            generated.append(chosen)
            rows = torch.cat((rows, _entering(s, plan, s.model.embedding[[chosen]].double(), start)))
        step, last, caches = _step(s, plan, weights, rows[start:stop], caches, slice(start, stop))
        steps.append(step)
        shares += [] if weights.words is None else [_probabilities(weights.words, last)]
    layers = [_join(parts, len(rows)) for parts in zip(*steps, strict=True)]
    return Decoded(layers, torch.cat(shares) if shares else None, tuple(generated))


def _entering(s: Settings, plan: Plan, embedded: Tensor, start: int) -> Tensor:
    """Rows (Tq, d_model) of the tokens from place `start` on, as they enter the first layer."""
    if plan.told is not None:
        embedded = embedded + plan.told[start : start + len(embedded)]
    return embedded.to(getattr(torch, s.dtype))


def _step(s, plan: Plan, weights: Weights, h: Tensor, caches: list[KVCache], step: slice):
    """All layers of one step over its rows h (Tq, d_model): their records, the rows that leave, the grown caches."""
    done, grown = [], []
    for w, cache in zip(weights.layers, caches, strict=True):
        layer, cache = _layer_step(s, plan, w, h, cache, step)
        done.append(layer)
        grown.append(cache)
        h = h + layer.out if layer.mlp is None else h + layer.out + layer.mlp
    return done, h, grown


def _layer_step(s, plan: Plan, w: LayerWeights, h: Tensor, cache: KVCache, step: slice) -> tuple[CachedLayer, KVCache]:
    """One layer of one step over h (Tq, d_model): its rows against the keys there, and the grown cache."""
    x = h if w.norm is None else _normed(h, w.norm)
    q, k, v = _project(s, plan, w, x, step)
    if "stale" in s.breaks and step.start == s.prompt:
        k = cache.k[:, -1:]  # the slot was never refreshed: it still holds the token before
    grown = cache.append(k, v)
    keys, values = (k, v) if step.start == 0 else (grown.k, grown.v)  # (Hk, Tk, D)
    there = slice(step.stop - keys.shape[1], step.stop)
    visible = None if step.start and plan.sees_all[step.start] else plan.visible[step, there]
    bias = None if plan.bias is None else plan.bias[:, step, there]
    n_rep = s.heads // s.kv_heads
    trace = attend(q, repeat_kv(keys, n_rep), repeat_kv(values, n_rep), visible, scale=plan.scale, bias=bias)
    out = merge_heads(trace.mixed) @ w.w_o  # (Tq, d_model)
    mlp = None if w.w_mlp is None else _mlp(h + out, w.w_mlp)
    return CachedLayer(h, x, q, k, v, trace.raw, trace.weights, trace.mixed, out, mlp), grown


def _normed(h: Tensor, norm: Norm) -> Tensor:
    """Layer norm of each row. Ba et al. 2016, "Layer Normalization", section 3."""
    return F.layer_norm(h, h.shape[-1:], norm.gain, norm.shift, norm.eps)


def _mlp(h: Tensor, w: Mlp) -> Tensor:
    """Hendrycks and Gimpel 2016, "Gaussian Error Linear Units", for the bend between its two maps."""
    return F.gelu(_normed(h, w.norm) @ w.w_in + w.b_in) @ w.w_out + w.b_out


def _probabilities(words: Words, h: Tensor) -> Tensor:
    """(Tq, V) float32, each row summing to 1."""
    logits = _normed(h, words.norm) @ words.embedding.T
    return torch.softmax(logits.to(torch.promote_types(logits.dtype, torch.float32)), -1).float()


def _join(steps: tuple[CachedLayer, ...], n: int) -> CachedLayer:
    """The rows of all steps under each other; scores in squares over all n keys."""

    def rows(name: str) -> Tensor:
        return torch.cat([getattr(step, name) for step in steps], dim=-2)

    residual, q = rows("residual"), rows("q")
    x = residual if steps[0].x is steps[0].residual else rows("x")
    mlp = None if steps[0].mlp is None else rows("mlp")
    raw = x.new_full((len(q), n, n), math.nan)  # (H, T, T)
    weights = x.new_zeros((len(q), n, n))
    stop = 0
    for step in steps:
        start, stop = stop, stop + len(step.x)
        there = slice(stop - step.raw.shape[-1], stop)
        raw[:, start:stop, there] = step.raw
        weights[:, start:stop, there] = step.weights
    return CachedLayer(residual, x, q, rows("k"), rows("v"), raw, weights, rows("mixed"), rows("out"), mlp)


def _project(s, plan: Plan, w: LayerWeights, x: Tensor, step: slice) -> tuple[Tensor, Tensor, Tensor]:
    """q (H, Tq, Dk), k (Hk, Tq, Dk), v (Hk, Tq, Dv) of this step's rows, turned if positions are rotary."""
    q, k, v = (
        split_heads(x @ w.w_q, s.heads),
        split_heads(x @ w.w_k, s.kv_heads),
        split_heads(x @ w.w_v, s.kv_heads),
    )
    if plan.turns is not None:
        cos, sin = plan.turns
        q, k = turn(torch.cat((q, k)), cos[step], sin[step], s.pairing).split((s.heads, s.kv_heads))
    return q, k, v
