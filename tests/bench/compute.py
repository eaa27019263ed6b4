"""Rows that need no page: a whole run, the row of `attend` against SDPA, how steps grow with the tokens."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import scaled_dot_product_attention

import attention
from attention import KVCache
from tests.bench.measure import Row, about, at_least, at_most, in_turns, milliseconds

HEADS, WIDTH, KEYS = 4, 64, 4096
LENGTHS = (512, 1024, 2048, 4096)


def whole_run() -> list[Row]:
    """`run`, both paths, d_model 64, 4 heads, 2 layers, prompt half; each time a new seed."""

    def sampler(n: int):
        text = " ".join(f"w{i}" for i in range(n))
        sizes = {"text": text, "d_model": 64, "heads": 4, "kv_heads": 4, "layers": 2}
        return lambda turn: milliseconds(lambda: attention.run(attention.Settings(seed=turn, **sizes)))

    short, long = (
        in_turns({"64": sampler(64)})["64"],
        in_turns({"512": sampler(512)}, samples=20, warm_up=1)["512"],
    )
    sizes = "d_model 64, 4 heads, 2 layers, both paths"
    return [
        about("run, 64 tokens", short, 60, "ms", sizes),
        about("run, 512 tokens", long / 1e3, 1, "s", f"{sizes}, recompute at sampled steps"),
    ]


def one_row() -> list[Row]:
    """One new row over 4,096 keys, 4 heads of 64: every intermediate kept, against torch's own kernel."""
    q, k, v = (torch.randn(HEADS, n, WIDTH) for n in (1, KEYS, KEYS))
    with torch.inference_mode():
        times = in_turns({
            "attend": lambda _: milliseconds(lambda: attention.attend(q, k, v), 20),
            "sdpa": lambda _: milliseconds(lambda: scaled_dot_product_attention(q, k, v), 20),
        }, samples=60)  # fmt: skip
    detail = f"attend {times['attend']:.3f} ms, SDPA {times['sdpa']:.3f} ms"
    return [at_most("attend, 4,096 keys / SDPA", times["attend"] / times["sdpa"], 3, "×", detail)]


def growth() -> list[Row]:
    """Exponents between 512 and 4,096 tokens: a cached step (project, append, attend), a full recompute."""
    d_model = HEADS * WIDTH
    w = [torch.randn(d_model, d_model) / d_model**0.5 for _ in range(4)]
    x = torch.randn(LENGTHS[-1], d_model)

    def project(rows):
        return [attention.split_heads(rows @ one, HEADS) for one in w[:3]]

    def step(n: int):
        _, k, v = project(x[: n - 1])
        cache = KVCache.empty(HEADS, WIDTH, WIDTH).append(k, v)

        def once() -> None:
            q, k, v = project(x[n - 1 : n])
            grown = cache.append(k, v)
            attention.merge_heads(attention.attend(q, grown.k, grown.v).mixed) @ w[3]

        return lambda _: milliseconds(once, 4)

    def full(n: int):
        visible = attention.causal(n, n)

        def once() -> None:
            attention.merge_heads(attention.attend(*project(x[:n]), visible).mixed) @ w[3]

        return lambda _: milliseconds(once)

    with torch.inference_mode():
        cached = in_turns({n: step(n) for n in LENGTHS}, samples=40)
        square = in_turns({n: full(n) for n in LENGTHS}, samples=20, warm_up=1)
    return [
        at_most("growth of a cached step", exponent(cached), 1.3, "", _spelled(cached)),
        at_least("growth of a full recompute", exponent(square), 1.8, "", _spelled(square)),
    ]


def exponent(times: dict[int, float]) -> float:
    """Slope of log time over log length, least squares."""
    x, y = [math.log(n) for n in times], [math.log(t) for t in times.values()]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum((a - mean_x) ** 2 for a in x)


def _spelled(times: dict[int, float]) -> str:
    return ", ".join(f"{n}: {time:.2f} ms" for n, time in times.items())
