"""Whatever a link or a reader says: a clear message in the reader's language, nothing lost, no traceback."""

import pytest

from tests.pages.reader import Reader
from ui import text

HOSTILE = {
    "d_k": ["-1", "abc", "", "1e9", "٣", "8.5"],
    "d_model": ["0", "257"],
    "heads": ["abc", "0", "17"],
    "kv_heads": ["3", "99"],
    "layers": ["99", "None"],
    "width": ["-1", "0"],
    "seed": ["-1", "99999999999999999999"],
    "temperature": ["nan", "inf", "0", "-1", "1,5"],
    "mask": ["<b>", "滑动窗口", ""],
    "positions": ["<img src=x onerror=alert(1)>"],
    "pairing": ["x"],
    "scale": ["maybe"],
    "split": ["bytes"],
    "source": ["gpt", "<b>"],
    "prompt": ["0", "99", "x"],
    "breaks": ["foo", ",,", "<b>"],
    "generate": ["3", "x"],
    "sampling": ["beam"],
    "sampling_temperature": ["0", "x"],
    "top_k": ["-1"],
    "sampling_seed": ["x"],
    "rank": ["4", "x", "0"],
    "zeroed": ["1.1", "x", "<b>"],
    "flattened": ["1.1", "9.9"],
    "dtype": ["int4"],
    "layer": ["99", "0", "x"],
    "head": ["99", "-1"],
    "step": ["0", "99", "x"],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_each_setting_falls_back_with_a_note(name):
    for value in HOSTILE[name]:
        reader = Reader(text="dog bites man", **{name: value}).calm()
        assert reader.scene["tokens"] == ["dog", "bites", "man"]
        if value not in ("", ",,") and (name, value) not in {("width", "0"), ("kv_heads", "99")}:
            assert reader.app.warning, (name, value)


@pytest.mark.parametrize("lang", text.LANGUAGES)
def test_a_link_with_everything_wrong_at_once(lang):
    wrong = {name: values[0] for name, values in HOSTILE.items() if name != "source"}
    reader = Reader(lang=lang, text="<b>x</b> **y** $z$", **wrong).calm()
    assert len(reader.app.warning) >= 15
    assert reader.scene["tokens"] == ["<b>x</b>", "**y**", "$z$"]
    assert Reader(**reader.link).calm().link == reader.link


def test_an_unknown_language_and_strange_names_are_left_alone():
    reader = Reader(lang="<b>", utm="1", text="a b").calm()
    assert reader.link == {"text": "a b"}


@pytest.mark.parametrize("lang", text.LANGUAGES)
@pytest.mark.parametrize(
    "words, code",
    [
        ("", "empty_text"),
        ("   ", "empty_text"),
        ("x" * 5000, "too_many_characters"),
        ("a " * 513, "too_many_tokens"),
        ("我" * 513, "too_many_tokens"),
    ],
)
def test_a_sentence_that_cannot_run_is_explained_and_stays(lang, words, code):
    reader = Reader(lang=lang, text=words, d_k="12").calm()
    first = text.load(lang)(f"errors.{code}").split("{")[0]
    assert first in reader.said
    assert reader.app.text_input(key="text").value == words
    assert reader.link["text"] == words and reader.link["d_k"] == "12"
    assert "scene" not in reader.mounted
    assert reader.set("text", "a b c", "text_input").calm().scene["tokens"] == ["a", "b", "c"]
    assert reader.scene["settings"]["d_k"] == 12


@pytest.mark.parametrize("lang", text.LANGUAGES)
@pytest.mark.parametrize("n", [65, 512])
def test_a_long_sentence_has_an_inspector_and_no_stage(lang, n):
    reader = Reader(lang=lang, text=" ".join(["tok"] * n)).calm()
    assert "scene" not in reader.mounted
    assert str(n) in reader.said and "64" in reader.said


def test_64_tokens_are_on_the_stage():
    assert len(Reader(text=" ".join(["tok"] * 64)).calm().scene["tokens"]) == 64


MARKUP = [
    "<s> a<b </s> <b>x</b> &amp; <br>",
    "<img src=x onerror=alert(1)>",
    "**x** $a$ :smile: [l](javascript:1)",
    "1 2 10",
    "2024-01-01 2024-01-02",
    "{text} {0} %s \\n",
    "a\nb\tc  d\u3000e\u200bf",
    "👨‍👩‍👧 cafe\u0301 👍🏽",
]


@pytest.mark.parametrize("words", MARKUP)
@pytest.mark.parametrize("split", ["words", "characters"])
def test_markup_and_odd_characters_are_tokens_like_any(words, split):
    reader = Reader(text=words, split=split).calm()
    assert "".join(reader.scene["tokens"]) == ("".join(words.split()) if split == "words" else words)
    quoted = [element.value for element in (*reader.app.markdown, *reader.app.caption, *reader.app.warning)]
    assert not any(words in value for value in quoted)


@pytest.mark.parametrize("lang", text.LANGUAGES)
def test_what_a_link_says_is_quoted_as_code_in_the_note(lang):
    reader = Reader(lang=lang, mask="**x** :red[y]").calm()
    assert any("` **x**␣:red[y] `" in warning.value for warning in reader.app.warning)


def test_the_last_head_is_kept_with_a_note_when_heads_go():
    reader = Reader(heads="8", kv_heads="8", head="8").calm()
    assert reader.scene["settings"]["head"] == 8
    reader.set("kv_heads", 2).set("heads", 2).calm()
    assert reader.scene["settings"]["head"] == 2 and "Head 8 is past the last one" in reader.said.replace("` 8 `", "8")
    assert reader.set("heads", 8).scene["settings"]["head"] == 8


def test_the_prompt_is_kept_with_a_note_when_the_sentence_gets_short():
    reader = Reader(text="a b c d e f", prompt="5").calm()
    reader.set("text", "a b c", "text_input").calm()
    assert reader.scene["prompt"] == 3 and reader.app.warning
    assert reader.set("text", "a b c d e f", "text_input").scene["prompt"] == 5


@pytest.mark.parametrize("words", ["我", "Hi"])
def test_one_token_is_a_whole_run(words):
    reader = Reader(text=words).calm()
    assert reader.scene["weights"] == [[1.0]]
    assert not [slider for slider in reader.app.slider if slider.key.startswith("prompt")]


def test_an_overflow_in_a_coarse_type_is_explained():
    huge = {"d_k": "256", "d_model": "256", "heads": "16", "kv_heads": "16", "layers": "4", "temperature": "0.01"}
    reader = Reader(dtype="float16", scale="off", **huge).calm()
    assert "overflows in float16" in reader.said and "scene" not in reader.mounted
    assert "scene" in reader.set("dtype", "float32", "selectbox").calm().mounted


def test_a_control_that_mends_a_note_takes_it_away():
    reader = Reader(d_k="abc", positions="rotary").calm()
    assert reader.app.warning
    assert not reader.set("d_k", 10).app.warning
    assert reader.set("d_k", 5).app.warning
    assert not reader.choose("positions_en", "sinusoidal").app.warning
