"""The words: both languages say the same things, and a reader's text stays text."""

import re
import string
from itertools import chain

import pytest

from attention.breaks import REASONS
from attention.settings import CHOICES, RANGES, Settings, SettingsError
from ui import text
from ui.repair import repair

FORMATTER = string.Formatter()


def leaves(tree: dict, path: str = "") -> dict[str, object]:
    """Dotted key -> what stands there, for everything that is not a table."""
    parts = (
        {f"{path}{key}": value} if not isinstance(value, dict) else leaves(value, f"{path}{key}.")
        for key, value in tree.items()
    )
    return dict(chain.from_iterable(part.items() for part in parts))


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in FORMATTER.parse(sentence) if name is not None}


WORDS = {lang: leaves(text.load(lang).table) for lang in text.LANGUAGES}


def test_both_languages_have_the_same_keys():
    assert set(WORDS["en"]) == set(WORDS["zh"])


@pytest.mark.parametrize("key", sorted(WORDS["en"]))
def test_a_sentence_has_the_same_placeholders_in_both(key):
    en, zh = WORDS["en"][key], WORDS["zh"][key]
    assert type(en) is type(zh)
    if isinstance(en, str):
        assert placeholders(en) == placeholders(zh)


def test_chinese_is_chinese():
    """A sentence with English words in it also holds Chinese, unless it is a name of one or two words."""
    english = re.compile(r"[A-Za-z]{4,}")
    shown = {
        key: re.sub(r"\{.*?\}", "", value) for key, value in WORDS["zh"].items() if isinstance(value, str)
    }
    left = [
        key
        for key, value in shown.items()
        if len(english.findall(value)) > 2 and not re.search("[\u4e00-\u9fff]", value)
    ]
    assert left == []


def test_every_lesson_is_there_in_both_languages():
    names = {
        lang: {file.name for file in (text.ASSETS / "lessons" / lang).glob("*.md")} for lang in text.LANGUAGES
    }
    assert names["en"] == names["zh"] != set()


@pytest.mark.parametrize("lang", text.LANGUAGES)
def test_every_choice_has_a_label_and_every_reason_a_sentence(lang):
    t = text.load(lang)
    for name in ("mask", "positions", "pairing", "split"):
        assert set(t.tree(f"controls.{name}.options")) == set(CHOICES[name])
    for name in CHOICES["breaks"]:
        assert t(f"breaks.{name}.label") and t(f"breaks.{name}.help")
    reasons = set(t.tree("breaks.reasons"))
    assert {"no_decode", "no_positions", "narrow_window", "same_mask", "same_row", "one_layer"} <= reasons
    assert {"not_causal", "same_tokens"} <= reasons and set(REASONS) == set(CHOICES["breaks"])


NASTY = {
    "text": "x",
    "d_k": "-1",
    "d_model": "1e9",
    "heads": "abc",
    "kv_heads": "3",
    "layers": "",
    "mask": "<b>",
    "width": "0",
    "positions": "*a*",
    "pairing": "$x$",
    "scale": ":red[x]",
    "temperature": "nan",
    "seed": "2.5",
    "split": "`",
    "source": "trained",
    "prompt": "99",
    "generate": "7",
    "breaks": "foo,,causal",
    "dtype": "int8",
    "layer": "0",
    "head": "99",
    "step": "99",
}


@pytest.mark.parametrize("lang", text.LANGUAGES)
def test_every_note_that_a_link_can_cause_has_its_sentence(lang):
    t = text.load(lang)
    for note in repair(NASTY).notes:
        shown = t.markdown(f"notes.{note.code}", **note.values)
        assert "{" not in shown


@pytest.mark.parametrize("lang", text.LANGUAGES)
@pytest.mark.parametrize("words", ["", " \t", "x" * 4001, "a " * 513])
def test_every_error_of_a_sentence_has_its_words(lang, words):
    with pytest.raises(SettingsError) as caught:
        Settings(words)
    assert text.load(lang).markdown(f"errors.{caught.value.code}", **caught.value.values)


def test_a_missing_key_is_named():
    with pytest.raises(KeyError, match=r"en\.toml has no nav\.nowhere"):
        text.load("en")("nav.nowhere")


@pytest.mark.parametrize(
    "words",
    ["a", "`", "a``b", "**x** $a$ :smile: [l](javascript:1)", "<img src=x onerror=alert(1)>", "```", "` `"],
)
def test_a_readers_text_stands_in_one_code_span(words):
    """CommonMark 6.1: a span ends at a run of as many backticks as began it, and at no other."""
    shown = text.plain(words)
    fence = shown[: len(shown) - len(shown.lstrip("`"))]
    inside = shown[len(fence) : -len(fence)]
    assert shown.endswith(fence) and not any(set(run) == {"`"} and run == fence for run in runs(inside))
    assert inside.strip() == words.replace(" ", "␣").strip()


def runs(words: str) -> list[str]:
    """The longest runs of backticks in `words`."""
    return [run for run in "".join(c if c == "`" else " " for c in words).split(" ") if run]


def test_invisible_and_long_text_is_shown_shortened_with_marks():
    assert text.plain("a\n\u200bb") == "` a⏎⟨U+200B⟩b `"
    assert len(text.plain("x" * 5000)) < 100


@pytest.mark.parametrize("lang", text.LANGUAGES)
def test_every_setting_with_a_range_has_its_words(lang):
    controls = text.load(lang).tree("controls")
    assert [name for name in RANGES if not controls.get(name, {}).get("label")] == []
