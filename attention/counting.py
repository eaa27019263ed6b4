"""Counted are scalar multiplications: projections (q, k, v, output), scores and the weighted sum.

Softmax, scaling and rotation are not counted, nor are the norms, the MLP and the logits of a trained source. The
full pass is counted as the square that a plain masked matmul executes; a fused kernel may skip blocks that are
masked throughout.
"""

import torch
from torch import Tensor

from .settings import Settings


def full_multiplies(t: int, *, d_model: int, heads: int, kv_heads: int, d_k: int, d_v: int) -> int:
    """One layer, all t tokens worked out at once."""
    projections = t * d_model * (heads * d_k + kv_heads * d_k + kv_heads * d_v)
    return projections + heads * t * t * d_k + heads * t * t * d_v + t * heads * d_v * d_model


def cached_multiplies(t: int, *, d_model: int, heads: int, kv_heads: int, d_k: int, d_v: int) -> int:
    """One layer, one new token, t keys in the cache, the new token's included."""
    projections = d_model * (heads * d_k + kv_heads * d_k + kv_heads * d_v)
    return projections + heads * t * d_k + heads * t * d_v + heads * d_v * d_model


def cache_size(keys: int, *, layers: int, kv_heads: int, d_k: int, d_v: int, bytes_per_element: int) -> int:
    """Bytes of `keys` cached positions over all layers."""
    return layers * keys * kv_heads * (d_k + d_v) * bytes_per_element


def ledger(settings: Settings, n: int) -> dict[str, Tensor]:
    """multiplies with the cache, multiplies without, bytes held of a run of n tokens: each (n,) int64, over all layers.

    The prompt is one step that costs both sides the same; it is booked on its last token, with 0 before it.
    """
    s = settings
    sizes = {"d_model": s.d_model, "heads": s.heads, "kv_heads": s.kv_heads, "d_k": s.d_k, "d_v": s.d_v}
    room = s.width if s.mask_kind == "window" else n
    element = getattr(torch, s.dtype).itemsize
    cached, full, held = (torch.zeros(n, dtype=torch.int64) for _ in range(3))
    for t in range(s.prompt, n + 1):
        keys = min(t, room)
        full[t - 1] = s.layers * full_multiplies(t, **sizes)
        cached[t - 1] = full[t - 1] if t == s.prompt else s.layers * cached_multiplies(keys, **sizes)
        rest = {"kv_heads": s.kv_heads, "d_k": s.d_k, "d_v": s.d_v, "bytes_per_element": element}
        held[t - 1] = cache_size(keys, layers=s.layers, **rest)
    return {"multiplies_cached": cached, "multiplies_full": full, "cache_bytes": held}
