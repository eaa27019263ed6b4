"""The trained models on the home page, with small ones of random weights in place of the shipped files."""

import json

import pytest
import streamlit as st

from attention import trained
from tests.pages.reader import Reader
from tests.unit import small_models
from ui import text

SENTENCE = "the cat sat on the mat ."


@pytest.fixture(autouse=True)
def models(tmp_path, monkeypatch):
    st.cache_resource.clear()  # runs are kept by their settings, and the files behind them change here
    yield small_models.shelf(tmp_path, monkeypatch)
    st.cache_resource.clear()
    trained.load.cache_clear()


def reader(**link: str) -> Reader:
    return Reader(**{"text": SENTENCE, "source": "trained", **link}).calm()


def keys(found: Reader) -> set[str]:
    kinds = ("number_input", "slider", "radio", "toggle", "button_group", "selectbox")
    return {widget.key for kind in kinds for widget in found.app.get(kind)}


@pytest.mark.parametrize("lang", text.LANGUAGES)
@pytest.mark.parametrize("source", trained.NAMES)
def test_every_model_in_both_languages(source, lang):
    found = reader(source=source, lang=lang)
    assert found.scene["settings"]["source"] == source and found.scene["tokens"] == SENTENCE.split()
    assert text.load(lang)(f"controls.source.captions.{source}") in found.said
    assert not found.app.warning


def test_a_page_begins_with_the_trained_decoder_and_its_first_example():
    found = Reader(source=None).calm()
    assert found.scene["settings"]["source"] == "trained" and "source" not in found.link
    assert found.link["text"] == text.load("en").tree("examples.decoder")[0]["text"]


def test_a_model_has_its_own_sizes_and_others_controls():
    shown = keys(reader())
    assert not shown & {"d_k", "d_model", "heads", "layers", "seed", "positions_en", "split_en"}
    assert {"rank_8", "generate", "scale", "temperature", "mask_en", "prompt_7", "place_trained_en"} <= shown
    encoder = keys(reader(source="encoder"))
    assert not encoder & {"generate", "sampling_en", "prompt_7"} and "mask_3_en" in encoder
    assert {"d_k", "d_model", "seed"} <= keys(reader(source="random"))


def test_sizes_come_back_with_random_weights():
    found = reader(d_k="12", positions="alibi")
    assert found.scene["settings"]["d_k"] == 8 and "Without effect here: d_k · Position signal." in found.said
    found.choose("source_en", "random").calm()
    assert found.scene["settings"]["d_k"] == 12 and found.scene["settings"]["positions"] == "alibi"


def test_the_list_of_heads_names_their_jobs_and_moves_the_stage():
    found = reader()
    places = found.app.radio(key="place_trained_en")
    assert places.options == [f"Layer {layer}, head {head}" for layer in (1, 2) for head in (1, 2)]
    found.set("place_trained_en", "2.1", "radio").calm()
    assert (found.link["layer"], "head" in found.link) == ("2", False)
    assert found.scene["settings"]["layer"] == 2


def test_words_are_added_one_by_one_and_it_says_why_it_stopped(models):
    models.put("trained", small_models.fond_of(small_models.small_model("decoder-guided"), "cat", 50))
    found = reader(generate="3")
    assert found.scene["tokens"] == [*SENTENCE.split(), "cat", "cat", "cat"]
    assert "added 3 tokens, as many as" in found.said
    assert "its positions end at 56" in reader(generate="99").said
    models.put("trained", small_models.fond_of(small_models.small_model("decoder-guided"), "<end>", 50))
    assert "ended the text there" in reader(generate="4").said


def test_drawing_has_controls_of_its_own():
    found = reader()
    assert not keys(found) & {"top_k", "sampling_temperature", "sampling_seed"}
    found.choose("sampling_en", "sample").set("top_k", 3).calm()
    assert found.link["sampling"] == "sample" and found.link["top_k"] == "3"
    assert {"sampling_temperature", "sampling_seed"} <= keys(found)


@pytest.mark.parametrize("lang", text.LANGUAGES)
def test_text_past_the_last_position_is_explained(lang):
    found = reader(text="cat " * 60, lang=lang)
    assert "56" in found.said and "60" in found.said and "scene" not in found.mounted
    found.choose(f"source_{lang}", "random").calm()
    assert len(found.scene["tokens"]) == 60


@pytest.mark.parametrize("words", ["iguana", "<b>x</b> **y** $z$", "👨‍👩‍👧 🙂", "cat 书 the 榴莲", "Hi", "我"])
def test_words_it_does_not_know_are_named_and_shown_as_typed(words):
    found = reader(text=words)
    assert "Unknown to the model" in found.said
    assert not any(words in element.value for element in (*found.app.markdown, *found.app.warning))


