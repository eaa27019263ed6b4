"""The cached path: the prompt in one step, then one token a step, each row's keys and values written once.

The breaks live here: they spoil this path alone (`causal` also the recompute), so that the twin shows what
went wrong.
Axes: H query heads, Hk key/value heads, T tokens, Dk Dv widths of one head; rows are queries, columns keys.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from .cache import KVCache
from .core import attend, merge_heads, repeat_kv, split_heads
from .masks import bidirectional, causal, prefix_lm, sliding_window
from .positions import linear_bias, rotary_table, sinusoid, turn
from .settings import Settings
from .weights import LayerWeights

MASKS = {
    "bidirectional": lambda n, width: bidirectional(n, n),
    "causal": lambda n, width: causal(n, n),
    "window": lambda n, width: sliding_window(n, n, width),
    "prefix": lambda n, width: prefix_lm(n, n, width),
}


@dataclass(frozen=True, eq=False)
class Plan:
    """What is known before the first step: where each token takes its place and what its row may read."""

    signal: Tensor  # (T,) the position each token is told
    visible: Tensor  # (T, T) bool: the row may read the column at its own step
    present: Tensor  # (T, T) bool: the column's key is there at the row's own step
    sees_all: list[bool]  # per row: nothing that is there is hidden
    bias: Tensor | None  # (H, T, T)
    turns: tuple[Tensor, Tensor] | None  # cos, sin (T, Dk/2)
    scale: float
    window: int | None


@dataclass(frozen=True, eq=False)
class CachedLayer:
    """One layer as the cached run worked it out, row by row."""

    x: Tensor  # (T, d_model)
    q: Tensor  # (H, T, Dk)
    k: Tensor  # (Hk, T, Dk) as written into the cache
    v: Tensor  # (Hk, T, Dv) as written into the cache
    raw: Tensor  # (H, T, T) NaN where nobody worked the score out
    weights: Tensor  # (H, T, T) 0 there
    mixed: Tensor  # (H, T, Dv)
    out: Tensor  # (T, d_model)


def make_plan(s: Settings) -> Plan:
    """The plan of the cached run, breaks included."""
    n, dtype = len(s.tokens), getattr(torch, s.dtype)
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
    return Plan(signal, visible, present, (visible == present).all(1).tolist(), bias, turns, scale, window)


def present_keys(n: int, prompt: int, window: int | None) -> Tensor:
    """(n, n): whose keys are there as a row is worked out, the prompt's for its rows, then what is held."""
    row, column = torch.arange(n)[:, None], torch.arange(n)
    held = column <= row
    if window is not None:
        held &= column > row - window
    return torch.where(row < prompt, column < prompt, held)


def decode(s: Settings, plan: Plan, embedded: Tensor, weights: list[LayerWeights]) -> list[CachedLayer]:
    """Run prefill and decode steps over embedded (T, d_model) float64, through one cache a layer."""
    n, dtype = len(s.tokens), getattr(torch, s.dtype)
    if s.positions == "sinusoidal":
        embedded = embedded + sinusoid(plan.signal, s.d_model)
    embedded = embedded.to(dtype)
    layers = [[] for _ in weights]  # per layer, per step: what that step worked out
    caches = [KVCache.empty(s.kv_heads, s.d_k, s.d_v, plan.window) for _ in weights]
    for start, stop in [(0, s.prompt), *((t, t + 1) for t in range(s.prompt, n))]:
        x = embedded[start:stop]
        for i, w in enumerate(weights):
            done, caches[i] = _layer_step(s, plan, w, x, caches[i], slice(start, stop))
            layers[i].append(done)
            x = x + done.out
    return [_join(steps, n) for steps in layers]


def _layer_step(s, plan: Plan, w: LayerWeights, x: Tensor, cache: KVCache, step: slice) -> tuple[CachedLayer, KVCache]:
    """One layer of one step over x (Tq, d_model): its rows against the keys there, and the grown cache."""
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
    return CachedLayer(x, q, k, v, trace.raw, trace.weights, trace.mixed, out), grown


def _join(steps: list[CachedLayer], n: int) -> CachedLayer:
    """The rows of all steps under each other; scores in squares over all n keys."""
    x, q, k, v, mixed, out = (
        torch.cat([getattr(step, name) for step in steps], dim=-2) for name in ("x", "q", "k", "v", "mixed", "out")
    )
    raw = x.new_full((len(q), n, n), math.nan)  # (H, T, T)
    weights = x.new_zeros((len(q), n, n))
    stop = 0
    for step in steps:
        start, stop = stop, stop + len(step.x)
        there = slice(stop - step.raw.shape[-1], stop)
        raw[:, start:stop, there] = step.raw
        weights[:, start:stop, there] = step.weights
    return CachedLayer(x, q, k, v, raw, weights, mixed, out)


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
