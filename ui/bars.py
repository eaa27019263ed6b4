"""Bars beside bars: pure functions of numbers and labels. Imported only where one is wanted: plotly is heavy."""

from typing import NamedTuple

import plotly.graph_objects as go

from ui.figures import literal

COLOURS = {"light": ("#2f78bd", "#d98324"), "dark": ("#5aa5e6", "#f2a14a")}  # told apart without red or green
BAR, ABOVE, TALL = 18, 66, 260  # pixels


class Series(NamedTuple):
    """One value a label, 0..1."""

    name: str
    values: list[float]


def across(labels: list[str], series: list[Series], title: str, theme: str = "light") -> go.Figure:
    """Bars that lie, the first label on top, each with its number: probabilities of words."""
    places = list(range(len(labels)))
    figure = go.Figure(
        [
            go.Bar(
                x=one.values,
                y=places,
                orientation="h",
                name=literal(one.name),
                text=[f"{value:.2f}" for value in one.values],
                textposition="outside",
                cliponaxis=False,
                textfont_size=12,
                constraintext="none",
                marker_color=COLOURS[theme][number],
                customdata=[literal(label) for label in labels],
                hovertemplate="%{customdata}: %{x:.4f}",
            )
            for number, one in enumerate(series)
        ]
    )
    figure.update_layout(height=ABOVE + (BAR * len(series) + 8) * len(labels), **_look(len(series)))
    figure.update_xaxes(range=[0, 1.08], title=literal(title), side="top", tickvals=[0, 0.5, 1], zeroline=False)
    figure.update_yaxes(range=[len(labels) - 0.5, -0.5], **_ticks(labels), showgrid=False)
    return figure


def upright(labels: list[str], series: list[Series], title: str, theme: str = "light") -> go.Figure:
    """Bars that stand, one group a token: the weights of a row."""
    places = list(range(len(labels)))
    figure = go.Figure(
        [
            go.Bar(
                x=places,
                y=one.values,
                name=literal(one.name),
                marker_color=COLOURS[theme][number],
                customdata=[literal(label) for label in labels],
                hovertemplate="%{customdata}: %{y:.4f}",
            )
            for number, one in enumerate(series)
        ]
    )
    figure.update_layout(height=TALL, **_look(len(series)))
    figure.update_yaxes(range=[0, 1.02], title=literal(title), tickvals=[0, 0.5, 1], zeroline=False)
    figure.update_xaxes(**_ticks(labels), showgrid=False, tickangle=-60, fixedrange=True)
    return figure


def _look(n_series: int) -> dict:
    return {
        "barmode": "group",
        "bargap": 0.3,
        "showlegend": n_series > 1,
        "legend": {"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top", "traceorder": "normal"},
        "margin": {"l": 10, "r": 10, "t": ABOVE - 20, "b": 10},
        "dragmode": False,
    }


def _ticks(labels: list[str]) -> dict:
    """Integer positions with labels: equal words stay apart."""
    ticks = [literal(label) for label in labels]
    places = list(range(len(labels)))
    return {"type": "linear", "tickmode": "array", "tickvals": places, "ticktext": ticks, "automargin": True}
