"""Plotly figures: pure functions of numbers and labels. Imported only where one is wanted: plotly is heavy.

Axes are integer positions with labels beside them, never categories: two tokens `the` stay two rows.
"""

import unicodedata
from html import escape
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from ui.ranges import Scale

# The maps of the stage (ui/stage/03-colour.js), so that a colour means the same number in both.
RAMPS = {
    "light": {
        "weight": ["#f6f8fb", "#cfe0f2", "#8dbbe2", "#3f86c4", "#0d4a8f", "#062a5c"],
        "signed": ["#7d0f1d", "#c23b3f", "#ec9d8f", "#f7f6f5", "#96bfe6", "#2f78bd", "#0b3d78"],
    },
    "dark": {
        "weight": ["#1d232d", "#20405f", "#2c69a0", "#4f9ad8", "#97c9f2", "#e3f2ff"],
        "signed": ["#ffc4b6", "#ee7766", "#8c3a36", "#272c35", "#2a5a8c", "#5aa5e6", "#c6e4ff"],
    },
}
CURVE = 0.6
STOPS = 64
HIDDEN = {"light": "#dcdee3", "dark": "#4a4f5c"}  # greys that neither map has

EVERY_LABEL = (
    40  # up to this many rows each has its label; beyond, plotly picks those that fit, at every zoom
)
CELL, LEAST, MOST = 30, 200, 640  # pixels of a cell, and of the shorter and longer sides
BAR = 64  # pixels above the matrix for the colour bar


class Axis(NamedTuple):
    """`title` in words; one label a row or column, as text that is shown literally."""

    title: str
    labels: list[str]


class Words(NamedTuple):
    """What the hover says besides the labels; `sign` stands in each hidden cell."""

    value: str
    hidden: str
    sign: str = ""


class Cells(NamedTuple):
    """values (R, C), row 1 on top. hidden (R, C) bool or None: cells without a number, in their own look."""

    values: np.ndarray
    hidden: np.ndarray | None
    square: bool  # queries × keys: cells are drawn square at every size


def heatmap(
    cells: Cells, rows: Axis, columns: Axis, scale: Scale, words: Words, theme: str = "light", keep: str = ""
) -> go.Figure:
    """One matrix. theme: "light" or "dark". Figures with the same `keep` share zoom and pan."""
    place = "%{y} · %{x}<br>"
    none = np.zeros(cells.values.shape, bool) if cells.hidden is None else cells.hidden
    shown = go.Heatmap(
        z=np.where(none, np.nan, cells.values),
        zmin=scale.low,
        zmax=scale.high,
        colorscale=colours(scale, theme),
        colorbar=_bar(scale),
        hoverongaps=False,
        hovertemplate=f"{place}{literal(words.value)} %{{z:.6~g}}<extra></extra>",
    )
    gaps = go.Heatmap(
        z=np.where(none, 0.0, np.nan),
        colorscale=[[0, HIDDEN[theme]], [1, HIDDEN[theme]]],
        showscale=False,
        hoverongaps=False,
        hovertemplate=f"{place}{literal(words.hidden)}<extra></extra>",
        **_signs(none, words.sign),
    )
    figure = go.Figure([shown, gaps] if none.any() else [shown])
    figure.update_layout(
        xaxis=_axis(columns, across=True), yaxis=_axis(rows), uirevision=keep, **_sizes(rows, columns)
    )
    if cells.square:
        figure.update_yaxes(scaleanchor="x", constrain="domain", constraintoward="top")
        figure.update_xaxes(constrain="domain", constraintoward="left")
    return figure


def _signs(none: np.ndarray, sign: str) -> dict:
    """The sign in each hidden cell, where cells are large enough to hold it."""
    if not sign or max(none.shape) > EVERY_LABEL:
        return {}
    return {"text": np.where(none, sign, "").tolist(), "texttemplate": "%{text}"}


def colours(scale: Scale, theme: str) -> list[tuple[float, str]]:
    """A plotly colour scale, bent as the stage bends it: small numbers stay visible."""
    ramp = RAMPS[theme]["signed" if scale.diverging else "weight"]
    places = np.linspace(0, 1, STOPS + 1)
    if scale.diverging:
        sides = 2 * places - 1
        bent = 0.5 + np.sign(sides) * np.abs(sides) ** CURVE / 2
    else:
        bent = places**CURVE
    channels = np.array([[int(stop[at : at + 2], 16) for at in (1, 3, 5)] for stop in ramp])
    mixed = [
        np.interp(bent, np.linspace(0, 1, len(ramp)), channel).round().astype(int) for channel in channels.T
    ]
    return [(float(p), f"rgb({r},{g},{b})") for p, r, g, b in zip(places, *mixed, strict=True)]


def literal(text: str) -> str:
    """Text for plotly's little HTML, with its tags and its TeX switched off."""
    return escape(text, quote=False).replace("$", "&#36;")


def _bar(scale: Scale) -> dict:
    """A colour bar on top, at the left: beside a square it would float far away."""
    return {
        "orientation": "h",
        "lenmode": "pixels",
        "len": 220,
        "thickness": 10,
        "outlinewidth": 0,
        "tickformat": "~g",
        "tickvals": sorted({scale.low, (scale.low + scale.high) / 2, scale.high}),
        "x": 0,
        "xanchor": "left",
        "yref": "container",
        "y": 1,
        "yanchor": "top",
    }


def _axis(axis: Axis, across: bool = False) -> dict:
    n = len(axis.labels)
    labels = [literal(label) for label in axis.labels]
    look = {
        "title": {"text": literal(axis.title)},
        "range": [-0.5, n - 0.5] if across else [n - 0.5, -0.5],
        "type": "linear",
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
    }
    if across:
        look |= {"side": "top", "tickangle": 0 if _widest(axis.labels) < CELL else -60}
    if n <= EVERY_LABEL:
        return look | {"tickmode": "array", "tickvals": list(range(n)), "ticktext": labels}
    names = {str(place): label for place, label in enumerate(labels)}
    return look | {
        "nticks": EVERY_LABEL // 2,
        "labelalias": names | {f"{place}.5": "" for place in range(-1, n)},
    }


def _sizes(rows: Axis, columns: Axis) -> dict:
    """Cells of one size as far as they fit."""
    cell = min(CELL, MOST / max(len(rows.labels), len(columns.labels)))
    across, down = (max(LEAST, cell * len(axis.labels)) for axis in (columns, rows))
    above = 40 + (18 if _widest(columns.labels) < CELL else _widest(columns.labels))
    return {
        "width": int(across + 94 + _widest(rows.labels)),
        "height": int(down + BAR + above),
        "margin": {"l": 10, "r": 44, "t": BAR, "b": 10},
        "modebar": {"orientation": "v"},
    }


def _widest(labels: list[str]) -> int:
    """Pixels of the widest label, about."""
    return max(sum(13 if unicodedata.east_asian_width(c) in "WF" else 7 for c in label) for label in labels)
