"""The trained models as data: tensors with names and what was measured of them.

A file of assets/model/ is one safetensors file, its configuration in the metadata. Nothing is loaded at import.
"""

import json
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from .tokeniser import Vocabulary

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "model"
NAMES = {
    "trained": "decoder-guided",
    "unguided": "decoder-unguided",
    "encoder": "encoder-guided",
    "onelayer": "onelayer",
}
FAMILY = "onelayer-family"
FAMILY_WIDTHS = (2, 4, 8, 16, 32, 64)
VOCABULARY = "vocabulary.json"


class WeightsError(ValueError):
    """A weights file that is not there ("missing_weights") or cannot be used ("corrupt_weights")."""

    def __init__(self, code: str, file: str, reason: str):
        self.code, self.file, self.reason = code, file, reason
        super().__init__(f"{file}: {reason}; the file that `make train` writes is needed")


@dataclass(frozen=True, eq=False)
class Block:
    """One layer, float32. Rows times matrices, x @ w; no biases on the four projections.

    h + attention(norm(h)) @ w_o, then h + mlp(mlp_norm(h)) where there is an MLP: GELU (exact, by erf).
    """

    norm: tuple[Tensor, Tensor]  # gain and shift (d_model,), before attention
    w_q: Tensor  # (d_model, H*Dk)
    w_k: Tensor  # (d_model, Hk*Dk)
    w_v: Tensor  # (d_model, Hk*Dv)
    w_o: Tensor  # (H*Dv, d_model)
    mlp_norm: tuple[Tensor, Tensor] | None
    mlp_in: Tensor | None  # (d_model, d_ff)
    mlp_in_bias: Tensor | None
    mlp_out: Tensor | None  # (d_ff, d_model)
    mlp_out_bias: Tensor | None


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A model. Logits are final_norm(h) @ embedding.T. Layers and heads count from 0 here.

    `figures` is what the evaluation measured; see `python -m attention eval` and the model card.
    """

    name: str
    kind: str  # "decoder" reads what came before, "encoder" reads everything
    guided: bool
    heads: int
    kv_heads: int
    d_model: int
    d_k: int
    d_v: int
    scale: float  # of the scores, as trained: 1/sqrt(d_k), or 1 without it
    eps: float  # of the norms
    seed: int
    steps: int
    jobs: dict[tuple[int, int], str]  # (layer, head): what a guided head was trained for
    figures: dict
    vocabulary: Vocabulary
    embedding: Tensor  # (V, d_model)
    positions: Tensor  # (P, d_model), added to the embedding
    blocks: tuple[Block, ...]
    final_norm: tuple[Tensor, Tensor]

    @property
    def causal(self) -> bool:
        return self.kind == "decoder"

    @property
    def parameters(self) -> int:
        return sum(tensor.numel() for tensor in tensors(self).values())


def load(name: str) -> TrainedModel:
    """The model of a source: "trained", "unguided", "encoder" or "onelayer". WeightsError where it cannot."""
    if name not in NAMES:
        raise ValueError(f"name: {name!r} arrived; one of {', '.join(NAMES)} is needed")
    return _load(path_of(NAMES[name]))


@lru_cache(maxsize=len(NAMES))
def _load(path: Path) -> TrainedModel:
    models = read(path)
    if path.stem not in models:
        raise WeightsError("corrupt_weights", path.name, f"it holds no model of the name {path.stem}")
    return models[path.stem]


load.cache_clear, load.cache_info = _load.cache_clear, _load.cache_info  # a file is read once, until told otherwise


@lru_cache(maxsize=1)
def load_family() -> dict[tuple[int, bool], TrainedModel]:
    """The one-layer models by (d_k, whether the scores are divided by sqrt(d_k))."""
    return {(model.d_k, model.scale != 1.0): model for model in read(path_of(FAMILY)).values()}


def path_of(file: str) -> Path:
    return FOLDER / f"{file}.safetensors"


def tensors(model: TrainedModel) -> dict[str, Tensor]:
    """Every tensor of a model under its name in the file."""
    named = {"embedding": model.embedding, "positions": model.positions}
    named |= {"final_norm.gain": model.final_norm[0], "final_norm.shift": model.final_norm[1]}
    for layer, block in enumerate(model.blocks):
        for field in fields(Block):
            value = getattr(block, field.name)
            if isinstance(value, tuple):
                named |= {f"{layer}.{field.name}.gain": value[0], f"{layer}.{field.name}.shift": value[1]}
            elif value is not None:
                named[f"{layer}.{field.name}"] = value
    return named


def from_tensors(config: dict, named: dict[str, Tensor], vocabulary: Vocabulary) -> TrainedModel:
    """A model from its configuration and the tensors that `tensors` named."""

    def norm(prefix: str) -> tuple[Tensor, Tensor] | None:
        return (named[f"{prefix}.gain"], named[f"{prefix}.shift"]) if f"{prefix}.gain" in named else None

    def block(layer: int) -> Block:
        norms = {name: norm(f"{layer}.{name}") for name in ("norm", "mlp_norm")}
        return Block(**norms, **{name: named.get(f"{layer}.{name}") for name in _MATRICES})

    layers = sum(name.endswith(".w_q") for name in named)
    return TrainedModel(
        **config,
        vocabulary=vocabulary,
        embedding=named["embedding"],
        positions=named["positions"],
        blocks=tuple(block(layer) for layer in range(layers)),
        final_norm=norm("final_norm"),
    )


def write(path: Path, models: list[TrainedModel]) -> None:
    """One safetensors file with the tensors of `models` and, in its metadata, what they are."""
    from safetensors.torch import save

    named = {f"{model.name}/{key}": t.contiguous() for model in models for key, t in tensors(model).items()}
    configs = {model.name: json.dumps(_config(model), ensure_ascii=False) for model in models}
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_bytes(save(named, metadata=configs))
    unfinished.replace(path)


def read(path: Path) -> dict[str, TrainedModel]:
    """The models of a file by name. WeightsError where it is not there or not whole."""
    from safetensors import SafetensorError, safe_open

    try:
        vocabulary = read_vocabulary(path.parent)
        with safe_open(path, "pt") as file:
            configs = {name: _parse_config(text) for name, text in (file.metadata() or {}).items()}
            named = {name: {} for name in configs}
            for key in file.keys():  # noqa: SIM118 (a safetensors file is no mapping)
                name, tensor = key.split("/")
                named[name][tensor] = file.get_tensor(key)
        models = {name: from_tensors(configs[name], named[name], vocabulary) for name in configs}
        for model in models.values():
            _check(model)
    except FileNotFoundError:
        raise WeightsError("missing_weights", path.name, "there is no such file") from None
    except (SafetensorError, KeyError, TypeError, AttributeError, ValueError, OSError) as error:
        if isinstance(error, WeightsError):
            raise
        raise WeightsError("corrupt_weights", path.name, f"{type(error).__name__}: {error}") from error
    if not models:
        raise WeightsError("corrupt_weights", path.name, "it holds no model")
    return models


def read_vocabulary(folder: Path = FOLDER) -> Vocabulary:
    """The words of the models in a folder. WeightsError where the file is not there or is no list of words."""
    path = folder / VOCABULARY
    try:
        words = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise WeightsError("missing_weights", VOCABULARY, "there is no such file") from None
    except (ValueError, OSError) as error:
        raise WeightsError("corrupt_weights", VOCABULARY, str(error)) from error
    if not (isinstance(words, list) and words and all(isinstance(word, str) for word in words)):
        raise WeightsError("corrupt_weights", VOCABULARY, "no list of words")
    return Vocabulary(tuple(words))


_MATRICES = ("w_q", "w_k", "w_v", "w_o", "mlp_in", "mlp_in_bias", "mlp_out", "mlp_out_bias")
_TENSOR_FIELDS = ("vocabulary", "embedding", "positions", "blocks", "final_norm")


def _config(model: TrainedModel) -> dict:
    config = {f.name: getattr(model, f.name) for f in fields(model) if f.name not in _TENSOR_FIELDS}
    return config | {"jobs": {f"{layer}.{head}": job for (layer, head), job in model.jobs.items()}}


def _parse_config(text: str) -> dict:
    config = json.loads(text)
    jobs = {tuple(map(int, place.split("."))): job for place, job in config["jobs"].items()}
    return config | {"jobs": jobs}


def _mlp_shapes(layer: int, block: Block, d: int) -> dict[str, tuple[int, ...]]:
    """What an MLP is made of, all of it or nothing."""
    parts = (block.mlp_norm, block.mlp_in, block.mlp_in_bias, block.mlp_out, block.mlp_out_bias)
    if all(part is None for part in parts):
        return {}
    d_ff = block.mlp_in.shape[1]
    shapes = {"mlp_norm.gain": (d,), "mlp_norm.shift": (d,), "mlp_in": (d, d_ff), "mlp_in_bias": (d_ff,)}
    shapes |= {"mlp_out": (d_ff, d), "mlp_out_bias": (d,)}
    return {f"{layer}.{name}": shape for name, shape in shapes.items()}


def _check(model: TrainedModel) -> None:
    """ValueError where a tensor has not the shape that the configuration says, or a number is not finite."""
    d, n_words = model.d_model, len(model.vocabulary.words)
    wanted = {"embedding": (n_words, d), "positions": (len(model.positions), d)}
    for layer in range(len(model.blocks)):
        wanted[f"{layer}.w_q"] = (d, model.heads * model.d_k)
        wanted[f"{layer}.w_k"] = (d, model.kv_heads * model.d_k)
        wanted[f"{layer}.w_v"] = (d, model.kv_heads * model.d_v)
        wanted[f"{layer}.w_o"] = (model.heads * model.d_v, d)
        wanted |= {f"{layer}.norm.{part}": (d,) for part in ("gain", "shift")}
        wanted |= _mlp_shapes(layer, model.blocks[layer], d)
    named = tensors(model)
    for name, shape in wanted.items():
        if tuple(named[name].shape) != shape:
            raise ValueError(f"{name} has the shape {tuple(named[name].shape)}, {shape} is needed")
    for name, tensor in named.items():
        if tensor.dtype != torch.float32 or not tensor.isfinite().all():
            raise ValueError(f"{name} holds {tensor.dtype}, finite float32 numbers are needed")
