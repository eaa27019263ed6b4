"""One value of a link or a widget by itself: as text or as it is, made legal, with a note where it was changed."""

import math
import re
from dataclasses import dataclass, fields

from attention.choices import FULL, LEARNED, is_fraction
from attention.settings import BREAKS, CHOICES, RANGES, Settings, SettingsError, parse

SOURCE = "trained"  # what a page starts with; random weights stand in where its file cannot be used
DEFAULTS = {field.name: field.default for field in fields(Settings) if field.name != "text"} | {"source": SOURCE}
LOOK = ("layer", "head", "step")
NAMES = ("text", *DEFAULTS, *LOOK)
HEAD = re.compile(r"[1-4]\.([1-9]|1[0-6])")  # a head, spelled as layer.head


@dataclass(frozen=True)
class Note:
    """One sentence to show at a control: `notes.<code>` of the language files, filled in with `values`."""

    field: str
    code: str
    values: dict


def default(name: str):
    """What stands where nothing was given; None where another value decides."""
    return 1 if name in ("layer", "head") else DEFAULTS.get(name)


def read(name: str, given, notes: list[Note]):
    """The legal value that `given` means for `name`; what had to be changed is added to `notes`."""
    return default(name) if given is None else READERS[name](name, given, notes)


def short(given) -> str:
    given = str(given)
    return given if len(given) <= 24 else given[:24] + "…"


def _number(name: str, given, notes: list[Note]) -> int | float | None:
    try:
        number = parse(name if is_fraction(name) else "seed", str(given))
    except SettingsError:
        number = math.nan
    if number != number:  # NaN; a whole number may be too large to ask math.isnan
        code = "no_default" if default(name) is None else "not_a_number"
        notes.append(Note(name, code, {"arrived": short(given), "used": default(name)}))
        return default(name)
    low, high = RANGES.get(name, (1, math.inf))
    return _inside(name, number, low, high, notes)


def _inside(name: str, number, low, high, notes: list[Note]):
    used = min(max(number, low), high)
    if used != number and high == math.inf:
        notes.append(Note(name, "too_small", {"arrived": short(number), "used": used, "low": low}))
    elif used != number:
        values = {"arrived": short(number), "used": used, "low": low, "high": high}
        notes.append(Note(name, "out_of_range", values))
    return used


def _choice(name: str, given, notes: list[Note]) -> str:
    if given in CHOICES[name]:
        return given
    values = {"arrived": short(given), "used": DEFAULTS[name], "choices": CHOICES[name]}
    notes.append(Note(name, "not_a_choice", values))
    return DEFAULTS[name]


def _positions(name: str, given, notes: list[Note]) -> str:
    """A trained source brings its own, whatever is chosen: that name is no choice, and no mistake."""
    return DEFAULTS[name] if given == LEARNED else _choice(name, given, notes)


def _rank(name: str, given, notes: list[Note]) -> int | None:
    return None if given == FULL else _number(name, given, notes)


def _parts(given) -> list[str]:
    return [part.strip() for part in given.split(",")] if isinstance(given, str) else list(given)


def _breaks(name: str, given, notes: list[Note]) -> tuple[str, ...]:
    parts = _parts(given)
    for unknown in filter(None, dict.fromkeys(part for part in parts if part not in BREAKS)):
        notes.append(Note(name, "unknown_break", {"arrived": short(unknown)}))
    return tuple(known for known in BREAKS if known in parts)


def _heads(name: str, given, notes: list[Note]) -> tuple[str, ...]:
    """Heads as layer.head; which of them there are depends on the source."""
    parts = list(filter(None, dict.fromkeys(_parts(given))))
    for unknown in (part for part in parts if not HEAD.fullmatch(part)):
        notes.append(Note(name, "unknown_head", {"arrived": short(unknown)}))
    return tuple(sorted(filter(HEAD.fullmatch, parts), key=lambda head: [int(part) for part in head.split(".")]))


READERS = {
    **dict.fromkeys((name for name in RANGES if name != "rank"), _number),
    **dict.fromkeys(LOOK, _number),
    **dict.fromkeys(CHOICES, _choice),
    "positions": _positions,
    "rank": _rank,
    "breaks": _breaks,
    "zeroed": _heads,
    "flattened": _heads,
}
