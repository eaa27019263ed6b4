"""What attention means, written again in plain numpy and loops, for the tests to compare with.

Nothing here imports the package. Axes: H heads, T tokens, D features; i asks, j answers.
"""

import math

import numpy as np


def softmax(scores, visible=None):
    """Along the last axis, over visible keys only; a row that sees none gives zeros."""
    scores = np.asarray(scores, dtype=np.float64)
    visible = np.ones(scores.shape, bool) if visible is None else np.broadcast_to(visible, scores.shape)
    weights = np.zeros(scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        keys = np.flatnonzero(visible[row])
        if len(keys):
            powers = np.exp(scores[row][keys] - scores[row][keys].max())
            weights[row][keys] = powers / powers.sum()
    return weights


def mask(kind, n, width):
    """(n, n) bool, one cell at a time."""
    rules = {
        "bidirectional": lambda i, j: True,
        "causal": lambda i, j: j <= i,
        "window": lambda i, j: i - width < j <= i,
        "prefix": lambda i, j: j <= i or j < width,
    }
    return np.array([[rules[kind](i, j) for j in range(n)] for i in range(n)])


def sinusoid(n, d_model, start=0):
    table = np.zeros((n, d_model))
    for t in range(n):
        for c in range(d_model):
            angle = (start + t) / 10000.0 ** ((c - c % 2) / d_model)
            table[t, c] = math.cos(angle) if c % 2 else math.sin(angle)
    return table


def rotate(x, positions, pairing):
    """x (..., T, D), each pair of features times a 2x2 rotation."""
    x, d = np.asarray(x, dtype=np.float64), np.shape(x)[-1]
    turned = np.zeros_like(x)
    for t, position in enumerate(positions):
        for i in range(d // 2):
            a, b = (2 * i, 2 * i + 1) if pairing == "interleaved" else (i, i + d // 2)
            angle = position * 10000.0 ** (-2 * i / d)
            rotation = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
            turned[..., t, [a, b]] = x[..., t, [a, b]] @ rotation.T
    return turned


def slopes(n_heads):
    """The ALiBi authors' recursion."""
    if math.log2(n_heads).is_integer():
        start = 2 ** (-(2 ** -(math.log2(n_heads) - 3)))
        return [start * start**i for i in range(n_heads)]
    closest = 2 ** math.floor(math.log2(n_heads))
    return slopes(closest) + slopes(2 * closest)[0::2][: n_heads - closest]


def alibi(n_heads, n):
    distance = np.array([[abs(i - j) for j in range(n)] for i in range(n)])
    return -np.array(slopes(n_heads))[:, None, None] * distance
