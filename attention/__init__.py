"""Self-attention that keeps every number it computes: the maths, the models, the decode run."""

from . import threads as threads
from .breaks import idle_breaks
from .cache import KVCache
from .core import AttentionTrace, attend, merge_heads, repeat_kv, split_heads
from .masks import bidirectional, causal, padding, prefix_lm, sliding_window
from .positions import alibi_bias, alibi_slopes, rotate, sinusoidal
from .record import DecodeRun, LayerRun
from .runner import run
from .settings import Settings, SettingsError

__version__ = "1.0.0"

__all__ = [
    "AttentionTrace",
    "DecodeRun",
    "KVCache",
    "LayerRun",
    "Settings",
    "SettingsError",
    "alibi_bias",
    "alibi_slopes",
    "attend",
    "bidirectional",
    "causal",
    "idle_breaks",
    "merge_heads",
    "padding",
    "prefix_lm",
    "repeat_kv",
    "rotate",
    "run",
    "sinusoidal",
    "sliding_window",
    "split_heads",
]
