"""The twins page: two fields, two models, and what it says where they cannot be laid side by side."""

import json

import pytest
import streamlit as st

from attention import trained
from tests.pages.reader import Reader
from tests.unit import small_models
from ui import text

PAGE = "pages/twins.py"
PAIR = {"one": "the cat sat on the mat .", "other": "the cat sat on the book ."}


@pytest.fixture(autouse=True)
def models(tmp_path, monkeypatch):
    st.cache_resource.clear()  # runs are kept by their settings, and the files behind them change here
    yield small_models.shelf(tmp_path, monkeypatch)
    st.cache_resource.clear()
    trained.load.cache_clear()


def figures(reader: Reader) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in reader.app.get("plotly_chart")]


@pytest.mark.parametrize("lang", text.LANGUAGES)
def test_it_begins_with_a_pair_of_the_language(lang):
    reader = Reader(PAGE, lang=lang).calm()
    one, other = text.load(lang).tree("twins.pairs")[0]["sentences"]
    assert (reader.link["one"], reader.link["other"]) == (one, other)
    assert reader.app.text_input(key="twin_one").value == one


def test_rows_before_the_changed_word_are_marked_in_the_decoder_alone():
    reader = Reader(PAGE, **PAIR).calm()
    decoder, encoder = figures(reader)[:2]
    assert len(decoder["data"]) == 2 and decoder["data"][1]["text"][4][0] == "="
    assert len(encoder["data"]) == 1
    assert "exactly 0 in every one" in reader.said


def test_the_chosen_row_head_and_decoder_are_shown():
    reader = Reader(PAGE, **PAIR).calm()
    before = figures(reader)
    reader.choose("twin_source_en", "unguided").choose("twin_head_2_en", 2).set("twin_row_7", 2, "select_slider").calm()
    after = figures(reader)
    assert before[0]["data"][0]["z"] != after[0]["data"][0]["z"] and before[2]["data"] != after[2]["data"]
    assert "layer 2, head 2" in " ".join(element.value for element in reader.app.markdown)


@pytest.mark.parametrize("lang", text.LANGUAGES)
@pytest.mark.parametrize(
    "one, other, code",
    [
        ("the cat", "the cat", "twins.same"),
        ("the iguana", "the koala", "twins.same_slots"),
        ("the cat", "the cat sat", "twins.lengths"),
        ("", "the cat", "errors.empty_text"),
        ("the " * 57, "the " * 57, "errors.positions_end"),
    ],
)
def test_what_cannot_be_laid_side_by_side_is_explained(lang, one, other, code):
    reader = Reader(PAGE, lang=lang, one=one, other=other).calm()
    assert text.load(lang)(code).split("{")[0] in reader.said and not figures(reader)
    assert reader.app.text_input(key="twin_one").value == one


def test_more_than_one_word_may_differ():
    assert "They differ in 2 words" in Reader(PAGE, one="the cat sat on", other="mat cat the on").calm().said


@pytest.mark.parametrize("words", ["<b>x</b> cat", "**x** cat", "$a$ cat", "<img src=x onerror=alert(1)> cat"])
def test_markup_is_a_word_like_any(words):
    reader = Reader(PAGE, one=words, other=words.replace("cat", "mat")).calm()
    said = [element.value for element in (*reader.app.markdown, *reader.app.caption)]
    assert not any("<b>" in value or "<img" in value for value in said)
    assert not any("<b>" in json.dumps(figure) for figure in figures(reader))


def test_random_weights_stand_in_where_a_file_is_gone():
    for name in trained.NAMES.values():
        trained.path_of(name).unlink()
    trained.load.cache_clear()
    reader = Reader(PAGE, **PAIR).calm()
    assert len(figures(reader)) == 4 and len(reader.app.warning) == 2
    assert "exactly 0 in every one" in reader.said


def test_one_token_is_a_sentence_too():
    assert len(figures(Reader(PAGE, one="cat", other="mat").calm())) == 4


def test_the_pair_survives_other_pages_and_leaves_the_sentence_alone():
    reader = Reader(text="the cat sat", **PAIR)
    reader.go(PAGE).calm().press("pair-en-1").calm()
    pair = reader.link
    assert pair["text"] == "the cat sat" and pair["one"] == text.load("en").tree("twins.pairs")[1]["sentences"][0]
    reader.go("app.py").calm()
    assert reader.link == {"text": "the cat sat"}  # another page's link does not give the pair away
    assert reader.go(PAGE).calm().app.text_input(key="twin_other").value == pair["other"]
    assert reader.link == pair
