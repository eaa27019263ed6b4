"""Every matrix of one layer and one head, by name: what the inspector shows and the CSV holds."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from torch import Tensor, float64

from attention import DecodeRun, LayerRun
from attention.tokens import visible
from ui import ranges
from ui.ranges import Scale


class Head(NamedTuple):
    """Where in the tensors one head is, 0-based. kv: the key/value head that it reads."""

    q: int
    kv: int
    d_k: int
    d_v: int


class Kind(NamedTuple):
    """read: the matrix out of a layer. rows, columns: `tokens`, or the axis title of counted features."""

    read: Callable[[LayerRun, Head], Tensor]
    rows: str
    columns: str
    scale: str  # a function of ui/ranges.py, or "weights"


class Matrix(NamedTuple):
    """values (R, C) float64. hidden (R, C) bool, True where the mask hides the cell, or None."""

    name: str
    values: np.ndarray
    hidden: np.ndarray | None
    rows: list[str]
    columns: list[str]
    kind: Kind
    scale: Scale


def _block(size: str, place: str, tensor: str) -> Callable[[LayerRun, Head], Tensor]:
    """The columns of a projection that belong to the head."""

    def read(one: LayerRun, head: Head) -> Tensor:
        width, at = getattr(head, size), getattr(head, place)
        return getattr(one, tensor)[:, at * width : (at + 1) * width]

    return read


KINDS = {
    "x": Kind(lambda one, head: one.x, "tokens", "inputs", "vectors"),
    "w_q": Kind(_block("d_k", "q", "w_q"), "inputs", "mixed_features", "projections"),
    "w_k": Kind(_block("d_k", "kv", "w_k"), "inputs", "mixed_features", "projections"),
    "w_v": Kind(_block("d_v", "kv", "w_v"), "inputs", "mixed_features", "projections"),
    "q": Kind(lambda one, head: one.q[head.q], "tokens", "mixed_features", "vectors"),
    "k": Kind(lambda one, head: one.k[head.kv], "tokens", "mixed_features", "vectors"),
    "v": Kind(lambda one, head: one.v[head.kv], "tokens", "mixed_features", "vectors"),
    "raw": Kind(lambda one, head: one.raw[head.q], "tokens", "tokens", "scores"),
    "scaled": Kind(lambda one, head: one.scaled[head.q], "tokens", "tokens", "scores"),
    "masked": Kind(lambda one, head: one.masked[head.q], "tokens", "tokens", "scores"),
    "weights": Kind(lambda one, head: one.weights[head.q], "tokens", "tokens", "weights"),
    "mixed": Kind(lambda one, head: one.mixed[head.q], "tokens", "mixed_features", "vectors"),
    "w_o": Kind(
        lambda one, head: one.w_o[head.q * head.d_v : (head.q + 1) * head.d_v],
        "mixed_features",
        "inputs",
        "projections",
    ),
    "out": Kind(lambda one, head: one.out, "tokens", "inputs", "vectors"),
}
# What only trained layers have: a residual that is not X, and an MLP.
TRAINED = {
    "residual": Kind(lambda one, head: one.residual, "tokens", "inputs", "residuals"),
    "mlp": Kind(lambda one, head: one.mlp, "tokens", "inputs", "residuals"),
}


def there(run: DecodeRun) -> list[str]:
    """The names of all matrices of a run, in the order in which they are worked out."""
    one, names = run.layers[0], list(KINDS)
    first = [] if one.norm is None else ["residual"]
    return [*first, *names, *([] if one.mlp is None else ["mlp"])]


def head_of(run: DecodeRun, head: int) -> Head:
    """The head counted from 1."""
    s = run.settings
    return Head(head - 1, (head - 1) * s.kv_heads // s.heads, s.d_k, s.d_v)


def matrix(run: DecodeRun, layer: int, head: int, name: str) -> Matrix:
    """One matrix of the full pass; layer and head count from 1."""
    one, kind = run.layers[layer - 1], (KINDS | TRAINED)[name]
    values = kind.read(one, head_of(run, head)).to(float64).numpy()
    hidden = (~one.visible).numpy() if name in ("masked", "weights") else None
    labels = [f"{place} {visible(token)}" for place, token in enumerate(run.tokens, 1)]

    def along(axis: str, size: int) -> list[str]:
        return labels if axis == "tokens" else [str(place) for place in range(1, size + 1)]

    scale = ranges.WEIGHTS
    if kind.scale != "weights":
        most = getattr(ranges, kind.scale)(run)
        scale = Scale(-most, most, True)
    rows, columns = along(kind.rows, values.shape[0]), along(kind.columns, values.shape[1])
    return Matrix(name, values, hidden, rows, columns, kind, scale)
