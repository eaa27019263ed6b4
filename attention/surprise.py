"""How well a trained model knows a text, whatever the reader has switched off or broken."""

import math

import torch

from .forward import mean_nll
from .settings import Settings


def surprise(s: Settings) -> float | None:
    """Mean -log p of the typed tokens, in nats, under the model as it was trained. None where there is none."""
    nll = mean_nll(s.model, torch.tensor(s.encoded.ids))
    return None if math.isnan(nll) else nll


def is_outside(s: Settings, nll: float | None) -> bool:
    """Whether a text surprises the model more than those of its grammar do."""
    limit = s.model.figures.get("outside")
    return nll is not None and limit is not None and nll > limit
