"""Two sentences a word apart, through the same model: which rows come out differently, stage by stage.

Everything is read off two full passes. A difference of two rows a and b is sum|a - b| / sum(|a| + |b|): 0 where they
are the same, at most 1. Of two rows of weights or of probabilities it is the share that has moved, half of sum|a - b|.
"""

from typing import NamedTuple

import numpy as np
from torch import Tensor, float64

from attention import DecodeRun, Settings, SettingsError
from attention.tokens import visible
from ui import matrices

STAGES = ("x", "q", "k", "v", "scaled", "weights", "mixed", "out")
STAND_IN = {"encoder": "bidirectional"}  # masks of random weights; every other source is causal


class Twins(NamedTuple):
    """Two runs of the same model, token beside token. `changed` are the places, from 0, where they differ."""

    one: DecodeRun
    other: DecodeRun
    changed: list[int]

    @property
    def labels(self) -> list[str]:
        """Both tokens where there are two."""
        pairs = zip(self.one.tokens, self.other.tokens, strict=True)
        return [f"{at} {' / '.join(dict.fromkeys(map(visible, pair)))}" for at, pair in enumerate(pairs, 1)]

    @property
    def blind(self) -> np.ndarray:
        """(T,) bool: rows that cannot differ, since neither they nor anything below them reads a changed token."""
        reads = self.one.layers[0].visible.numpy()
        touched = np.isin(np.arange(len(reads)), self.changed)
        for _ in self.one.layers:
            touched = touched | (reads & touched).any(axis=1)
        return ~touched


def settings_of(sentence: str, source: str) -> Settings:
    """Settings of one of the two; random weights of the same shape where the model's file cannot be used."""
    try:
        return Settings(sentence, source=source)
    except SettingsError as error:
        if error.field != "source":
            raise
        return Settings(sentence, layers=2, mask=STAND_IN.get(source, "causal"))


def pair(one: DecodeRun, other: DecodeRun) -> Twins:
    """Both runs have as many tokens. Two words that the model lacks, in the same slot, are no change to it."""
    words = (one.tokens, other.tokens) if one.ids is None else (one.ids, other.ids)
    changed = [at for at, (a, b) in enumerate(zip(*words, strict=True)) if a != b]
    return Twins(one, other, changed)


def stages(twins: Twins) -> list[tuple[int, str]]:
    """The columns of `differences`: (layer from 1, stage), in the order in which a row meets them."""
    return [(layer, stage) for layer in range(1, len(twins.one.layers) + 1) for stage in STAGES]


def differences(twins: Twins, head: int) -> np.ndarray:
    """(T, stages) 0..1 for one head, counted from 1; with a last column for the words, where the model has any."""
    where = matrices.head_of(twins.one, head)
    columns = []
    for layer, stage in stages(twins):
        pair = [run.layers[layer - 1] for run in (twins.one, twins.other)]
        a, b = (matrices.KINDS[stage].read(one, where) for one in pair)
        columns.append(apart(a, b, pair[0].visible if stage == "scaled" else None))
    if twins.one.probabilities is not None:
        columns.append(apart(twins.one.probabilities, twins.other.probabilities))
    return np.stack(columns, axis=1)


def apart(a: Tensor, b: Tensor, counted: Tensor | None = None) -> np.ndarray:
    """(T,) 0..1: how far the rows of a (T, D) and b are apart, over the cells that are `counted`."""
    a, b = (part.to(float64) if counted is None else part.to(float64).where(counted, 0.0) for part in (a, b))
    size = (a.abs() + b.abs()).sum(-1)
    return ((a - b).abs().sum(-1) / size.where(size > 0, 1.0)).numpy()


def reads(run: DecodeRun, layer: int, head: int, row: int) -> list[float]:
    """The weights of one row; layer and head count from 1, the row from 0."""
    return run.layers[layer - 1].weights[head - 1, row].tolist()


def telling_row(twins: Twins, head: int) -> int:
    """The row before the changed word whose weights of the last layer move most, from 0: `it`, if all is well."""
    first = twins.changed[0]
    layers = [run.layers[-1].weights[head - 1] for run in (twins.one, twins.other)]
    moved = apart(*layers)[:first]
    return int(moved.argmax()) if len(moved) and moved.max() > 0.05 else first
