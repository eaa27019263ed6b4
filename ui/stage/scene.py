"""The scene: everything the stage draws of one layer and head, as plain JSON. Numbers keep their full precision.

T tokens; Dk, Dv widths of one head. Rows ask (queries), columns answer (keys). A cell that nobody worked out is null.
The stage draws the cached run (`cached_*` of the record): what really happened, row by row.
"""

import base64
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from attention import DecodeRun, LayerRun, Settings
from attention.breaks import idle_breaks
from attention.tokens import visible
from ui import models, ranges, text

ROTARY_BASE = 10000.0
MOST = 8  # words of a row's distribution


def scene(run: DecodeRun, layer: int, head: int, lang: str) -> dict:
    """The scene of one layer and head (both counted from 0), words in `lang` included.

    The result holds plain Python values only: json.dumps(scene, allow_nan=False) succeeds.
    """
    at, settings = run.layers[layer], run.settings
    limits = {"score": ranges.scores(run), "vector": ranges.vectors(run), "weight": 1}
    kv_head = head // (settings.heads // settings.kv_heads)
    return {
        "lang": lang,
        "words": text.load(lang).tree("stage"),
        "tokens": list(run.tokens),
        "labels": [visible(token) for token in run.tokens],
        "typed": run.typed,
        "prompt": settings.prompt,
        **_model(run, layer, head, lang),
        "settings": {**settings.to_dict(), "layer": layer + 1, "head": head + 1},
        "mask": settings.mask_kind,  # the mask that holds, once the break `causal` has had its say
        "kv_head": kv_head + 1,
        "positions": _positions(run),
        "base": ROTARY_BASE,
        "stale_row": settings.prompt if "stale" in broken(settings) else -1,
        "ranges": limits,
        "broken": broken(settings),
        **_matrices(at, head, kv_head),
        **_ledger(run),
    }


def _model(run: DecodeRun, layer: int, head: int, lang: str) -> dict:
    """What a trained source adds: the head's job, whether x is a normed row, and the likeliest words of each row."""
    model, t = run.settings.model, text.load(lang)
    return {
        "encoder": model is not None and not model.causal,
        "normed": run.layers[layer].norm is not None,
        "job": models.job(t, model, layer + 1, head + 1),
        "next": None if model is None else [_likeliest(run, row, model.causal, t) for row in range(len(run.tokens))],
    }


def _likeliest(run: DecodeRun, row: int, causal: bool, t: text.Text) -> dict:
    """The MOST likely words of a row, and the one that the text has there: chosen, None where nothing follows."""
    place = row + 1 if causal else row
    shares = run.probabilities[row]
    ids = shares.topk(MOST).indices.tolist()
    chosen = run.ids[place] if place < len(run.ids) else None
    ids += [chosen] if chosen is not None and chosen not in ids else []
    words = [models.word(t, run.vocabulary[word]) for word in ids]
    return {
        "top": [list(pair) for pair in zip(words, shares[ids].tolist(), strict=True)],
        "chosen": None if chosen is None else ids.index(chosen),
    }


def _matrices(at: LayerRun, head: int, kv_head: int) -> dict:
    """The tensors of one head, and the three projections that made them."""
    heads, kv_heads = at.q.shape[0], at.k.shape[0]
    bias = at.cached_bias
    return {
        "x": rows(at.cached_x),  # (T, d_model)
        "q": rows(at.cached_q[head]),  # (T, Dk)
        "k": rows(at.cached_k[kv_head]),  # (T, Dk)
        "v": rows(at.cached_v[kv_head]),  # (T, Dv)
        "o": rows(at.cached_mixed[head]),  # (T, Dv)
        "raw": rows(at.cached_raw[head]),  # (T, T)
        "scaled": rows(at.cached_scaled[head]),  # (T, T)
        "weights": rows(at.cached_weights[head], hide=_came_later(at)),  # (T, T)
        "bias": None if bias is None else rows(bias[head]),  # (T, T)
        "visible": bits(at.cached_visible),
        "present": bits(at.cached_present),
        "projections": {
            "q": packed(at.w_q.tensor_split(heads, dim=1)[head]),  # (d_model, Dk)
            "k": packed(at.w_k.tensor_split(kv_heads, dim=1)[kv_head]),
            "v": packed(at.w_v.tensor_split(kv_heads, dim=1)[kv_head]),
        },
    }


