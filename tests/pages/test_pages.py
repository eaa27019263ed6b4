"""Every page in both languages, and the settings' way through link, widgets, pages and sessions."""

import json
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.runtime.context import ContextProxy

from tests.pages.reader import Reader
from ui import text

PAGES = ("app.py", "pages/twins.py", "pages/about.py")
SENTENCE = "the cat sat on the mat"


@pytest.mark.parametrize("lang", text.LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_in_both_languages(page, lang):
    reader = Reader(page, lang=lang).calm()
    t = text.load(lang)
    shown = [element.value.strip() for element in reader.app.markdown]
    assert f"### {t('frame.title')}" in shown
    assert reader.link["lang"] == lang
    if page == "pages/about.py":
        assert text.lesson(lang, "about").strip() in shown
    elif page == "app.py":
        assert reader.scene["lang"] == lang
        assert reader.app.text_input(key="text").value == t("examples.default")


@pytest.mark.parametrize(
    "locale, lang",
    [("zh-CN", "zh"), ("zh", "zh"), ("zh-Hant-TW", "zh"), ("en-GB", "en"), ("de", "en"), (None, "en")],
)
def test_the_language_is_that_of_the_browser_until_one_is_chosen(monkeypatch, locale, lang):
    monkeypatch.setattr(ContextProxy, "locale", property(lambda self: locale))
    reader = Reader().calm()
    assert reader.scene["lang"] == lang and "lang" not in reader.link
    other = "en" if lang == "zh" else "zh"
    assert Reader(lang=other).scene["lang"] == other
    assert reader.choose("lang", other).scene["lang"] == other and reader.link["lang"] == other


def test_the_scene_is_json_that_every_parser_takes():
    (component,) = Reader(mask="window", width="2", breaks="mask").app.get("bidi_component")

    def refuse(constant):
        raise AssertionError(f"{constant} in the scene")

    scene = json.loads(component.proto.json, parse_constant=refuse)["scene"]
    assert scene["tokens"] == SENTENCE.split()


SETTINGS = {
    "text": "看一看吧",
    "split": "characters",
    "d_model": "12",
    "d_k": "6",
    "d_v": "5",
    "heads": "4",
    "kv_heads": "1",
    "layers": "3",
    "mask": "prefix",
    "width": "2",
    "positions": "rotary",
    "pairing": "halves",
    "scale": "off",
    "temperature": "0.7",
    "seed": "9",
    "prompt": "3",
    "breaks": "position,stale",
    "dtype": "float64",
    "layer": "2",
    "head": "3",
}


@pytest.mark.parametrize("lang", text.LANGUAGES)
def test_a_link_is_restored_whole_whatever_the_language(lang):
    reader = Reader(lang=lang, **SETTINGS).calm()
    assert reader.link == {"lang": lang, **SETTINGS}
    shown = reader.scene["settings"]
    assert (shown["d_k"], shown["mask"], shown["layer"], shown["head"]) == (6, "prefix", 2, 3)
    assert not reader.app.warning


def test_the_link_does_not_depend_on_the_language():
    reader = Reader(**SETTINGS)
    before = dict(reader.link)
    for lang in ("zh", "en"):
        reader.choose("lang", lang).calm()
        assert {name: value for name, value in reader.link.items() if name != "lang"} == before


def test_options_chosen_in_one_language_are_chosen_in_the_other():
    reader = Reader(lang="zh").choose("mask_zh", "window").choose("positions_zh", "alibi").choose("lang", "en").calm()
    assert reader.link["mask"] == "window" and reader.link["positions"] == "alibi"
    chosen = {group.key: group.value for group in reader.app.get("button_group")}
    assert chosen["mask_en"] == "window" and chosen["positions_en"] == "alibi"


@pytest.mark.parametrize("first, then", [("en", "zh"), ("zh", "en")])
def test_another_language_leaves_the_sentence_alone(first, then):
    reader = Reader(lang=first)
    begun = text.load(first)("examples.default")
    assert reader.link["text"] == begun
    assert reader.choose("lang", then).link["text"] == begun
    assert reader.press("reset").link["text"] == text.load(then).tree("examples.decoder")[0]["text"]


def test_settings_and_sentence_survive_another_page():
    reader = Reader(text="dog bites man", d_k="12").set("heads", 4).choose("mask_en", "window")
    before = dict(reader.link)
    reader.go("pages/about.py").calm()
    assert reader.link == before
    reader.go("app.py").calm()
    assert reader.link == before
    assert reader.app.text_input(key="text").value == "dog bites man"
    assert reader.app.number_input(key="heads").value == 4


def test_a_cold_link_to_about_carries_the_settings_home():
    reader = Reader("pages/about.py", text="dog bites man", d_k="12").calm()
    assert reader.link == {"text": "dog bites man", "d_k": "12"}
    assert reader.go("app.py").calm().scene["tokens"] == ["dog", "bites", "man"]


def test_two_readers_do_not_see_one_another():
    first, second = Reader(text="first reader here"), Reader(text="second one", lang="zh")
    first.set("d_k", 20)
    second.set("d_k", 30)
    first.choose("mask_en", "bidirectional")
    for reader, words, d_k, lang in (
        (first, "first reader here", 20, "en"),
        (second, "second one", 30, "zh"),
    ):
        reader.run()
        assert reader.scene["settings"]["text"] == words and reader.scene["settings"]["d_k"] == d_k
        assert reader.scene["lang"] == lang
    assert "mask" not in second.link


def test_reset_brings_everything_back_but_the_language():
    reader = Reader(lang="zh", **SETTINGS).press("reset").calm()
    first = text.load("zh").tree("examples.decoder")[0]
    begun = {name: str(first[name]) for name in ("text", "layer", "generate")}
    assert reader.link == {**begun, "lang": "zh"} and reader.mounted["step"] == first["step"]
    assert reader.choose("source_zh", "random").app.number_input(key="d_k").value == 8


def shared(reader: Reader) -> list[str]:
    """What stands ready to be copied."""
    return [block.value for block in reader.app.code]


def test_the_link_to_share_is_the_link_of_the_address_bar():
    reader = Reader(text="a&b ？ 我", mask="window").calm()
    (link,) = shared(reader)
    assert dict(parse_qsl(urlsplit(link).query)) == reader.mounted["link"]


@pytest.mark.parametrize("lang", text.LANGUAGES)
def test_a_link_too_long_to_travel_says_so_and_offers_the_file(lang):
    reader = Reader(lang=lang, text="长句子" * 100).calm()
    t = text.load(lang)
    assert shared(reader) == [] and t("frame.share_file") in reader.said
    assert "share_run" in {button.key for button in reader.app.get("download_button")}
    unusable = Reader(lang=lang, text="长" * 4001).calm()
    assert "share_run" not in {button.key for button in unusable.app.get("download_button")}


def test_an_example_becomes_the_sentence():
    reader = Reader().press("example-en-1").calm()
    assert reader.scene["tokens"] == ["dog", "bites", "man"]
    assert reader.app.text_input(key="text").value == "dog bites man"


def test_a_break_is_switched_on_and_off():
    reader = Reader().set("break_stale", True, "checkbox").calm()
    assert reader.link["breaks"] == "stale"
    assert reader.set("break_position", True, "checkbox").link["breaks"] == "position,stale"
    assert reader.set("break_stale", False, "checkbox").link["breaks"] == "position"


@pytest.mark.parametrize(
    "values, idle",
    [
        ({}, {"causal"}),
        ({"layers": "2"}, set()),
        ({"positions": "none", "layers": "2"}, {"position"}),
        ({"mask": "bidirectional", "layers": "2"}, {"mask", "causal"}),
        ({"text": "one two", "prompt": "2"}, {"position", "mask", "stale", "causal"}),
    ],
)
def test_breaks_that_change_nothing_are_off_with_the_reason(values, idle):
    reader = Reader(**values).calm()
    assert {box.key.removeprefix("break_") for box in reader.app.checkbox if box.disabled} == idle
    assert ("Cannot break anything here" in reader.said) == bool(idle)


def test_an_idle_break_in_a_link_says_so_and_can_be_taken_off():
    reader = Reader(breaks="causal").calm()
    assert "does not go wrong" in reader.said
    assert "breaks" not in reader.set("break_causal", False, "checkbox").link
