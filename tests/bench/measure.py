"""Samples taken in turns, medians, and the table. No time is judged here but by its row's target."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

SAMPLES = 24


@dataclass(frozen=True)
class Row:
    """One line of the table. `figure` is held against `target`; `detail` are the numbers behind it."""

    row: str
    figure: float
    unit: str
    target: str
    met: bool
    detail: str


def at_most(row: str, figure: float, limit: float, unit: str, detail: str) -> Row:
    return Row(row, figure, unit, f"≤ {limit:g}", figure <= limit, detail)


def at_least(row: str, figure: float, limit: float, unit: str, detail: str) -> Row:
    return Row(row, figure, unit, f"≥ {limit:g}", figure >= limit, detail)


def about(row: str, figure: float, limit: float, unit: str, detail: str) -> Row:
    """A soft target: met up to a quarter above it."""
    return Row(row, figure, unit, f"about {limit:g}", figure <= 1.25 * limit, detail)


def in_turns(samplers: dict[str, Callable[[int], float]], samples: int = SAMPLES, warm_up: int = 2) -> dict:
    """Medians of each sampler, called one after the other in every round: all meet the same machine."""
    taken: dict[str, list[float]] = {name: [] for name in samplers}
    for turn in range(-warm_up, samples):
        for name, sample in samplers.items():
            value = sample(turn + warm_up)
            if turn >= 0:
                taken[name].append(value)
    return {name: statistics.median(values) for name, values in taken.items()}


def milliseconds(call: Callable[[], object], repeat: int = 1) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) * 1e3 / repeat


def table(rows: list[Row]) -> str:
    head = ("row", "measured", "target", "", "behind it")
    lines = [head, *map(_line, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[4]]) for line in lines
    )


def _line(row: Row) -> tuple[str, ...]:
    figure = f"{row.figure:.3g} {row.unit}".strip()
    return row.row, figure, row.target, "met" if row.met else "MISSED", row.detail


def as_json(rows: list[Row]) -> list[dict]:
    return [asdict(row) for row in rows]
