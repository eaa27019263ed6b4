"""Settings: defaults, one spelling, and errors that name the culprit, what arrived and what was needed."""

import dataclasses
import json

import numpy as np
import pytest

from attention import Settings, SettingsError
from attention.settings import CHOICES, MAX_CHARACTERS, MAX_TOKENS, RANGES, parse

TEXT = "the cat sat on the mat"
DEFAULTS = {
    "text": TEXT,
    "split": "words",
    "source": "random",
    "d_model": 16,
    "d_k": 8,
    "d_v": 8,
    "heads": 2,
    "kv_heads": 2,
    "layers": 1,
    "mask": "causal",
    "width": 3,
    "positions": "sinusoidal",
    "pairing": "interleaved",
    "scale": "on",
    "temperature": 1.0,
    "seed": 0,
    "prompt": 3,
    "generate": 0,
    "sampling": "greedy",
    "sampling_temperature": 1.0,
    "top_k": 0,
    "sampling_seed": 0,
    "rank": "full",
    "zeroed": "",
    "flattened": "",
    "breaks": "",
    "dtype": "float32",
}


def test_defaults_and_spelling():
    assert Settings(TEXT).to_dict() == DEFAULTS
    assert Settings(**DEFAULTS) == Settings(TEXT)
    assert json.loads(json.dumps(Settings(TEXT, breaks="stale,mask").to_dict()))["breaks"] == "mask,stale"


@pytest.mark.parametrize(("n", "prompt"), [(1, 1), (2, 1), (3, 1), (5, 2), (12, 6)])
def test_the_prompt_is_half_the_text(n, prompt):
    assert Settings("a " * n).prompt == prompt


@pytest.mark.parametrize(
    "breaks",
    [
        "mask,position",
        " mask , position ",
        ["mask", "position"],
        {"position", "mask"},
        ("mask",) * 2 + ("position",),
    ],
)
def test_breaks_come_in_one_order(breaks):
    settings = Settings(TEXT, breaks=breaks)
    assert settings.breaks == ("position", "mask")
    assert settings == Settings(TEXT, breaks="position,mask") and len({settings, Settings(TEXT, breaks=breaks)}) == 1


@pytest.mark.parametrize("nothing", ["", (), [], ","])
def test_no_breaks(nothing):
    assert Settings(TEXT, breaks=nothing) == Settings(TEXT)


def test_frozen_and_compared_by_value():
    settings = Settings(TEXT, d_k=np.int64(4), temperature=2)
    assert settings == Settings(TEXT, d_k=4, temperature=2.0) and hash(settings) == hash(
        Settings(TEXT, d_k=4, temperature=2)
    )
    assert type(settings.d_k) is int and type(settings.temperature) is float
    assert settings != Settings(TEXT, d_k=4)
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.d_k = 5
    assert settings.tokens is settings.tokens == tuple(TEXT.split())


@pytest.mark.parametrize("field", CHOICES)
def test_every_choice_is_taken(field):
    for choice in CHOICES[field] if field != "source" else ["random"]:
        taken = getattr(Settings(TEXT, **{field: choice}), field)
        assert taken == ((choice,) if field == "breaks" else choice)


@pytest.mark.parametrize("field", [name for name in RANGES if name not in ("prompt", "generate", "kv_heads", "rank")])
def test_ranges_end_where_they_say(field):
    low, high = RANGES[field]
    more = {"kv_heads": 1} if field == "heads" else {}
    for value in (low, high):
        assert getattr(Settings(TEXT, **{field: value}, **more), field) == value
    for value in (low - 1, high + 1, -(10**30), 10**30):
        with pytest.raises(SettingsError) as error:
            Settings(TEXT, **{field: value})
        assert (error.value.field, error.value.code) == (field, "out_of_range")
        assert str(error.value).startswith(f"{field}: ") and f"{low} to {high}" in str(error.value)


