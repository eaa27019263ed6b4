"""Colour ranges of a whole run: one per kind of number, so that a colour means the same everywhere in it.

They cover the full pass and the cached run alike. Weights need none: they always run from 0 to 1.
"""

import math
from typing import NamedTuple

from torch import Tensor, isfinite

from attention import DecodeRun

_ROUND = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


class Scale(NamedTuple):
    """A range to colour by; `diverging` has two hues and 0 in the middle."""

    low: float
    high: float
    diverging: bool


WEIGHTS = Scale(0.0, 1.0, False)
_VECTORS = tuple(path + name for path in ("", "cached_") for name in ("x", "q", "k", "v", "mixed", "out"))


def scores(run: DecodeRun) -> float:
    """The limit L of all raw and scaled scores, bias included: colours run over -L to +L."""
    layers = run.layers
    return limit(t for one in layers for t in (one.raw, one.scaled, one.cached_raw, one.cached_scaled))


def vectors(run: DecodeRun) -> float:
    """The limit of x, q, k, v, the mixed values and the output."""
    return limit(getattr(one, name) for one in run.layers for name in _VECTORS)


def residuals(run: DecodeRun) -> float:
    """The limit of the rows that a layer is given, before any norm, and of what it adds to them."""
    parts = (part for one in run.layers for part in (one.residual, one.out, one.mlp))
    return limit(part for part in parts if part is not None)


def projections(run: DecodeRun) -> float:
    """The limit of the weight matrices."""
    return limit(t for one in run.layers for t in (one.w_q, one.w_k, one.w_v, one.w_o))


def limit(tensors) -> float:
    """The largest finite magnitude in `tensors`, rounded up to a number that reads well; 1 where all is 0."""
    return round_up(max(map(_largest, tensors), default=0.0))


def round_up(number: float) -> float:
    """The next of 1, 1.2, 1.5, 2 … 10 times a power of ten, upwards; 1 for 0."""
    if number <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(number))
    step = next(step for step in (*_ROUND, 12) if step * power >= number * (1 - 1e-9))
    return float(f"{step * power:.3g}")


def _largest(tensor: Tensor) -> float:
    sizes = tensor.abs()
    return sizes.where(isfinite(sizes), 0.0).amax().item()
