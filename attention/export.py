"""A run as one npz file: every array by name, and a `meta` that says how to read them."""

import io
import json
import platform

import numpy as np
import torch
from torch import Tensor

from . import __version__
from .record import DecodeRun, LayerRun

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
# What a trained source has besides: d_ff, width of the MLP; V, words.
TRAINED_AXES = {
    "residual": "(T, d_model), x before its norm; the next layer's is residual + out + mlp",
    "mlp": "(T, d_model)",
    "cached_residual": "(T, d_model)",
    "cached_mlp": "(T, d_model)",
}
NORM_AXES = {"gain": "(d_model,)", "shift": "(d_model,)", "eps": "(), added to the variance"}
MLP_AXES = {
    "w_in": "(d_model, d_ff)",
    "b_in": "(d_ff,), then GELU by erf",
    "w_out": "(d_ff, d_model)",
    "b_out": "(d_model,)",
}
WORD_AXES = {
    "ids": "(T,), places in meta's vocabulary",
    "probabilities": "(T, V), the next word after each token, of an encoder the word in its place, by the cached run",
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
    return {
        "settings": run.settings.to_dict(),
        "tokens": list(run.tokens),
        "dtype": run.settings.dtype,
        "versions": {name: str(version) for name, version in versions.items()},
        "axes": _legend(run),
        **({} if run.ids is None else _trained_meta(run)),
    }


def arrays(run: DecodeRun) -> dict[str, np.ndarray]:
    """Every array of the file by its key. Half precision becomes float32, which holds it exactly."""
    stored = {"meta": np.array(json.dumps(meta(run), allow_nan=False))}
    for number, layer in enumerate(run.layers):
        stored |= {f"{number}.{name}": _array(getattr(layer, name)) for name in AXES}
        if layer.norm is not None:
            stored |= {f"{number}.{name}": array for name, array in _trained_layer(layer).items()}
    if run.ids is not None:
        stored |= {"ids": np.array(run.ids), "probabilities": _array(run.probabilities)}
    return stored | {name: _array(getattr(run, name)) for name in RUN_AXES}


def save(run: DecodeRun, file) -> None:
    """Write the npz to a path or a binary file."""
    np.savez(file, **arrays(run))


def as_bytes(run: DecodeRun) -> bytes:
    """The file that `save` writes, in memory."""
    buffer = io.BytesIO()
    save(run, buffer)
    return buffer.getvalue()


def _trained_layer(layer: LayerRun) -> dict[str, np.ndarray]:
    """What stands between the projections of a trained layer: its residual, norms and MLP."""
    parts = {name: getattr(layer, name) for name in TRAINED_AXES}
    parts |= {f"norm_{name}": getattr(layer.norm, name) for name in NORM_AXES}
    if layer.w_mlp is not None:
        parts |= {f"mlp_norm_{name}": getattr(layer.w_mlp.norm, name) for name in NORM_AXES}
        parts |= {f"mlp_{name}": getattr(layer.w_mlp, name) for name in MLP_AXES}
    kept = {name: part for name, part in parts.items() if part is not None}
    return {name: _array(part) if isinstance(part, Tensor) else np.array(part) for name, part in kept.items()}


def _legend(run: DecodeRun) -> dict[str, str]:
    layer = dict(AXES)
    if run.ids is not None:
        layer |= TRAINED_AXES | {f"{of}_{name}": NORM_AXES[name] for of in ("norm", "mlp_norm") for name in NORM_AXES}
        layer |= {f"mlp_{name}": axes for name, axes in MLP_AXES.items()}
    legend = {f"L.{name}": axes for name, axes in layer.items()} | RUN_AXES | ({} if run.ids is None else WORD_AXES)
    legend["L"] = "layer, counted from 0; T counts tokens from 0; H heads, Hk key/value heads, Dk Dv width of one head"
    return legend


def _trained_meta(run: DecodeRun) -> dict:
    model = run.settings.model
    jobs = {f"{layer + 1}.{head + 1}": job for (layer, head), job in model.jobs.items()}
    of_model = {"name": model.name, "kind": model.kind, "guided": jobs}
    own = {name: getattr(run, name) for name in ("typed", "stopped", "nll", "outside")}
    return {"model": of_model, "vocabulary": list(run.vocabulary), **own}


def _array(x: Tensor) -> np.ndarray:
    return (x.float() if x.dtype in (torch.float16, torch.bfloat16) else x).numpy()
