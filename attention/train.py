"""Trains every model file from its seed: `make train`, or `python -m attention train`.

The same seed and the same number of threads give the same files on one machine, bit for bit; a run that was
interrupted goes on from its checkpoint to the same end.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from .batches import JOBS, Batch, stream
from .documents import MAX_TOKENS
from .forward import forward
from .tokeniser import Vocabulary
from .trained import TrainedModel, from_tensors, tensors

GUIDANCE = 0.3  # how much the true links count beside the next token
WARM_UP, CLIP = 100, 1.0
THREADS = 2


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a model, apart from the grammar."""

    name: str
    kind: str = "decoder"
    guided: bool = True
    task: str = "grammar"
    layers: int = 2
    heads: int = 2
    d_model: int = 128
    d_k: int = 32
    d_v: int = 32
    d_ff: int = 256  # 0: no MLP
    scaled: bool = True
    steps: int = 3200
    batch: int = 64
    rate: float = 2e-3
    decay: float = 0.01  # of matrices
    seed: int = 0


@dataclass(frozen=True, eq=False)
class State:
    """A training run after `step` steps. The tensors of the model are the optimiser's parameters."""

    step: int
    model: TrainedModel
    optimiser: torch.optim.AdamW


def begin(recipe: Recipe, words: Vocabulary) -> State:
    """Step 0: the seed's numbers."""
    return _state(recipe, 0, _initial(recipe, words), words)


def advance(recipe: Recipe, state: State, until: int, report: Callable[[int, float], None] | None = None) -> State:
    """The run at step `until`. `report(step, loss)` hears of every step."""
    for step in range(state.step, until):
        words = state.model.vocabulary
        batch = stream(recipe.kind, recipe.task, recipe.seed, step, recipe.steps, recipe.batch, words)
        loss = loss_of(recipe, state.model, batch)
        for group in state.optimiser.param_groups:
            group["lr"] = rate_at(recipe, step)
        state.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(tensors(state.model).values(), CLIP)
        state.optimiser.step()
        if report is not None:
            report(step + 1, loss.item())
    return replace(state, step=until)


def loss_of(recipe: Recipe, model: TrainedModel, batch: Batch) -> Tensor:
    """Cross entropy of what is asked; guided heads also pay for what they do not put on the true links."""
    done = forward(model, batch.ids, batch.keep)
    each = F.cross_entropy(done.logits.flatten(0, 1), batch.targets.flatten(), reduction="none")
    loss = (each * batch.weights.flatten()).sum() / batch.weights.sum()
    if recipe.guided:
        loss = loss + GUIDANCE * sum(_distance(done.weights, head, links) for head, links in batch.links.items())
    return loss


def rate_at(recipe: Recipe, step: int) -> float:
    """Linear warm-up, then a cosine down to a hundredth."""
    if step < WARM_UP:
        return recipe.rate * (step + 1) / WARM_UP
    done = (step - WARM_UP) / max(1, recipe.steps - WARM_UP)
    return recipe.rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * done)))


def save_checkpoint(state: State, path: Path) -> None:
    torch.save(
        {
            "step": state.step,
            "tensors": tensors(state.model),
            "optimiser": state.optimiser.state_dict(),
        },
        path,
    )


def load_checkpoint(recipe: Recipe, path: Path, words: Vocabulary) -> State:
    """The run as it was when its checkpoint was written."""
    saved = torch.load(path, weights_only=True)
    state = _state(recipe, saved["step"], saved["tensors"], words)
    state.optimiser.load_state_dict(saved["optimiser"])
    return state


def finished(state: State) -> TrainedModel:
    """The model alone, its tensors free of the training run."""
    model = state.model
    loose = {name: tensor.detach().clone() for name, tensor in tensors(model).items()}
    return from_tensors(_config_of(model), loose, model.vocabulary)


def _distance(weights: tuple[Tensor, ...], head: tuple[int, int], links) -> Tensor:
    """Mean of -log A[row, link] over the rows of a head that have one."""
    layer, number = head
    found = weights[layer][links.document, number, links.row, links.key]
    return -(found.clamp_min(1e-9).log() * links.share).sum() / links.share.sum()


def _state(recipe: Recipe, step: int, named: dict[str, Tensor], words: Vocabulary) -> State:
    for tensor in named.values():
        tensor.requires_grad_(True)
    matrices = [tensor for tensor in named.values() if tensor.dim() > 1]
    vectors = [tensor for tensor in named.values() if tensor.dim() == 1]
    groups = [{"params": matrices, "weight_decay": recipe.decay}, {"params": vectors, "weight_decay": 0.0}]
    model = from_tensors(_config(recipe), named, words)
    return State(step, model, torch.optim.AdamW(groups, lr=recipe.rate, betas=(0.9, 0.98)))


def _initial(recipe: Recipe, words: Vocabulary) -> dict[str, Tensor]:
    """Projections with variance 1/fan-in; what adds to the residual starts smaller with every layer."""
    numbers = torch.Generator().manual_seed(recipe.seed)
    d, r = recipe.d_model, recipe

    def normal(*shape: int, std: float) -> Tensor:
        return torch.randn(shape, generator=numbers) * std

    def norm(prefix: str) -> dict[str, Tensor]:
        return {f"{prefix}.gain": torch.ones(d), f"{prefix}.shift": torch.zeros(d)}

    quiet = (2 * r.layers) ** -0.5
    named = {"embedding": normal(len(words.words), d, std=0.05), "positions": normal(MAX_TOKENS, d, std=0.05)}
    named |= norm("final_norm")
    for layer in range(r.layers):
        named |= norm(f"{layer}.norm")
        for name, width in (("w_q", r.heads * r.d_k), ("w_k", r.heads * r.d_k), ("w_v", r.heads * r.d_v)):
            named[f"{layer}.{name}"] = normal(d, width, std=d**-0.5)
        named[f"{layer}.w_o"] = normal(r.heads * r.d_v, d, std=quiet * (r.heads * r.d_v) ** -0.5)
        if r.d_ff:
            named |= norm(f"{layer}.mlp_norm")
            named[f"{layer}.mlp_in"] = normal(d, r.d_ff, std=d**-0.5)
            named[f"{layer}.mlp_in_bias"] = torch.zeros(r.d_ff)
            named[f"{layer}.mlp_out"] = normal(r.d_ff, d, std=quiet * r.d_ff**-0.5)
            named[f"{layer}.mlp_out_bias"] = torch.zeros(d)
    return named


def _config(recipe: Recipe) -> dict:
    r = recipe
    return {
        "name": r.name,
        "kind": r.kind,
        "guided": r.guided,
        "heads": r.heads,
        "kv_heads": r.heads,
        "d_model": r.d_model,
        "d_k": r.d_k,
        "d_v": r.d_v,
        "scale": r.d_k**-0.5 if r.scaled else 1.0,
        "eps": 1e-5,
        "seed": r.seed,
        "steps": r.steps,
        "jobs": dict(JOBS[r.kind]) if r.guided else {},
        "figures": {},
    }


def _config_of(model: TrainedModel) -> dict:
    skip = ("vocabulary", "embedding", "positions", "blocks", "final_norm")
    return {name: value for name, value in vars(model).items() if name not in skip}