def test_more_unknown_words_than_slots_are_said():
    assert "more than its 12 slots" in reader(text=" ".join(f"w{n}" for n in range(13))).said


@pytest.mark.parametrize("lang", text.LANGUAGES)
def test_outside_the_grammar_there_is_a_notice_with_the_number(lang, models):
    model = small_models.small_model("decoder-guided")
    model.figures["outside"] = 0.1
    models.put("trained", model)
    found = reader(lang=lang)
    assert text.load(lang)("outside.text").split("{")[0] in found.said and "0.1" in found.said
    model.figures["outside"] = 1000.0
    models.put("trained", model)
    st.cache_resource.clear()
    assert text.load(lang)("outside.text").split("{")[0] not in reader(lang=lang).said


def test_the_measured_accuracy_stands_beside_the_rank(models):
    model = small_models.small_model("decoder-guided")
    model.figures["rank"] = {"1": {"en": {"antecedent": 0.08}}, "8": {"en": {"antecedent": 1.0}}}
    models.put("trained", model)
    found = reader().set("rank_8", 1, "slider").calm()
    assert found.link["rank"] == "1" and "1: 0.08 · 8: 1.00" in found.said
    assert "rank" not in found.set("rank_8", 8, "slider").link


@pytest.mark.parametrize("lang", text.LANGUAGES)
@pytest.mark.parametrize("source", trained.NAMES)
@pytest.mark.parametrize("damage", ["gone", "cut"])
def test_random_weights_stand_in_for_a_file_that_cannot_be_used(source, lang, damage):
    file = trained.path_of(trained.NAMES[source])
    file.unlink() if damage == "gone" else file.write_bytes(b"x" * 500)
    trained.load.cache_clear()
    found = reader(source=source, lang=lang)
    assert found.scene["settings"]["source"] == "random" and found.scene["tokens"] == SENTENCE.split()
    assert file.name in found.said and found.link.get("source", "trained") == source
    assert found.choose(f"source_{lang}", "random").calm().scene and not found.app.warning


# take a head away


def opened(**link: str) -> Reader:
    return Reader(take_away=True, **{"text": SENTENCE, "source": "trained", **link}).calm()


def bars(found: Reader) -> list[dict]:
    (chart,) = found.app.get("plotly_chart")
    return json.loads(chart.proto.spec)["data"]


def test_a_head_at_zero_stands_beside_what_was_before():
    found = opened()
    assert len(bars(found)) == 1
    found.choose("head_2.1_en", "zeroed").choose("head_1.2_en", "flattened").calm()
    assert found.link["zeroed"] == "2.1" and found.link["flattened"] == "1.2"
    assert "Zero: head 2.1" in found.said and "Even: head 1.2" in found.said
    before, after = bars(found)
    assert before["x"] != after["x"] and before["name"] == "as trained"
    found.choose("head_2.1_en", "flattened").choose("head_1.2_en", "kept").calm()
    assert "zeroed" not in found.link and found.link["flattened"] == "2.1"


def test_the_place_of_the_answer_is_the_last_word_typed_or_the_one_left_out():
    assert opened(generate="2").app.select_slider(key="answer_at_7_decoder").value == 7
    assert opened(source="encoder", text="the cat _ on").app.select_slider(key="answer_at_4_encoder").value == 3


def test_closed_or_without_a_model_there_are_no_bars():
    assert not reader().app.get("plotly_chart")
    assert not opened(source="random").app.get("plotly_chart")


# examples


def test_an_example_brings_its_place_along():
    found = reader(layer="1").press("example-en-0").calm()
    example = text.load("en").tree("examples.decoder")[0]
    assert found.link["text"] == example["text"] and found.link["layer"] == str(example["layer"])
    assert found.mounted["step"] == example["step"]


def test_the_other_decoder_keeps_the_example():
    found = Reader(source=None).press("example-en-3").choose("source_en", "unguided").calm()
    assert found.link["text"] == text.load("en").tree("examples.decoder")[3]["text"]


@pytest.mark.parametrize("source", ["encoder", "onelayer", "random", "<b>"])
def test_a_link_without_a_sentence_begins_with_one_that_suits_its_source(source):
    group = {"encoder": "examples.encoder", "onelayer": "examples.onelayer"}.get(source, "examples.decoder")
    first = text.load("en")("examples.default") if source == "random" else text.load("en").tree(group)[0]["text"]
    assert Reader(source=source).calm().link["text"] == first


def test_another_model_takes_an_example_away_but_no_sentence_of_ones_own():
    found = reader()
    assert found.choose("source_en", "onelayer").link["text"] == SENTENCE
    found.press("example-en-0").choose("source_en", "encoder").calm()
    assert found.link["text"] == text.load("en").tree("examples.encoder")[0]["text"]
    kept = found.choose("source_en", "random").link["text"]
    assert kept == text.load("en").tree("examples.encoder")[0]["text"]
