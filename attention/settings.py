"""Settings: every choice that decides a run, as frozen plain values under one vocabulary.

A field here is a parameter of the link, a flag of the command line and a key in the exported file.
"""

from dataclasses import dataclass, fields
from functools import cached_property

from . import trained
from .choices import (
    BREAKS,
    CHOICES,
    FULL,
    LEARNED,
    MAX_CHARACTERS,
    MAX_SQUARES,
    MAX_TOKENS,
    RANGES,
    STAGE_TOKENS,
    choice,
    names,
    number,
    parse,
    whole_number,
)
from .errors import SettingsError
from .tokeniser import Encoded, encode
from .tokens import SPLITS

__all__ = [
    "BREAKS",
    "CHOICES",
    "FULL",
    "LEARNED",
    "LISTS",
    "MAX_CHARACTERS",
    "MAX_SQUARES",
    "MAX_TOKENS",
    "RANGES",
    "STAGE_TOKENS",
    "Settings",
    "SettingsError",
    "parse",
    "places",
]
LISTS = ("breaks", "zeroed", "flattened")


@dataclass(frozen=True)
class Settings:
    """Validated at birth, hashable, compared by value. Sizes count elements, `width` keys, `prompt` tokens.

    `breaks`, `zeroed` and `flattened` take "", "position,mask" or an iterable and are kept in one order; heads
    are spelled layer.head, counted from 1. `prompt=None` becomes half the text, a `rank` that takes nothing
    away None. A trained source has its own split, sizes and positions, which replace what was given; so does
    an encoder's prompt, which is all tokens, and it reads ahead under `causal`, the default of `mask`.
    Raises SettingsError (a ValueError) that names the culprit, what arrived and what was needed.
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
    sampling: str = "greedy"
    sampling_temperature: float = 1.0
    top_k: int = 0
    sampling_seed: int = 0
    rank: int | None = None
    zeroed: tuple[str, ...] = ()
    flattened: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    dtype: str = "float32"

    def __post_init__(self):
        for field in CHOICES:
            if field != "breaks":
                choice(field, getattr(self, field), (LEARNED,) if field == "positions" else ())
        self._put(breaks=names("breaks", self.breaks, list(BREAKS), "unknown_break"))
        self._put(**{field: number(field, getattr(self, field)) for field in RANGES if field not in ("prompt", "rank")})
        model = self.model
        if model is not None:
            self._put(**_own(self, model))
        n_tokens = _check_text(self)
        encoder = model is not None and not model.causal
        prompt = max(1, n_tokens // 2) if self.prompt is None else whole_number("prompt", self.prompt)
        self._put(prompt=n_tokens if encoder else prompt)
        (_check_random if model is None else _check_trained)(self, model, n_tokens)
        _check_together(self, n_tokens)

    def _put(self, **values) -> None:
        for field, value in values.items():
            object.__setattr__(self, field, value)

    @property
    def model(self) -> trained.TrainedModel | None:
        """The model of a trained source, None of the random one. SettingsError where its file cannot be used."""
        if self.source == "random":
            return None
        try:
            return trained.load(self.source)
        except trained.WeightsError as error:
            values = {"source": self.source, "file": error.file, "reason": error.reason}
            raise SettingsError("source", error.code, **values) from error

    @cached_property
    def encoded(self) -> Encoded | None:
        """The text as a trained source reads it: ids, and which words it does not know."""
        model = self.model
        return None if model is None else encode(self.text, model.vocabulary, masks=not model.causal)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """What was typed, token by token; a run may add to it."""
        return SPLITS[self.split](self.text) if self.encoded is None else self.encoded.shown

    @property
    def most_tokens(self) -> int:
        """How many tokens a run of these settings can have: generated ones included, up to the last position."""
        wanted, model = len(self.tokens) + self.generate, self.model
        return wanted if model is None else min(wanted, len(model.positions))

    @property
    def mask_kind(self) -> str:
        """The mask that holds in both paths: the break `causal` lets every row read every key."""
        return "bidirectional" if "causal" in self.breaks else self.mask

    def to_dict(self) -> dict:
        """Every field as a plain JSON value, spelled as in links and flags (lists joined by commas)."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        lists = {field: ",".join(values[field]) for field in LISTS}
        return values | lists | {"rank": FULL if self.rank is None else self.rank}


def places(heads: tuple[str, ...]) -> frozenset[tuple[int, int]]:
    """(layer, head), counted from 0, of heads spelled as layer.head, counted from 1."""
    pairs = (head.split(".") for head in heads)
    return frozenset((int(layer) - 1, int(head) - 1) for layer, head in pairs)


def _own(s: Settings, model: trained.TrainedModel) -> dict:
    """What a model brings along, in place of what was asked for."""
    own = {name: getattr(model, name) for name in ("d_model", "d_k", "d_v", "heads", "kv_heads")}
    own |= {"layers": len(model.blocks), "positions": LEARNED, "split": "words"}
    return own | ({} if model.causal or s.mask != "causal" else {"mask": "bidirectional"})


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


def _check_random(s: Settings, model: None, n_tokens: int) -> None:
    """What only a trained source has."""
    if s.generate:
        raise SettingsError("generate", "generate_random", generate=s.generate)
    if s.positions == LEARNED:
        raise SettingsError("positions", "trained_only", value=LEARNED)
    if s.rank not in (None, FULL):
        number("rank", s.rank)
        raise SettingsError("rank", "trained_only", value=s.rank)
    for field in ("zeroed", "flattened"):
        if getattr(s, field) not in ("", (), []):
            raise SettingsError(field, "trained_only", value=str(getattr(s, field)))
    s._put(rank=None, zeroed=(), flattened=())


def _check_trained(s: Settings, model: trained.TrainedModel, n_tokens: int) -> None:
    """Where a model's positions end, and which ranks and heads it has."""
    if n_tokens > len(model.positions):
        raise SettingsError("text", "positions_end", tokens=n_tokens, limit=len(model.positions), source=s.source)
    if s.generate and not model.causal:
        raise SettingsError("generate", "generate_encoder", generate=s.generate, source=s.source)
    rank = s.d_k if s.rank in (None, FULL) else number("rank", s.rank, s.d_k)
    known = [f"{layer}.{head}" for layer in range(1, s.layers + 1) for head in range(1, s.heads + 1)]
    heads = {field: names(field, getattr(s, field), known, "unknown_head") for field in ("zeroed", "flattened")}
    s._put(rank=None if rank == s.d_k else rank, **heads)


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
    size = s.heads * s.layers * n_tokens**2
    if size > MAX_SQUARES:
        values = {"heads": s.heads, "layers": s.layers, "tokens": n_tokens, "size": size, "limit": MAX_SQUARES}
        raise SettingsError("text", "too_large", **values)