def _came_later(at: LayerRun) -> Tensor:
    """(T, T) bool: neither worked out nor hidden by the mask: the key came after the row's step."""
    n = at.cached_present.shape[0]
    ahead = torch.ones(n, n, dtype=torch.bool).triu(1)
    return ~at.cached_present & ahead


def _ledger(run: DecodeRun) -> dict:
    """Work, bytes and differences of every step."""
    cached, full = run.multiplies_cached.tolist(), run.multiplies_full.tolist()
    delta = [_step_delta(run, step) for step in range(len(run.tokens))]
    return {
        "multiplies": {
            "cached": cached,
            "full": full,
            "cached_total": list(accumulate(cached)),
            "full_total": list(accumulate(full)),
        },
        "cache_bytes": run.cache_bytes.tolist(),
        "element_bytes": run.layers[0].k.element_size(),
        "delta": delta,
        "verdicts": [_verdict(run, value) for step, value in enumerate(delta)],
    }


def _step_delta(run: DecodeRun, step: int) -> float | None:
    """A step's largest difference; the prompt is one step, so its last token carries that of all its rows."""
    first = run.settings.prompt - 1
    measured = run.step_delta[: step + 1] if step == first else run.step_delta[step : step + 1]
    value = measured.max().item()
    return value if np.isfinite(value) else None


def _verdict(run: DecodeRun, delta: float | None) -> str:
    """What a step's difference means: zero, rounding, broken (a switch is on), later (later keys seen), unexplained."""
    settings = run.settings
    if delta is None:
        return "unmeasured"
    if delta == 0:
        return "zero"
    if delta <= _rounding(run):
        return "rounding"
    if broken(settings):
        return "broken"
    mask, prompt = settings.mask_kind, settings.prompt
    looks_ahead = mask == "bidirectional" or (mask == "prefix" and settings.width > prompt)
    return "later" if looks_ahead and settings.layers > 1 else "unexplained"


def _rounding(run: DecodeRun) -> float:
    """How far apart rounding alone can bring the two runs: a bound that grows with the numbers that are added up.

    float32 and float64 round every sum many times, far below what any mistake does; in half precision most sums
    come out alike, and the bound stands closer, so that a mistake is not taken for rounding.
    """
    scores = max(layer.cached_scaled.nan_to_num(0).abs().max().item() for layer in run.layers)
    largest = max(scores, ranges.vectors(run))
    eps = torch.finfo(run.layers[0].k.dtype).eps
    return eps * largest * (4 if eps < 1e-4 else 1)


def broken(settings: Settings) -> list[str]:
    """The breaks that are on and change something."""
    idle = idle_breaks(settings)
    return [name for name in settings.breaks if name not in idle]


def _positions(run: DecodeRun) -> list[int]:
    """The position whose signal each token got in the cached run."""
    prompt, restarts = run.settings.prompt, "position" in run.settings.breaks
    return [i - prompt if restarts and i >= prompt else i for i in range(len(run.tokens))]


def rows(matrix: Tensor, hide: Tensor | None = None) -> list[list[float | None]]:
    """A matrix as rows of plain floats, as short as its type allows (9 digits for float32); not finite becomes null."""
    values = matrix.float().numpy() if matrix.dtype in (torch.float16, torch.bfloat16) else matrix.numpy()
    shown = np.isfinite(values) if hide is None else np.isfinite(values) & ~hide.numpy()
    if values.dtype == np.float32:  # the nearest 9-digit decimal: reads back as the same float32
        plain = [[float(f"{v:.9g}") for v in row] for row in values.tolist()]
    else:
        plain = values.tolist()
    return [
        [v if ok else None for v, ok in zip(*pair, strict=True)]
        for pair in zip(plain, shown.tolist(), strict=True)
    ]


def bits(matrix: Tensor) -> list[str]:
    """A bool matrix as one string of 0 and 1 a row."""
    return ["".join("01"[cell] for cell in row) for row in matrix.int().tolist()]


def packed(matrix: Tensor) -> dict:
    """A weight matrix (rows, columns) as base64 of little-endian floats: it is by far the largest part of a scene."""
    values = (matrix if matrix.dtype == torch.float64 else matrix.float()).contiguous().numpy()
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return {
        "rows": matrix.shape[0],
        "columns": matrix.shape[1],
        "bytes": values.dtype.itemsize,
        "data": base64.b64encode(little.tobytes()).decode("ascii"),
    }