LONG = "a" * (MAX_CHARACTERS + 1000)
ERRORS = [
    ({"text": ""}, "text", "empty_text", "''"),
    ({"text": " \n\t\u3000"}, "text", "empty_text", "arrived"),
    ({"text": "  ", "split": "characters"}, "text", "empty_text", "arrived"),
    ({"text": None}, "text", "not_text", "None"),
    ({"text": LONG}, "text", "too_many_characters", f"5000 characters arrived; at most {MAX_CHARACTERS}"),
    ({"text": "a " * 513}, "text", "too_many_tokens", f"513 tokens arrived; at most {MAX_TOKENS}"),
    ({"text": "a" * 513, "split": "characters"}, "text", "too_many_tokens", "513"),
    ({"mask": "triangle"}, "mask", "not_a_choice", "'triangle' arrived; needed one of causal, bidirectional"),
    ({"mask": ["causal"]}, "mask", "not_a_choice", "arrived"),
    ({"scale": True}, "scale", "not_a_choice", "True arrived; needed one of on, off"),
    ({"source": "tea"}, "source", "not_a_choice", "'tea' arrived; needed one of random, trained, unguided"),
    ({"sampling": "beam"}, "sampling", "not_a_choice", "'beam' arrived; needed one of greedy, sample"),
    ({"sampling_temperature": 0}, "sampling_temperature", "out_of_range", "a number from 0.01 to 100.0"),
    ({"top_k": 1.5}, "top_k", "not_a_number", "1.5"),
    ({"positions": "learned"}, "positions", "trained_only", "source random has none of it"),
    ({"rank": 4}, "rank", "trained_only", "4 arrived"),
    ({"rank": 0}, "rank", "out_of_range", "0 arrived"),
    ({"rank": "most"}, "rank", "not_a_number", "'most'"),
    ({"zeroed": "1.1"}, "zeroed", "trained_only", "1.1"),
    ({"flattened": ["1.1"]}, "flattened", "trained_only", "1.1"),
    ({"dtype": "int8"}, "dtype", "not_a_choice", "float16"),
    ({"d_k": "8"}, "d_k", "not_a_number", "'8' arrived; a whole number from 1 to 256"),
    ({"d_k": 8.0}, "d_k", "not_a_number", "8.0"),
    ({"d_k": True}, "d_k", "not_a_number", "True"),
    ({"seed": None}, "seed", "not_a_number", "None"),
    ({"prompt": "3"}, "prompt", "not_a_number", "'3'"),
    ({"temperature": float("nan")}, "temperature", "not_a_number", "nan"),
    ({"temperature": float("inf")}, "temperature", "not_a_number", "inf"),
    ({"temperature": "1"}, "temperature", "not_a_number", "a number from 0.01 to 100.0"),
    ({"temperature": 0}, "temperature", "out_of_range", "0.0 arrived"),
    ({"d_k": 10**5000}, "d_k", "out_of_range", "a whole number of 16610 bits"),
    ({"d_k": 5, "positions": "rotary"}, "d_k", "odd_d_k", "5 arrived"),
    (
        {"heads": 4, "kv_heads": 3},
        "kv_heads",
        "kv_heads_divide",
        "3 arrived; a number that divides heads = 4",
    ),
    ({"heads": 1}, "kv_heads", "kv_heads_divide", "2 arrived"),
    ({"mask": "window", "width": 0}, "width", "window_width", "0 arrived"),
    ({"prompt": 7}, "prompt", "prompt_range", "7 arrived; needed 1 to the number of tokens, 6"),
    ({"prompt": 0}, "prompt", "prompt_range", "0 arrived"),
    ({"text": "a " * 512, "heads": 16, "layers": 2}, "text", "too_large", "16 x 2 x 512^2 = 8388608"),
    ({"breaks": "stale,glass"}, "breaks", "unknown_break", "'glass' arrived; needed any of position, mask"),
    ({"breaks": 7}, "breaks", "unknown_break", "7 arrived"),
    ({"generate": 1}, "generate", "generate_random", "1 arrived"),
    ({"generate": -1}, "generate", "out_of_range", "-1 arrived"),
]


@pytest.mark.parametrize(("changes", "field", "code", "says"), ERRORS)
def test_errors(changes, field, code, says):
    with pytest.raises(ValueError, match=rf"^{field}: ") as caught:
        Settings(**{"text": TEXT} | changes)
    error = caught.value
    assert isinstance(error, SettingsError) and (error.field, error.code) == (field, code)
    assert says in str(error) and "\n" not in str(error) and len(str(error)) < 300
    assert error.values and all(isinstance(value, (str, int, float, list, bool)) for value in error.values.values())


def test_what_is_explained_elsewhere_is_taken():
    """Legal though it may look odd: nothing here reads the setting, or it means something plain."""
    for changes in (
        {"d_k": 5},
        {"d_model": 5},
        {"width": 0},
        {"mask": "prefix", "width": 0},
        {"mask": "prefix", "width": 500},
        {"mask": "window", "width": 500},
        {"heads": 6, "kv_heads": 1},
        {"text": "a " * 512, "heads": 16, "kv_heads": 16},
    ):
        Settings(**{"text": TEXT} | changes)


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("d_k", "12", 12),
        ("d_k", "-1", -1),
        ("d_k", " +3 ", 3),
        ("temperature", "0.5", 0.5),
        ("temperature", "1e1", 10.0),
        ("mask", "causal", "causal"),
        ("text", "12", "12"),
        ("breaks", "mask,stale", "mask,stale"),
        ("rank", "4", 4),
        ("rank", "full", "full"),
        ("sampling_temperature", "0.5", 0.5),
        ("top_k", "5", 5),
        ("zeroed", "2.1", "2.1"),
    ],
)
def test_parse(field, text, value):
    parsed = parse(field, text)
    assert parsed == value and type(parsed) is type(value)


@pytest.mark.parametrize("text", ["abc", "", "1.5", "1_0", "٣", "0x10", "--1", "9" * 5000, "1 2"])
def test_parse_names_what_is_no_number(text):
    with pytest.raises(SettingsError, match=r"^d_k: ") as error:
        parse("d_k", text)
    assert error.value.code == "not_a_number" and error.value.values["value"] == text
    assert len(str(error.value)) < 200
