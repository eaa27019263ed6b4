"""From what a link or a reader asks for to settings that can run, with a note for all that had to be changed.

Nothing here draws. A note names the control that it belongs to; `ui/controls.py` shows it there.
"""

from collections.abc import Callable
from typing import NamedTuple

from attention.choices import is_fraction
from attention.settings import MAX_SQUARES, RANGES, Settings, SettingsError
from ui.values import DEFAULTS, NAMES, Note, read

NEEDS_TRAINED = ("generate", "rank", "zeroed", "flattened")
NEEDS_RANDOM = ("split", "d_model", "d_k", "d_v", "heads", "kv_heads", "layers", "positions", "pairing", "seed")


class Look(NamedTuple):
    """What is looked at, counted from 1. step None: the stage's own choice."""

    layer: int
    head: int
    step: int | None


class Repaired(NamedTuple):
    """settings: what runs, None where the text cannot. asked: the reader's own values, each legal alone."""

    settings: Settings | None
    look: Look
    notes: tuple[Note, ...]
    asked: dict


def repair(values: dict) -> Repaired:
    """values: any of `NAMES`, as text out of a link or as plain values; `text` is required. Never raises."""
    notes: list[Note] = []
    asked = {"text": str(values["text"])}
    for name in NAMES[1:]:
        asked[name] = read(name, values.get(name), notes)
    bare = _bare(asked, notes)
    if bare is None:
        return Repaired(None, Look(asked["layer"], asked["head"], None), tuple(notes), asked)
    settings = _together(asked, bare, notes)
    look = _look(asked, settings, len(bare.tokens), notes) if settings else Look(1, 1, None)
    return Repaired(settings, look, tuple(notes), asked)


def link(asked: dict, lang: str | None = None) -> dict[str, str]:
    """The settings as a link spells them: the text, and all that is not as it comes."""
    usual = {**DEFAULTS, "layer": 1, "head": 1, "step": None}
    kept = {name: asked[name] for name in NAMES[1:] if asked[name] not in (None, usual[name])}
    words = {name: _spelled(name, value) for name, value in kept.items()}
    return {"text": asked["text"], **words, **({"lang": lang} if lang else {})}


def _spelled(name: str, value) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:.12g}" if is_fraction(name) else str(value)


def _bare(asked: dict, notes: list[Note]) -> Settings | None:
    """The text by itself under its source: what is wrong with it must not hang on another control.

    A source whose weights cannot be read gives way to random weights, with a note.
    """
    for source in dict.fromkeys((asked["source"], "random")):
        try:
            return Settings(asked["text"], split=asked["split"], source=source)
        except SettingsError as error:
            notes.append(Note(error.field, error.code, dict(error.values)))
            if error.field != "source":
                break
    return None


# all values together


def _together(asked: dict, bare: Settings, notes: list[Note]) -> Settings | None:
    use = {name: asked[name] for name in ("text", *DEFAULTS)} | {"source": bare.source}
    n = len(bare.tokens)

    def change(name: str, value, code: str, **values):
        notes.append(Note(name, code, {"arrived": use[name], "used": value, **values}))
        use[name] = value

    _without_effect(use, bare, notes)
    (_mend_random if bare.model is None else _mend_trained)(use, bare, change)
    if use["mask"] == "window" and use["width"] < 1:
        change("width", 1, "window_width")
    if use["prompt"] is not None and use["prompt"] > n and not _is_encoder(bare):
        change("prompt", n, "prompt_range", n=n)
    try:
        return Settings(**use)
    except SettingsError as error:  # a rule of Settings that nothing above mends
        notes.append(Note(error.field, error.code, dict(error.values)))
        return None


def _is_encoder(bare: Settings) -> bool:
    return bare.model is not None and not bare.model.causal


def _without_effect(use: dict, bare: Settings, notes: list[Note]) -> None:
    """Takes out what this source has none of, or has of its own, in one note: it comes back with another source."""
    absent = NEEDS_TRAINED if bare.model is None else NEEDS_RANDOM + (("generate",) if _is_encoder(bare) else ())
    names = [name for name in absent if use[name] != DEFAULTS[name]]
    if names:
        notes.append(Note("source", "no_effect", {"names": names}))
        use |= {name: DEFAULTS[name] for name in names}


def _mend_random(use: dict, bare: Settings, change: Callable) -> None:
    n = len(bare.tokens)
    if use["positions"] == "rotary" and use["d_k"] % 2:
        change("d_k", use["d_k"] + 1 if use["d_k"] < RANGES["d_k"][1] else use["d_k"] - 1, "odd_d_k")
    if use["heads"] % use["kv_heads"]:
        most = min(use["heads"], use["kv_heads"])
        divisor = next(k for k in range(most, 0, -1) if use["heads"] % k == 0)
        change("kv_heads", divisor, "kv_heads_divide", heads=use["heads"])
    if use["heads"] * use["layers"] * n * n > MAX_SQUARES:
        change("layers", max(1, MAX_SQUARES // (use["heads"] * n * n)), "too_large", heads=use["heads"], n=n)


def _mend_trained(use: dict, bare: Settings, change: Callable) -> None:
    if use["rank"] is not None and use["rank"] > bare.d_k:
        change("rank", bare.d_k, "rank_range", n=bare.d_k)
    there = {f"{layer}.{head}" for layer in range(1, bare.layers + 1) for head in range(1, bare.heads + 1)}
    for name in ("zeroed", "flattened"):
        absent = [head for head in use[name] if head not in there]
        if absent:
            use[name] = tuple(head for head in use[name] if head in there)
            change(name, use[name], "absent_head", heads=absent)


def _look(asked: dict, settings: Settings, n: int, notes: list[Note]) -> Look:
    n = n if settings.generate == 0 else settings.most_tokens

    def last(name: str, count: int) -> int | None:
        if asked[name] is not None and asked[name] > count:
            notes.append(Note(name, f"{name}_range", {"arrived": asked[name], "used": count, "n": count}))
            return count
        return asked[name]

    return Look(last("layer", settings.layers), last("head", settings.heads), last("step", n))
