"""The key/value cache: what a decoder keeps of the tokens it has read, so that each is projected once.

Axes: Hk key/value heads, T positions, Dk Dv widths of one head.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from .checks import whole


@dataclass(frozen=True, eq=False)
class KVCache:
    """Persistent: `append` returns a new cache and leaves this one, and everything grown from it, as it was.

    With a `window` only the last `window` positions are held. Earlier queries of one appended chunk still
    have to read what the chunk itself pushes out: attend over the chunk first, the held rows after.
    """

    k: Tensor  # (Hk, held, Dk)
    v: Tensor  # (Hk, held, Dv)
    seen: int  # positions appended so far, held or evicted
    window: int | None

    @classmethod
    def empty(cls, n_kv_heads: int, d_k: int, d_v: int, window: int | None = None) -> "KVCache":
        n_kv_heads = whole("n_kv_heads", n_kv_heads, 1)
        k = torch.empty(n_kv_heads, 0, whole("d_k", d_k, 1))
        v = torch.empty(n_kv_heads, 0, whole("d_v", d_v, 1))
        return cls(k, v, 0, None if window is None else whole("window", window, 1))

    def append(self, k: Tensor, v: Tensor) -> "KVCache":
        """A cache that also holds the chunk k (Hk, T, Dk), v (Hk, T, Dv), T >= 1. The first sets the dtype.

        ValueError: a chunk whose heads, widths, length or dtype do not fit.
        """
        self._check("k", k, self.k, k.shape[-2:-1], k.dtype)
        self._check("v", v, self.v, k.shape[-2:-1], k.dtype)
        held, n_new = len(self), k.shape[1]
        width = held + n_new if self.window is None else min(self.window, held + n_new)
        old, new = max(0, width - n_new), min(width, n_new)
        grown_k = torch.cat((self.k[:, held - old :].to(k.dtype), k[:, n_new - new :]), dim=1)
        grown_v = torch.cat((self.v[:, held - old :].to(v.dtype), v[:, n_new - new :]), dim=1)
        return replace(self, k=grown_k, v=grown_v, seen=self.seen + n_new)

    def __len__(self) -> int:
        """Positions held."""
        return self.k.shape[1]

    @property
    def positions(self) -> Tensor:
        """The 0-based positions that are held, oldest first: (held,) int64."""
        return torch.arange(self.seen - len(self), self.seen)

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values held."""
        return self.k.nbytes + self.v.nbytes

    def _check(self, name: str, x: Tensor, mine: Tensor, length, dtype) -> None:
        n_heads, _, width = mine.shape
        needed_dtype = mine.dtype if self.seen else dtype
        fits = x.dim() == 3 and x.shape[1:2] == length and x.shape[0] == n_heads and x.shape[2] == width
        if not fits or x.shape[1] < 1 or x.dtype != needed_dtype or not x.is_floating_point():
            arrived = f"{x.dtype} of shape {tuple(x.shape)}"
            needed = f"floating ({n_heads}, T, {width}) with one T >= 1 and one dtype for k, v and the cache"
            raise ValueError(f"{name}: {arrived} arrived; {needed} is needed")
