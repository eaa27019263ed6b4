"""What a setting can be: names to choose from, ranges, and how text from a link or a flag is read."""

import operator
import re
from math import isfinite

from .errors import SettingsError
from .tokens import SPLITS
from .trained import NAMES

MAX_TOKENS = 512
MAX_CHARACTERS = 4000
STAGE_TOKENS = 64
MAX_SQUARES = 16 * MAX_TOKENS**2  # heads * layers * tokens^2: what the squares of one run may add up to

BREAKS = ("position", "mask", "stale", "causal")
CHOICES = {
    "split": tuple(SPLITS),
    "source": ("random", *NAMES),
    "mask": ("causal", "bidirectional", "window", "prefix"),
    "positions": ("none", "sinusoidal", "rotary", "alibi"),
    "pairing": ("interleaved", "halves"),
    "scale": ("on", "off"),
    "sampling": ("greedy", "sample"),
    "dtype": ("float64", "float32", "bfloat16", "float16"),
    "breaks": BREAKS,
}
LEARNED = "learned"  # the positions of every trained source, and of no other
RANGES = {
    "d_model": (1, 256),
    "d_k": (1, 256),
    "d_v": (1, 256),
    "heads": (1, 16),
    "kv_heads": (1, 16),
    "layers": (1, 4),
    "width": (0, MAX_TOKENS),
    "temperature": (0.01, 100.0),
    "seed": (0, 2**31 - 1),
    "prompt": (1, MAX_TOKENS),
    "generate": (0, MAX_TOKENS),
    "sampling_temperature": (0.01, 100.0),
    "top_k": (0, 1000),
    "sampling_seed": (0, 2**31 - 1),
    "rank": (1, 256),
}
FULL = "full"  # how a rank that takes nothing away is spelled


def parse(field: str, text: str):
    """The value that `text`, from a link or a flag, means for `field`. Raises SettingsError where it means
    none.
    """
    if field not in RANGES or (field == "rank" and text.strip() == FULL):
        return text
    if is_fraction(field):
        try:
            return float(text if text.isascii() and "_" not in text else "?")  # 1_0 and ٣ are Python's, not a reader's
        except ValueError:
            raise _not_a_number(field, text) from None
    if not re.fullmatch(r"[+-]?[0-9]{1,1000}", text.strip()):
        raise _not_a_number(field, text)
    return int(text)


def is_fraction(field: str) -> bool:
    """Whether a field with a range takes fractions too."""
    return field.endswith("temperature")


def choice(field: str, value, more: tuple[str, ...] = ()):
    """`value` where it is one of the field's names or of `more`."""
    if value not in CHOICES[field] + more:
        raise SettingsError(field, "not_a_choice", value=value, choices=list(CHOICES[field]))
    return value


def number(field: str, value, high: int | None = None) -> int | float:
    """`value` as a plain number within the field's range, which `high` can end earlier."""
    low, high = RANGES[field][0], high or RANGES[field][1]
    value = _positive(field, value) if is_fraction(field) else whole_number(field, value)
    if not low <= value <= high:
        raise SettingsError(field, "out_of_range", value=value, kind=_kind(field), low=low, high=high)
    return value


def names(field: str, value, known: list[str], code: str) -> tuple[str, ...]:
    """`value`, "" or "a,b" or an iterable, as those of `known` that it names, in the order of `known`."""
    try:
        parts = value.split(",") if isinstance(value, str) else list(value)
    except TypeError:
        parts = [value]
    wanted = [part.strip() if isinstance(part, str) else part for part in parts]
    for name in wanted:
        if name not in known and name != "":
            raise SettingsError(field, code, value=name, choices=known)
    return tuple(name for name in known if name in wanted)


def whole_number(field: str, value) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise _not_a_number(field, value) from None


def _positive(field: str, value) -> float:
    if isinstance(value, (bool, str)):
        raise _not_a_number(field, value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise _not_a_number(field, value) from None
    if not isfinite(number):
        raise _not_a_number(field, number)
    return number


def _not_a_number(field: str, value) -> SettingsError:
    low, high = RANGES[field]
    arrived = value if isinstance(value, (str, int)) else str(value)
    return SettingsError(field, "not_a_number", value=arrived, kind=_kind(field), low=low, high=high)


def _kind(field: str) -> str:
    return "number" if is_fraction(field) else "whole number"
