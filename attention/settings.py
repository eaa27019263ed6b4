"""Settings: every choice that decides a run, as frozen plain values under one vocabulary.

A field here is a parameter of the link, a flag of the command line and a key in the exported file.
"""

import operator
import re
from dataclasses import dataclass, fields
from functools import cached_property
from math import isfinite

from .tokens import SPLITS

MAX_TOKENS = 512
MAX_CHARACTERS = 4000
STAGE_TOKENS = 64
MAX_SQUARES = 16 * MAX_TOKENS**2  # heads * layers * tokens^2: what the squares of one run may add up to

BREAKS = ("position", "mask", "stale", "causal")
CHOICES = {
    "split": tuple(SPLITS),
    "source": ("random",),
    "mask": ("causal", "bidirectional", "window", "prefix"),
    "positions": ("none", "sinusoidal", "rotary", "alibi"),
    "pairing": ("interleaved", "halves"),
    "scale": ("on", "off"),
    "dtype": ("float64", "float32", "bfloat16", "float16"),
    "breaks": BREAKS,
}
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
}

_SENTENCES = {
    "empty_text": "text: {value} arrived, which holds no token; at least one word or character is needed",
    "not_text": "text: {value} arrived; a string is needed",
    "too_many_characters": "text: {characters} characters arrived; at most {limit} are taken",
    "too_many_tokens": "text: {tokens} tokens arrived; at most {limit} are taken",
    "not_a_choice": "{field}: {value} arrived; needed one of {choices}",
    "not_a_number": "{field}: {value} arrived; a {kind} from {low} to {high} is needed",
    "out_of_range": "{field}: {value} arrived; a {kind} from {low} to {high} is needed",
    "odd_d_k": "d_k: {d_k} arrived; positions rotary turns pairs of features and needs an even d_k",
    "kv_heads_divide": "kv_heads: {kv_heads} arrived; a number that divides heads = {heads} is needed",
    "window_width": "width: {width} arrived; mask window counts the query itself and needs at least 1",
    "prompt_range": "prompt: {prompt} arrived; needed 1 to the number of tokens, {tokens}",
    "too_large": "text: heads x layers x tokens^2 = {heads} x {layers} x {tokens}^2 = {size} arrived; "
    "at most {limit} fits",
    "unknown_break": "breaks: {value} arrived; needed any of {choices}",
    "generate_random": "generate: {generate} arrived; source random has no next token and needs 0",
    "overflow": "dtype: {dtype} arrived and cannot hold {culprit}; a wider dtype, a smaller d_k or a higher "
    "temperature is needed",
}


class SettingsError(ValueError):
    """A setting that cannot be used. `field` and `code` name the trouble, `values` fill a translation."""

    def __init__(self, field: str, code: str, **values):
        self.field, self.code, self.values = field, code, values
        spelled = {name: _spell(name, value) for name, value in values.items()}
        super().__init__(_SENTENCES[code].format(field=field, **spelled))


def _spell(name: str, value) -> str:
    """A value for an English sentence, on one line and never long."""
    if name == "choices":
        return ", ".join(value)
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a whole number of {value.bit_length()} bits"
    spelled = repr(value) if name == "value" else str(value)
    return spelled if len(spelled) <= 80 else spelled[:77] + "..."


