"""Which models there are, and how all of their files are made: `make train`, or `python -m attention train`.

Two models at a time, each on one thread, so that the same machine makes the same files however many cores it has.
An interrupted training goes on from its checkpoints in `.training/`, as long as its recipe is the same; delete that
folder after a change of the grammar.
"""

import hashlib
import json
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import torch

from .batches import stream
from .figures import figures
from .forward import forward
from .grammar import vocabulary_words
from .rank import canonical
from .shelf import gradients
from .tokeniser import Vocabulary
from .train import Recipe, State, advance, begin, finished, load_checkpoint, save_checkpoint
from .trained import FAMILY, FAMILY_WIDTHS, FOLDER, VOCABULARY, TrainedModel, path_of, read, write

UNFINISHED = FOLDER.parents[1] / ".training"  # checkpoints and models whose file is not complete yet
CHECKPOINT_EVERY = 250
AT_A_TIME = 2
ROWS_FROM = 16  # batches whose rows weigh what matters in W_Q W_K^T

ONE_LAYER = Recipe(
    "onelayer",
    guided=False,
    task="shelf",
    layers=1,
    heads=1,
    d_model=64,
    d_v=4,
    d_ff=0,
    steps=1200,
    rate=4e-3,
    decay=0.1,
)
RECIPES = (
    Recipe("decoder-guided", steps=4600),
    Recipe("decoder-unguided", steps=4600, guided=False),
    Recipe("encoder-guided", steps=6400, kind="encoder"),
    ONE_LAYER,
)
FAMILY_RECIPES = tuple(
    replace(ONE_LAYER, name=f"d_k {d_k}, {'scaled' if scaled else 'unscaled'}", d_k=d_k, d_v=32, scaled=scaled)
    for d_k in FAMILY_WIDTHS
    for scaled in (True, False)
)


def main() -> int:
    """Trains everything and writes the files."""
    words = Vocabulary(vocabulary_words())
    FOLDER.mkdir(parents=True, exist_ok=True)
    UNFINISHED.mkdir(exist_ok=True)
    (FOLDER / VOCABULARY).write_text(json.dumps(words.words, ensure_ascii=False) + "\n", encoding="utf-8")
    (UNFINISHED / VOCABULARY).write_bytes((FOLDER / VOCABULARY).read_bytes())
    recipes = (*RECIPES, *FAMILY_RECIPES)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(AT_A_TIME, mp_context=context) as pool:
        made = list(pool.map(make, recipes))
    for recipe, path in zip(recipes, made, strict=True):
        if recipe in RECIPES:
            write(path_of(recipe.name), list(read(path).values()))
    family = [read(path)[recipe.name] for recipe, path in zip(recipes, made, strict=True) if recipe in FAMILY_RECIPES]
    write(path_of(FAMILY), family)
    for path in UNFINISHED.iterdir():
        path.unlink()
    UNFINISHED.rmdir()
    return 0


def make(recipe: Recipe) -> Path:
    """One model, trained, measured and written to the folder of unfinished files."""
    from tqdm import tqdm

    torch.set_num_threads(1)
    mark = hashlib.sha256(repr(recipe).encode()).hexdigest()[:8]
    done, checkpoint = (UNFINISHED / f"{recipe.name} {mark}.{kind}" for kind in ("safetensors", "pt"))
    if done.exists():
        return done
    words = Vocabulary(vocabulary_words())
    state = load_checkpoint(recipe, checkpoint, words) if checkpoint.exists() else begin(recipe, words)
    with tqdm(total=recipe.steps, initial=state.step, desc=recipe.name, position=_place()) as bar:
        model = _to_the_end(recipe, state, checkpoint, lambda loss: (bar.set_postfix(loss=f"{loss:.3f}"), bar.update()))
    write(done, [replace(model, figures=_figures(recipe, model, words))])
    return done


def _to_the_end(recipe: Recipe, state: State, checkpoint: Path, report: Callable[[float], object]) -> TrainedModel:
    while state.step < recipe.steps:
        until = min(state.step + CHECKPOINT_EVERY, recipe.steps)
        state = advance(recipe, state, until, lambda _, loss: report(loss))
        save_checkpoint(state, checkpoint)
    model = finished(state)
    return canonical(model, rows_of(recipe, model))


def rows_of(recipe: Recipe, model: TrainedModel) -> list[torch.Tensor]:
    """For each layer the rows (N, d_model) that its projections see in the training stream."""
    found: list[list[torch.Tensor]] = [[] for _ in model.blocks]
    for step in range(recipe.steps, recipe.steps + ROWS_FROM):
        batch = stream(recipe.kind, recipe.task, recipe.seed, step, recipe.steps, recipe.batch, model.vocabulary)
        with torch.inference_mode():
            done = forward(model, batch.ids, batch.keep)
        for layer, rows in enumerate(done.rows):
            found[layer].append(rows[batch.keep])
    return [torch.cat(rows).clone() for rows in found]


def _figures(recipe: Recipe, model: TrainedModel, words: Vocabulary) -> dict:
    """What goes into the file: of the one-layer family only how it began, the rest is measured by `eval`."""
    if recipe not in FAMILY_RECIPES:
        return figures(model)
    return {f"{name}, start": value for name, value in gradients(finished(begin(recipe, words))).items()}


def _place() -> int:
    """The line of this process's progress bar."""
    identity = multiprocessing.current_process()._identity
    return (identity[0] - 1) % AT_A_TIME if identity else 0
