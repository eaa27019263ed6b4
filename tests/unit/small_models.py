"""Small models with random weights, written as the files that the trained sources read."""

import json
from dataclasses import dataclass, replace

import torch

from attention import trained
from attention.lexicon import END, MASK, SLOTS
from attention.tokeniser import Vocabulary
from attention.trained import Block, TrainedModel

KNOWN = "the cat sat on mat . , red book 小明 把 书 放 在 桌子 上 。 重 平"
WORDS = Vocabulary((END, MASK, *SLOTS, *KNOWN.split()))
SIZES = {"heads": 2, "kv_heads": 2, "d_model": 16, "d_k": 8, "d_v": 8}
LONGEST = 56


def small_model(name: str, kind: str = "decoder", layers: int = 2, mlp: bool = True, seed: int = 0, **sizes):
    """A TrainedModel whose every number, gains and shifts too, is drawn from the seed."""
    sizes, numbers = SIZES | sizes, torch.Generator().manual_seed(seed)
    d = sizes["d_model"]

    def normal(*shape, by=1.0, around=0.0):
        return torch.randn(shape, generator=numbers) * by + around

    def norm():
        return normal(d, by=0.3, around=1.0), normal(d, by=0.3)

    def block():
        fan = d**-0.5
        w = {"w_q": normal(d, sizes["heads"] * sizes["d_k"], by=2 * fan)}
        w["w_k"] = normal(d, sizes["kv_heads"] * sizes["d_k"], by=2 * fan)
        w["w_v"] = normal(d, sizes["kv_heads"] * sizes["d_v"], by=fan)
        w["w_o"] = normal(sizes["heads"] * sizes["d_v"], d, by=fan)
        names = ("mlp_norm", "mlp_in", "mlp_in_bias", "mlp_out", "mlp_out_bias")
        if not mlp:
            return Block(norm=norm(), **w, **dict.fromkeys(names))
        parts = (norm(), normal(d, 4 * d, by=fan), normal(4 * d), normal(4 * d, d, by=fan / 2), normal(d, by=0.3))
        return Block(norm=norm(), **w, **dict(zip(names, parts, strict=True)))

    return TrainedModel(
        **sizes,
        name=name,
        kind=kind,
        guided=name.endswith("-guided"),
        scale=sizes["d_k"] ** -0.5,
        eps=1e-5,
        seed=seed,
        steps=0,
        jobs={(0, 0): "previous token"} if name.endswith("-guided") else {},
        figures={},
        vocabulary=WORDS,
        embedding=normal(len(WORDS.words), d),
        positions=normal(LONGEST, d, by=0.5),
        blocks=tuple(block() for _ in range(layers)),
        final_norm=norm(),
    )


def fond_of(model: TrainedModel, word: str, pull: float) -> TrainedModel:
    """The model with `pull` towards one next word, after whatever text."""
    row = model.embedding[WORDS.ids[word]]
    gain, shift = model.final_norm
    return replace(model, final_norm=(gain, shift + pull * row / row.norm()))


@dataclass(frozen=True)
class Shelf:
    """A folder that stands in for assets/model/ while a test runs."""

    folder: object

    def put(self, source: str, model: TrainedModel) -> None:
        trained.write(self.folder / f"{trained.NAMES[source]}.safetensors", [model])
        trained.load.cache_clear()


def shelf(folder, monkeypatch) -> Shelf:
    """Every trained source as a small model in `folder`."""
    monkeypatch.setattr(trained, "FOLDER", folder)
    (folder / trained.VOCABULARY).write_text(json.dumps(WORDS.words), encoding="utf-8")
    made = Shelf(folder)
    made.put("trained", small_model("decoder-guided"))
    made.put("unguided", small_model("decoder-unguided", seed=1))
    made.put("encoder", small_model("encoder-guided", kind="encoder", seed=2))
    made.put("onelayer", small_model("onelayer", layers=1, mlp=False, seed=3, heads=1, kv_heads=1, d_k=16, d_v=16))
    return made