@dataclass(frozen=True)
class Settings:
    """Validated at birth, hashable, compared by value. Sizes count elements, `width` keys, `prompt` tokens.

    `breaks` takes "", "position,mask" or an iterable and is kept in one order. `prompt=None` becomes half the
    text. Raises SettingsError (a ValueError) that names the culprit, what arrived and what was needed.
    """

    text: str
    split: str = "words"
    source: str = "random"
    d_model: int = 16
    d_k: int = 8
    d_v: int = 8
    heads: int = 2
    kv_heads: int = 2
    layers: int = 1
    mask: str = "causal"
    width: int = 3
    positions: str = "sinusoidal"
    pairing: str = "interleaved"
    scale: str = "on"
    temperature: float = 1.0
    seed: int = 0
    prompt: int | None = None
    generate: int = 0
    breaks: tuple[str, ...] = ()
    dtype: str = "float32"

    def __post_init__(self):
        for field in CHOICES:
            if field != "breaks":
                _check_choice(field, getattr(self, field))
        object.__setattr__(self, "breaks", _canonical_breaks(self.breaks))
        for field in RANGES:
            if field != "prompt":
                object.__setattr__(self, field, _number(field, getattr(self, field)))
        n_tokens = _check_text(self)
        prompt = max(1, n_tokens // 2) if self.prompt is None else _whole("prompt", self.prompt)
        object.__setattr__(self, "prompt", prompt)
        _check_together(self, n_tokens)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return SPLITS[self.split](self.text)

    @property
    def mask_kind(self) -> str:
        """The mask that holds in both paths: the break `causal` lets every row read every key."""
        return "bidirectional" if "causal" in self.breaks else self.mask

    def to_dict(self) -> dict:
        """Every field as a plain JSON value, spelled as in links and flags (breaks joined by commas)."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {"breaks": ",".join(self.breaks)}


def parse(field: str, text: str):
    """The value that `text`, from a link or a flag, means for `field`. Raises SettingsError where it means
    none.
    """
    if field not in RANGES:
        return text
    if field == "temperature":
        try:
            return float(text)
        except ValueError:
            raise _not_a_number(field, text) from None
    if not re.fullmatch(r"[+-]?[0-9]{1,1000}", text.strip()):
        raise _not_a_number(field, text)
    return int(text)


def _check_choice(field: str, value) -> None:
    if value not in CHOICES[field]:
        raise SettingsError(field, "not_a_choice", value=value, choices=list(CHOICES[field]))


def _canonical_breaks(breaks) -> tuple[str, ...]:
    try:
        parts = breaks.split(",") if isinstance(breaks, str) else list(breaks)
    except TypeError:
        parts = [breaks]
    wanted = [part.strip() if isinstance(part, str) else part for part in parts]
    for name in wanted:
        if name not in BREAKS and name != "":
            raise SettingsError("breaks", "unknown_break", value=name, choices=list(BREAKS))
    return tuple(name for name in BREAKS if name in wanted)


def _number(field: str, value) -> int | float:
    low, high = RANGES[field]
    value = _positive(field, value) if field == "temperature" else _whole(field, value)
    if not low <= value <= high:
        raise SettingsError(field, "out_of_range", value=value, kind=_kind(field), low=low, high=high)
    return value


def _whole(field: str, value) -> int:
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
    return "number" if field == "temperature" else "whole number"


def _check_text(settings: Settings) -> int:
    """The number of tokens of a text that can be used."""
    text = settings.text
    if not isinstance(text, str):
        raise SettingsError("text", "not_text", value=str(text))
    if len(text) > MAX_CHARACTERS:
        raise SettingsError("text", "too_many_characters", characters=len(text), limit=MAX_CHARACTERS)
    if not text.strip() or not settings.tokens:
        raise SettingsError("text", "empty_text", value=text)
    n_tokens = len(settings.tokens)
    if n_tokens > MAX_TOKENS:
        raise SettingsError("text", "too_many_tokens", tokens=n_tokens, limit=MAX_TOKENS)
    return n_tokens


def _check_together(s: Settings, n_tokens: int) -> None:
    """Values that are fine alone and cannot be used together."""
    if not 1 <= s.prompt <= n_tokens:
        raise SettingsError("prompt", "prompt_range", prompt=s.prompt, tokens=n_tokens)
    if s.heads % s.kv_heads:
        raise SettingsError("kv_heads", "kv_heads_divide", kv_heads=s.kv_heads, heads=s.heads)
    if s.positions == "rotary" and s.d_k % 2:
        raise SettingsError("d_k", "odd_d_k", d_k=s.d_k)
    if s.mask == "window" and s.width < 1:
        raise SettingsError("width", "window_width", width=s.width)
    if s.generate and s.source == "random":
        raise SettingsError("generate", "generate_random", generate=s.generate)
    size = s.heads * s.layers * n_tokens**2
    if size > MAX_SQUARES:
        values = {
            "heads": s.heads,
            "layers": s.layers,
            "tokens": n_tokens,
            "size": size,
            "limit": MAX_SQUARES,
        }
        raise SettingsError("text", "too_large", **values)
