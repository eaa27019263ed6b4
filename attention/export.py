"""A run as one npz file: every array by name, and a `meta` that says how to read them."""

import io
import json
import platform

import numpy as np
import torch
from torch import Tensor

from . import __version__
from .record import DecodeRun

# What is stored of a layer counted from L = 0, as `L.name`, with its axes: H query heads, Hk key/value heads,
# T tokens, Dk Dv widths of one head, i the query and j the key of a square.
AXES = {
    "x": "(T, d_model)",
    "w_q": "(d_model, H*Dk)",
    "w_k": "(d_model, Hk*Dk)",
    "w_v": "(d_model, Hk*Dv)",
    "w_o": "(H*Dv, d_model)",
    "q": "(H, T, Dk)",
    "k": "(Hk, T, Dk)",
    "v": "(Hk, T, Dv)",
    "raw": "(H, T i, T j)",
    "scaled": "(H, T i, T j)",
    "masked": "(H, T i, T j)",
    "weights": "(H, T i, T j)",
    "mixed": "(H, T, Dv)",
    "out": "(T, d_model)",
    "cached_x": "(T, d_model)",
    "cached_q": "(H, T, Dk)",
    "cached_k": "(Hk, T, Dk)",
    "cached_v": "(Hk, T, Dv)",
    "cached_raw": "(H, T i, T j), NaN where nobody worked the score out",
    "cached_scaled": "(H, T i, T j), NaN where nobody worked the score out",
    "cached_weights": "(H, T i, T j)",
    "cached_mixed": "(H, T, Dv)",
    "cached_out": "(T, d_model)",
}
RUN_AXES = {
    "step_delta": "(T,), NaN where compared is False",
    "compared": "(T,)",
    "multiplies_cached": "(T,), summed over layers",
    "multiplies_full": "(T,), summed over layers",
    "cache_bytes": "(T,), summed over layers",
}


def meta(run: DecodeRun) -> dict:
    """Settings, tokens, versions and axis legend as plain JSON values; no NaN, no infinity."""
    versions = {"attention": __version__, "python": platform.python_version()}
    versions |= {"torch": torch.__version__, "numpy": np.__version__}
    legend = {f"L.{name}": axes for name, axes in AXES.items()} | RUN_AXES
    legend["L"] = "layer, counted from 0; T counts tokens from 0; H heads, Hk key/value heads, Dk Dv width of one head"
    return {
        "settings": run.settings.to_dict(),
        "tokens": list(run.tokens),
        "dtype": run.settings.dtype,
        "versions": {name: str(version) for name, version in versions.items()},
        "axes": legend,
    }


def arrays(run: DecodeRun) -> dict[str, np.ndarray]:
    """Every array of the file by its key. Half precision becomes float32, which holds it exactly."""
    stored = {"meta": np.array(json.dumps(meta(run), allow_nan=False))}
    for number, layer in enumerate(run.layers):
        stored |= {f"{number}.{name}": _array(getattr(layer, name)) for name in AXES}
    return stored | {name: _array(getattr(run, name)) for name in RUN_AXES}


def save(run: DecodeRun, file) -> None:
    """Write the npz to a path or a binary file."""
    np.savez(file, **arrays(run))


def as_bytes(run: DecodeRun) -> bytes:
    """The file that `save` writes, in memory."""
    buffer = io.BytesIO()
    save(run, buffer)
    return buffer.getvalue()


def _array(x: Tensor) -> np.ndarray:
    return (x.float() if x.dtype in (torch.float16, torch.bfloat16) else x).numpy()
