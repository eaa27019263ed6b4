"""The inspector on the page: closed it does nothing, open it shows the full pass of the run on the stage."""

import base64
import json

import numpy as np
import pytest

from attention import Settings, run
from tests.pages.reader import Reader
from ui import matrices, text
from ui.torch_script import script


def opened(**link: str) -> Reader:
    return Reader(inspector=True, **link).calm()


def figure(reader: Reader) -> dict:
    (chart,) = reader.app.get("plotly_chart")
    return json.loads(chart.proto.spec)


def numbers(trace: dict) -> np.ndarray:
    packed = trace["z"]
    if isinstance(packed, list):
        return np.array([[np.nan if value is None else value for value in row] for row in packed], float)
    flat = np.frombuffer(base64.b64decode(packed["bdata"]), packed["dtype"])
    return flat.reshape([int(part) for part in packed["shape"].split(",")])


def test_closed_it_draws_nothing():
    assert not Reader().calm().app.get("plotly_chart")


@pytest.mark.parametrize("name", matrices.KINDS)
def test_it_shows_the_matrix_that_is_chosen(name):
    link = {
        "text": "the cat saw the cat",
        "layers": "2",
        "layer": "2",
        "head": "2",
        "mask": "window",
        "width": "2",
    }
    reader = opened(**link).choose("matrix_en", name).calm()
    settings = Settings(link["text"], layers=2, mask="window", width=2)
    found = matrices.matrix(run(settings), 2, 2, name)
    shown, hidden = numbers(figure(reader)["data"][0]), found.hidden
    seen = np.ones(shown.shape, bool) if hidden is None else ~hidden
    np.testing.assert_array_equal(shown[seen], found.values[seen])


@pytest.mark.parametrize("lang", text.LANGUAGES)
def test_the_choice_survives_the_language_and_its_sentences_are_there(lang):
    reader = opened(lang=lang).choose(f"matrix_{lang}", "scaled")
    other = "en" if lang == "zh" else "zh"
    reader.choose("lang", other).calm()
    assert text.load(other)("inspector.captions.scaled") in reader.said
    axis = figure(reader)["layout"]["yaxis"]
    assert axis["title"]["text"] == text.load(other)("inspector.rows_ask")


def test_it_says_where_it_differs_from_the_stage():
    rounding, not_rounding = "at most, the rounding of", "which is not rounding"
    assert rounding in opened().said
    for link in ({"breaks": "stale"}, {"mask": "bidirectional"}, {"mask": "prefix", "width": "5"}):
        assert not_rounding in opened(text="the cat sat on the mat", prompt="3", **link).said
    assert rounding in opened(breaks="causal", prompt="6").said


@pytest.mark.parametrize("n", [65, 512])
def test_it_holds_what_the_stage_does_not(n):
    reader = opened(text=" ".join(f"w{i % 50}" for i in range(n)))
    assert numbers(figure(reader)["data"][0]).shape == (n, n)


def test_the_zoom_is_kept_from_head_to_head():
    reader = opened(heads="4", kv_heads="4")
    first = figure(reader)["layout"]["uirevision"]
    assert figure(reader.set("head_4", 3, "slider"))["layout"]["uirevision"] == first


def test_the_script_is_written_when_it_is_asked_for():
    reader = opened(text="dog bites man", head="2")
    before = len(reader.app.code)
    reader.set("torch", True, "toggle").calm()
    assert len(reader.app.code) == before + 1
    assert reader.app.code[-1].value == script(Settings("dog bites man"), 1, 2).strip()


def test_markup_is_literal_in_ticks():
    layout = figure(opened(text="<b>x</b> <br> $a$"))["layout"]
    assert layout["xaxis"]["ticktext"] == ["1 &lt;b&gt;x&lt;/b&gt;", "2 &lt;br&gt;", "3 &#36;a&#36;"]
