"""From what a link or a reader asks for to settings that can run, with a note for all that had to be changed.

Nothing here draws. A note names the control that it belongs to; `ui/controls.py` shows it there.
"""

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

from attention.settings import BREAKS, CHOICES, MAX_SQUARES, RANGES, Settings, SettingsError, parse

WHOLE = ("d_model", "d_k", "d_v", "heads", "kv_heads", "layers", "width", "seed")
DEFAULTS = {field.name: field.default for field in fields(Settings) if field.name != "text"}
LOOK = ("layer", "head", "step")
NAMES = ("text", *DEFAULTS, *LOOK)


@dataclass(frozen=True)
class Note:
    """One sentence to show at a control: `notes.<code>` of the language files, filled in with `values`."""

    field: str
    code: str
    values: dict


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
        given = values.get(name)
        asked[name] = _default(name) if given is None else READERS[name](name, given, notes)
    try:
        # the text by itself: what it says must not hang on another control
        n = len(Settings(text=asked["text"], split=asked["split"]).tokens)
    except SettingsError as error:
        notes.append(Note("text", error.code, dict(error.values)))
        return Repaired(None, Look(asked["layer"], asked["head"], None), tuple(notes), asked)
    settings = _together(asked, n, notes)
    look = _look(asked, settings, n, notes) if settings else Look(1, 1, None)
    return Repaired(settings, look, tuple(notes), asked)


def link(asked: dict, lang: str | None = None) -> dict[str, str]:
    """The settings as a link spells them: the text, and all that is not as it comes."""
    usual = {**DEFAULTS, "layer": 1, "head": 1, "step": None}
    kept = {name: asked[name] for name in NAMES[1:] if asked[name] not in (None, usual[name])}
    words = {
        name: ",".join(value)
        if name == "breaks"
        else f"{value:.12g}"
        if name == "temperature"
        else str(value)
        for name, value in kept.items()
    }
    return {"text": asked["text"], **words, **({"lang": lang} if lang else {})}


# one value by itself


def _short(given) -> str:
    given = str(given)
    return given if len(given) <= 24 else given[:24] + "…"


def _default(name: str):
    return 1 if name in ("layer", "head") else DEFAULTS.get(name)


def _number(name: str, given, notes: list[Note]) -> int | float | None:
    try:
        number = parse("temperature" if name == "temperature" else "seed", str(given))
    except SettingsError:
        number = math.nan
    if math.isnan(number):
        code = "no_default" if _default(name) is None else "not_a_number"
        notes.append(Note(name, code, {"arrived": _short(given), "used": _default(name)}))
        return _default(name)
    low, high = RANGES.get(name, (1, math.inf))
    return _inside(name, number, low, high, notes)


def _inside(name: str, number, low, high, notes: list[Note]):
    used = min(max(number, low), high)
    if used != number and high == math.inf:
        notes.append(Note(name, "too_small", {"arrived": _short(number), "used": used, "low": low}))
    elif used != number:
        values = {"arrived": _short(number), "used": used, "low": low, "high": high}
        notes.append(Note(name, "out_of_range", values))
    return used


def _choice(name: str, given, notes: list[Note]) -> str:
    if given in CHOICES[name]:
        return given
    values = {"arrived": _short(given), "used": DEFAULTS[name], "choices": CHOICES[name]}
    notes.append(Note(name, "not_a_choice", values))
    return DEFAULTS[name]


def _source(name: str, given, notes: list[Note]) -> str:
    if given != "random":  # the page shows no other yet
        values = {"arrived": _short(given), "used": "random", "choices": ("random",)}
        notes.append(Note(name, "not_a_choice", values))
    return "random"


def _unread(name: str, given, notes: list[Note]):
    return _default(name)


def _breaks(name: str, given, notes: list[Note]) -> tuple[str, ...]:
    parts = [part.strip() for part in given.split(",")] if isinstance(given, str) else list(given)
    for unknown in filter(None, dict.fromkeys(part for part in parts if part not in BREAKS)):
        notes.append(Note(name, "unknown_break", {"arrived": _short(unknown)}))
    return tuple(known for known in BREAKS if known in parts)


def _nothing(name: str, given, notes: list[Note]) -> int:
    if str(given).strip() not in ("", "0"):
        notes.append(Note("source", "generate_random", {"arrived": _short(given)}))
    return 0


READERS = {
    **dict.fromkeys((*WHOLE, "temperature", "prompt", *LOOK), _number),
    **dict.fromkeys(("split", "mask", "positions", "pairing", "scale", "dtype"), _choice),
    "breaks": _breaks,
    "generate": _nothing,
    "source": _source,
    **dict.fromkeys(("sampling", "sampling_temperature", "top_k", "sampling_seed"), _unread),
    **dict.fromkeys(("rank", "zeroed", "flattened"), _unread),
}


# all values together


def _together(asked: dict, n: int, notes: list[Note]) -> Settings | None:
    use = {name: asked[name] for name in ("text", *DEFAULTS)}

    def change(name: str, value, code: str, **values):
        notes.append(Note(name, code, {"arrived": use[name], "used": value, **values}))
        use[name] = value

    if use["positions"] == "rotary" and use["d_k"] % 2:
        change("d_k", use["d_k"] + 1 if use["d_k"] < RANGES["d_k"][1] else use["d_k"] - 1, "odd_d_k")
    if use["heads"] % use["kv_heads"]:
        most = min(use["heads"], use["kv_heads"])
        divisor = next(k for k in range(most, 0, -1) if use["heads"] % k == 0)
        change("kv_heads", divisor, "kv_heads_divide", heads=use["heads"])
    if use["mask"] == "window" and use["width"] < 1:
        change("width", 1, "window_width")
    if use["heads"] * use["layers"] * n * n > MAX_SQUARES:
        change("layers", max(1, MAX_SQUARES // (use["heads"] * n * n)), "too_large", heads=use["heads"], n=n)
    if use["prompt"] is not None and use["prompt"] > n:
        change("prompt", n, "prompt_range", n=n)
    try:
        return Settings(**use)
    except SettingsError as error:  # a rule of Settings that nothing above mends
        notes.append(Note(error.field, error.code, dict(error.values)))
        return None


def _look(asked: dict, settings: Settings, n: int, notes: list[Note]) -> Look:
    def last(name: str, count: int) -> int | None:
        if asked[name] is not None and asked[name] > count:
            notes.append(Note(name, f"{name}_range", {"arrived": asked[name], "used": count, "n": count}))
            return count
        return asked[name]

    return Look(last("layer", settings.layers), last("head", settings.heads), last("step", n))
