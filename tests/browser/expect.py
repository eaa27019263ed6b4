"""What the stage has to show, worked out from the run and the contract's words, not from the stage's code."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import attention


@lru_cache(maxsize=32)
def _run(settings):
    return attention.run(attention.Settings(**dict(settings)))


def run_of(**settings):
    """The run of these settings (a link's names and values)."""
    return _run(tuple(sorted(settings.items())))


def array(tensor) -> np.ndarray:
    return tensor.detach().double().numpy() if tensor.is_floating_point() else tensor.numpy()


def kv_states(run, step: int) -> list[str]:
    """The state of each K and V row at this step (0-based index of the last token taken in)."""
    settings, n = run.settings, len(run.tokens)
    width = settings.width if settings.mask == "window" else n
    prefill = step == settings.prompt - 1

    def state(row: int) -> str:
        if row > step:
            return "future"
        if row == step or prefill:
            return "now"
        return "evicted" if row <= step - width else "cached"

    return [state(row) for row in range(n)]


def score_state(run, step: int, row: int, col: int, layer: int = 0) -> str:
    """The state of one cell of the score and weight squares."""
    prompt = run.settings.prompt
    own_step = max(row, prompt - 1)  # the step in which this query was worked out
    if max(row, col) > step:
        return "future"
    if col > own_step:
        return "never"
    if not bool(run.layers[layer].cached_visible[row, col]):
        return "masked"
    return "now" if own_step == step else "earlier"


def same(shown: float | None, number: float, dtype: str = "float32") -> bool:
    """Whether the written number is this element: in the element's own precision, not merely near it."""
    if shown is None:
        return False
    narrow = np.float64 if dtype == "float64" else np.float32
    return bool(narrow(shown) == narrow(number)) or abs(shown - number) <= 1e-8 * max(1.0, abs(number))


def assert_grid(grid: dict[tuple[int, int], float | None], matrix: np.ndarray, dtype: str = "float32") -> None:
    """Every cell that shows a number shows this matrix's number at its row and column."""
    wrong = {at: (value, matrix[at]) for at, value in grid.items()
             if value is not None and not same(value, matrix[at], dtype)}  # fmt: skip
    assert not wrong, f"{len(wrong)} of {len(grid)} cells differ, for example {next(iter(wrong.items()))}"
