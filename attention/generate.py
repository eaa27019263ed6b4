"""How the next word is chosen out of the probabilities of a row: the likeliest, or drawn."""

import numpy as np
import torch
from torch import Tensor

from .settings import Settings


def choose(s: Settings, probabilities: Tensor, rng: np.random.Generator) -> int:
    """The id of the next word, out of the model's own probabilities (V,)."""
    if s.sampling == "greedy":
        return probabilities.argmax().item()
    shares = drawn_from(probabilities, s.sampling_temperature, s.top_k).numpy()
    return int(rng.choice(len(shares), p=shares))


def drawn_from(probabilities: Tensor, temperature: float, top_k: int) -> Tensor:
    """What a sample is drawn from, (V,) float64: the top_k likeliest (0: all), softmax of their logits / temperature.

    Fan et al. 2018, "Hierarchical Neural Story Generation", section 5.1, for top-k.
    """
    logits = probabilities.double().log() / temperature  # up to a constant, which softmax takes away
    if 0 < top_k < len(logits):
        out = logits.argsort(descending=True, stable=True)[top_k:]
        logits = logits.index_fill(0, out, -torch.inf)
    return torch.softmax(logits, 0)
