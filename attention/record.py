"""What a run leaves behind: frozen records of every tensor of every layer, every field required.

Axes: H query heads, Hk key/value heads, T tokens (rows ask, columns answer), Dk Dv widths of one head.
Token indices are 0-based. Tensors are in the run's dtype where nothing else is said.
"""

from dataclasses import dataclass, fields

from torch import Tensor

from .settings import Settings
from .weights import Mlp, Norm


@dataclass(frozen=True, eq=False)
class LayerRun:
    """One layer: its weights, one full pass over all T tokens, and the cached run as it went, row by row.

    The next layer is given residual + out, and + mlp where there is one. The random source has no norm (x is the
    residual) and no MLP.
    """

    residual: Tensor  # (T, d_model) what the layer is given
    x: Tensor  # (T, d_model) what enters the projections: the residual after the norm
    w_q: Tensor  # (d_model, H*Dk)
    w_k: Tensor  # (d_model, Hk*Dk)
    w_v: Tensor  # (d_model, Hk*Dv)
    w_o: Tensor  # (H*Dv, d_model)
    norm: Norm | None
    w_mlp: Mlp | None
    q: Tensor  # (H, T, Dk) after rotation, if any
    k: Tensor  # (Hk, T, Dk) after rotation, if any
    v: Tensor  # (Hk, T, Dv)
    raw: Tensor  # (H, T, T) q.k
    weights: Tensor  # (H, T, T) 0..1
    mixed: Tensor  # (H, T, Dv)
    out: Tensor  # (T, d_model) what attention adds to the residual
    mlp: Tensor | None  # (T, d_model) what the MLP adds after it
    visible: Tensor  # (T, T) bool: the row may read the column
    bias: Tensor | None  # (H, T, T) added after scaling
    cached_residual: Tensor  # (T, d_model)
    cached_x: Tensor  # (T, d_model)
    cached_q: Tensor  # (H, T, Dk)
    cached_k: Tensor  # (Hk, T, Dk) as written into the cache
    cached_v: Tensor  # (Hk, T, Dv) as written into the cache
    cached_raw: Tensor  # (H, T, T) NaN where nobody worked the score out
    cached_weights: Tensor  # (H, T, T) 0 where nobody worked the score out
    cached_mixed: Tensor  # (H, T, Dv)
    cached_out: Tensor  # (T, d_model)
    cached_mlp: Tensor | None  # (T, d_model)
    cached_visible: Tensor  # (T, T) bool: the row could read the column at its own step
    cached_present: Tensor  # (T, T) bool: the score was worked out at the row's own step
    cached_bias: Tensor | None  # (H, T, T)
    scale: float  # what raw scores are multiplied by, the temperature included

    @property
    def scaled(self) -> Tensor:
        return _scaled(self.raw, self.scale, self.bias)

    @property
    def masked(self) -> Tensor:
        return self.scaled.masked_fill(~self.visible, float("-inf"))

    @property
    def cached_scaled(self) -> Tensor:
        return _scaled(self.cached_raw, self.scale, self.cached_bias)

    @property
    def cached_masked(self) -> Tensor:
        """-inf where a score was worked out and hidden, NaN where nobody worked it out."""
        hidden = self.cached_present & ~self.cached_visible
        return self.cached_scaled.masked_fill(hidden, float("-inf"))


def _scaled(raw: Tensor, scale: float, bias: Tensor | None) -> Tensor:
    return raw * scale if bias is None else raw * scale + bias


@dataclass(frozen=True, eq=False)
class DecodeRun:
    """A whole run. `step_delta` (T,) float64: for each token the largest difference, over all layers, between
    its k, v, weights and out through the cache and the same recomputed over the tokens present at that step;
    with a break on, k and v are compared over all rows the cache holds. NaN where `compared` (T,) is False.

    A trained source has words: row t of `probabilities` is its next word after token t, or, of an encoder, the word
    in place t, as the cached run worked it out. `vocabulary` are the V words as the reader should see them, a slot
    being the unknown word that took it. None of this with the random source.
    """

    settings: Settings
    tokens: tuple[str, ...]  # the typed ones, then those that the source added by itself
    typed: int  # how many were typed
    ids: tuple[int, ...] | None  # (T,) places in the vocabulary
    vocabulary: tuple[str, ...] | None
    probabilities: Tensor | None  # (T, V) float32, 0..1
    stopped: str | None  # why no more was added: "end" of the document, "asked" for no more, "positions" end
    nll: float | None  # mean -log p of the typed tokens, in nats, under the model as it was trained (`surprise`)
    outside: bool  # nll is above what texts of the grammar have
    layers: tuple[LayerRun, ...]
    step_delta: Tensor  # (T,) float64
    compared: Tensor  # (T,) bool
    multiplies_cached: Tensor  # (T,) int64, the prompt booked on its last token
    multiplies_full: Tensor  # (T,) int64
    cache_bytes: Tensor  # (T,) int64, bytes

    @property
    def nbytes(self) -> int:
        """Bytes of all tensors; one that several layers share counts once."""
        records = (self, *self.layers)
        tensors = [getattr(record, field.name) for record in records for field in fields(record)]
        storages = [tensor.untyped_storage() for tensor in tensors if isinstance(tensor, Tensor)]
        return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())

    @property
    def max_delta(self) -> float:
        """The largest `step_delta` that was measured."""
        return self.step_delta[self.compared].max().item()
