"""Self-attention that keeps every number it computes: the maths, the models, the decode run."""

from .record import DecodeRun, LayerRun
from .settings import Settings, SettingsError

__all__ = ["DecodeRun", "LayerRun", "Settings", "SettingsError"]
