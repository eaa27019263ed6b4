"""Plotly figures: pure functions of numbers and labels. Imported only where a figure is wanted: plotly is heavy.

Axes are integer positions with labels beside them, never categories: two tokens `the` stay two rows.
"""

from html import escape
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from ui.ranges import Scale

# Red, white, blue (ColorBrewer RdBu) and white to deep blue: both can be told apart without red-green vision.
DIVERGING = ["#b2182b", "#d6604d", "#f4a582", "#fddbc7", "#f7f7f7", "#d1e5f0", "#92c5de", "#4393c3", "#2166ac"]
SEQUENTIAL = ["#f7fbff", "#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b"]
HIDDEN = [[0, "rgba(128,134,148,0.28)"], [1, "rgba(128,134,148,0.28)"]]
EVERY_LABEL = 40  # up to this many, each row has its label; beyond, plotly picks those that fit, at every zoom
CELL, LEAST, MOST = 26, 260, 640  # pixels


class Axis(NamedTuple):
    """`title` in words; one label a row or column, as text that is shown literally."""

    title: str
    labels: list[str]


class Words(NamedTuple):
    """What the hover says besides the labels."""

    value: str
    hidden: str


class Cells(NamedTuple):
    """values (R, C), row 1 on top. hidden (R, C) bool or None: cells that hold no number, in a look of their own."""

    values: np.ndarray
    hidden: np.ndarray | None
    square: bool  # queries × keys: cells are drawn square


def heatmap(cells: Cells, rows: Axis, columns: Axis, scale: Scale, words: Words, keep: str = "") -> go.Figure:
    """One matrix. Figures with the same `keep` share zoom and pan as one replaces the other."""
    place = "%{y} · %{x}<br>"
    none = np.zeros(cells.values.shape, bool) if cells.hidden is None else cells.hidden
    figure = go.Figure(go.Heatmap(
        z=np.where(none, np.nan, cells.values), zmin=scale.low, zmax=scale.high, hoverongaps=False,
        colorscale=DIVERGING if scale.diverging else SEQUENTIAL,
        colorbar={"thickness": 12, "outlinewidth": 0, "tickformat": "~g"},
        hovertemplate=f"{place}{literal(words.value)} %{{z:.6~g}}<extra></extra>",
    ))  # fmt: skip
    if none.any():
        figure.add_trace(go.Heatmap(
            z=np.where(none, 0.0, np.nan), colorscale=HIDDEN, showscale=False, hoverongaps=False,
            hovertemplate=f"{place}{literal(words.hidden)}<extra></extra>",
        ))  # fmt: skip
    figure.update_layout(
        xaxis=_axis(columns) | {"side": "top"}, yaxis=_axis(rows, downwards=True), uirevision=keep,
        height=_height(len(rows.labels)), margin={"l": 10, "r": 10, "t": 10, "b": 10},
    )  # fmt: skip
    if cells.square:
        figure.update_yaxes(scaleanchor="x", constrain="domain")
        figure.update_xaxes(constrain="domain")
    return figure


def literal(text: str) -> str:
    """Text for plotly's little HTML, with its tags and its TeX switched off."""
    return escape(text, quote=False).replace("$", "&#36;")


def _axis(axis: Axis, downwards: bool = False) -> dict:
    n = len(axis.labels)
    labels = [literal(label) for label in axis.labels]
    ends = [n - 0.5, -0.5] if downwards else [-0.5, n - 0.5]
    look = {"title": {"text": literal(axis.title)}, "range": ends, "type": "linear", "showgrid": False,
            "zeroline": False, "automargin": True}  # fmt: skip
    if n <= EVERY_LABEL:
        return look | {"tickmode": "array", "tickvals": list(range(n)), "ticktext": labels}
    between = {f"{place}.5": "" for place in range(-1, n)}
    return look | {"nticks": EVERY_LABEL // 2, "labelalias": {str(i): label for i, label in enumerate(labels)} | between}


def _height(n_rows: int) -> int:
    return min(max(LEAST, n_rows * CELL + 110), MOST)
