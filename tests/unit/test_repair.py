"""From any link to settings that run: nothing raises, nothing changes unsaid, a clean link comes back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from attention import Settings, trained
from attention.settings import CHOICES, RANGES
from tests.unit import small_models
from ui import repair as module
from ui.repair import link
from ui.values import DEFAULTS, NAMES

SENTENCE = "the cat sat on the mat"


def repair(values: dict):
    """With random weights, whose settings most of these are, unless a source is named."""
    return module.repair({"source": "random", **values})


def codes(values: dict) -> dict[str, str]:
    """Field -> code of the notes; the text is a plain one unless given."""
    return {note.field: note.code for note in repair({"text": SENTENCE, **values}).notes}


def test_a_page_begins_with_a_trained_model():
    assert module.repair({"text": "book ."}).settings == Settings("book .", source="trained")
    assert "source" not in link(module.repair({"text": "book ."}).asked)


def test_nothing_given_is_the_default_without_a_note():
    made = repair({"text": SENTENCE})
    assert made.settings == Settings(SENTENCE) and made.notes == () and made.look == (1, 1, None)


@pytest.mark.parametrize(
    "field, given, used, code",
    [
        ("d_k", "-1", 1, "out_of_range"),
        ("d_k", "257", 256, "out_of_range"),
        ("d_k", "abc", 8, "not_a_number"),
        ("d_k", "", 8, "not_a_number"),
        ("d_k", "8.5", 8, "not_a_number"),
        ("d_k", "9" * 5000, 8, "not_a_number"),
        ("heads", "abc", 2, "not_a_number"),
        ("heads", "0", 1, "out_of_range"),
        ("layers", "99", 4, "out_of_range"),
        ("seed", "-5", 0, "out_of_range"),
        ("temperature", "nan", 1.0, "not_a_number"),
        ("temperature", "inf", 100.0, "out_of_range"),
        ("temperature", "0", 0.01, "out_of_range"),
        ("temperature", "-inf", 0.01, "out_of_range"),
        ("mask", "<b>", "causal", "not_a_choice"),
        ("mask", "滑动窗口", "causal", "not_a_choice"),
        ("positions", "ALIBI", "sinusoidal", "not_a_choice"),
        ("source", "gpt", DEFAULTS["source"], "not_a_choice"),
        ("scale", "false", "on", "not_a_choice"),
        ("dtype", "int8", "float32", "not_a_choice"),
        ("width", "513", 512, "out_of_range"),
    ],
)
def test_one_value_that_cannot_be_used(field, given, used, code):
    made = repair({"text": SENTENCE, field: given})
    assert getattr(made.settings, field) == used
    noted = [note.code for note in made.notes if note.field == field]
    assert noted == [code]


@pytest.mark.parametrize(
    "values, field, used",
    [
        ({"d_k": "5", "positions": "rotary"}, "d_k", 6),
        ({"d_k": "255", "positions": "rotary"}, "d_k", 256),
        ({"heads": "4", "kv_heads": "3"}, "kv_heads", 2),
        ({"heads": "2", "kv_heads": "16"}, "kv_heads", 2),
        ({"heads": "7", "kv_heads": "6"}, "kv_heads", 1),
        ({"mask": "window", "width": "0"}, "width", 1),
        ({"prompt": "10"}, "prompt", 6),
        ({"text": "a " * 512, "heads": "16", "layers": "4"}, "layers", 1),
    ],
)
def test_values_that_do_not_go_together_are_mended_with_a_note_and_kept_as_asked(values, field, used):
    made = repair({"text": SENTENCE, **values})
    assert getattr(made.settings, field) == used
    assert field in {note.field for note in made.notes}
    assert str(made.asked[field]) == values[field]


@pytest.mark.parametrize(
    "values", [{"d_k": "5"}, {"d_model": "5"}, {"mask": "prefix", "width": "0"}, {"width": "0"}]
)
def test_values_that_look_strange_and_work(values):
    made = repair({"text": SENTENCE, **values})
    assert made.notes == ()
    assert all(str(getattr(made.settings, name)) == value for name, value in values.items())


def test_layer_head_and_step_past_the_end_are_the_last_never_the_first():
    made = repair({"text": "a b c", "layers": "2", "layer": "9", "head": "8", "step": "10"})
    assert made.look == (2, 2, 3)
    assert {note.field for note in made.notes} == {"layer", "head", "step"}
    assert (made.asked["layer"], made.asked["head"]) == (9, 8)


def test_breaks_are_kept_in_order_and_strangers_named():
    made = repair({"text": SENTENCE, "breaks": " stale,foo,position,,foo"})
    assert made.settings.breaks == ("position", "stale")
    assert [(note.code, note.values["arrived"]) for note in made.notes] == [("unknown_break", "foo")]


@pytest.mark.parametrize(
    "text, code",
    [
        ("", "empty_text"),
        (" \n\t", "empty_text"),
        ("x" * 4001, "too_many_characters"),
        ("a " * 513, "too_many_tokens"),
    ],
)
def test_a_text_that_cannot_run_is_kept_and_explained(text, code):
    made = repair({"text": text, "d_k": "12"})
    assert made.settings is None and made.asked["text"] == text and made.asked["d_k"] == 12
    assert [(note.field, note.code) for note in made.notes] == [("text", code)]


@pytest.mark.parametrize("name, given", [("generate", "5"), ("rank", "4"), ("zeroed", "1.1"), ("flattened", "2.2")])
def test_what_random_weights_have_none_of_is_left_out_with_a_note(name, given):
    made = repair({"text": SENTENCE, "source": "random", name: given})
    assert [(note.field, note.code, note.values["names"]) for note in made.notes] == [("source", "no_effect", [name])]
    assert made.settings == Settings(SENTENCE)
    assert link(made.asked)[name] == given


@pytest.mark.parametrize("name, given", [("generate", "0"), ("rank", "full"), ("zeroed", ""), ("positions", "learned")])
def test_names_of_nothing_are_no_mistake(name, given):
    assert codes({"source": "random", name: given}) == {}


@pytest.mark.parametrize("given", ["2", "2.", "0.1", "5.1", "1.17", "x", "<b>"])
def test_a_head_that_is_none_is_named(given):
    made = repair({"text": SENTENCE, "zeroed": f"1.1,{given}"})
    assert ("zeroed", "unknown_head") in {(note.field, note.code) for note in made.notes}
    assert made.asked["zeroed"] == ("1.1",)


class TestTrained:
    """With small models in place of the shipped files."""

    TEXT = "the cat sat on the mat ."

    @pytest.fixture(autouse=True)
    def models(self, tmp_path, monkeypatch):
        self.shelf = small_models.shelf(tmp_path, monkeypatch)

    def made(self, **values):
        return repair({"text": self.TEXT, "source": "trained", **values})

    def test_sizes_of_its_own_replace_what_is_asked_for(self):
        made = self.made(d_k="5", heads="4", kv_heads="3", positions="rotary", layers="4", split="characters")
        (note,) = made.notes
        assert note.code == "no_effect"
        assert note.values["names"] == ["split", "d_k", "heads", "kv_heads", "layers", "positions"]
        assert made.settings == Settings(self.TEXT, source="trained")
        assert made.asked["d_k"] == 5 and made.asked["kv_heads"] == 3

    def test_what_the_model_lacks_is_left_out_with_a_note(self):
        made = self.made(rank="99", zeroed="1.1,3.1", flattened="1.16", layer="4", head="9")
        assert made.settings.rank is None and made.settings.zeroed == ("1.1",) and made.settings.flattened == ()
        assert made.look[:2] == (2, 2)
        assert {(note.field, note.code) for note in made.notes} == {
            ("rank", "rank_range"),
            ("zeroed", "absent_head"),
            ("flattened", "absent_head"),
            ("layer", "layer_range"),
            ("head", "head_range"),
        }

    def test_an_encoder_has_one_step_and_adds_nothing(self):
        made = self.made(source="encoder", generate="3", prompt="99")
        assert made.settings.prompt == 7 and made.settings.mask == "bidirectional" and made.settings.generate == 0
        assert [(note.code, note.values["names"]) for note in made.notes] == [("no_effect", ["generate"])]

    def test_positions_end(self):
        made = self.made(text="cat " * 57)
        assert made.settings is None
        assert [(note.field, note.code) for note in made.notes] == [("text", "positions_end")]
        assert self.made(text="cat " * 57, source="random").settings is not None

    @pytest.mark.parametrize("code", ["missing_weights", "corrupt_weights"])
    def test_random_weights_stand_in_for_a_file_that_cannot_be_used(self, code):
        file = trained.path_of(trained.NAMES["trained"])
        file.write_bytes(file.read_bytes()[:99]) if code == "corrupt_weights" else file.unlink()
        trained.load.cache_clear()
        made = self.made()
        assert made.settings == Settings(self.TEXT) and made.asked["source"] == "trained"
        assert [(note.field, note.code) for note in made.notes] == [("source", code)]

    def test_a_link_brings_it_all_back(self):
        first = self.made(rank="3", zeroed="2.1", flattened="1.2", generate="2", sampling="sample", top_k="5")
        assert module.repair(link(first.asked)) == first and first.notes == ()


def test_the_link_holds_the_text_and_what_is_not_as_it_comes():
    asked = repair(
        {"text": SENTENCE, "mask": "window", "temperature": "0.7", "breaks": "stale,position"}
    ).asked
    assert link(asked) == {
        "text": SENTENCE,
        "source": "random",
        "mask": "window",
        "temperature": "0.7",
        "breaks": "position,stale",
    }
    assert link(asked, "zh")["lang"] == "zh"


legal = some.fixed_dictionaries(
    {"text": some.text(min_size=1, max_size=40)},
    optional={
        **{name: some.sampled_from(CHOICES[name]) for name in CHOICES if name not in ("breaks", "source")},
        **{
            name: some.integers(*RANGES[name])
            for name in ("d_model", "d_k", "d_v", "heads", "kv_heads", "layers", "width", "seed", "prompt")
        },
        "temperature": some.floats(0.01, 100.0),
        "breaks": some.lists(some.sampled_from(CHOICES["breaks"]), unique=True).map(tuple),
        "layer": some.integers(1, 99),
        "head": some.integers(1, 99),
        "step": some.integers(1, 999),
    },
)


@given(legal)
@settings(deadline=None, max_examples=150)
def test_a_link_brings_back_what_it_was_made_of(values):
    first = repair(values)
    again = repair(link(first.asked))
    assert again.asked == {**first.asked, "temperature": pytest.approx(first.asked["temperature"])}
    if first.settings:
        assert {note.code for note in again.notes} == {note.code for note in first.notes}


hostile = some.dictionaries(
    some.sampled_from([name for name in NAMES if name != "text"]),
    some.one_of(some.text(max_size=30), some.integers().map(str), some.floats().map(str)),
)


@given(some.text(max_size=60), hostile)
@settings(deadline=None, max_examples=300)
def test_no_link_raises_and_what_is_asked_for_is_clean_afterwards(text, values):
    made = repair({"text": text, **values})
    if made.settings is None:
        assert any(note.field == "text" for note in made.notes)
        return
    assert made.settings.text == text
    assert 1 <= made.look.layer <= made.settings.layers and 1 <= made.look.head <= made.settings.heads
    clean = module.repair(link(made.asked))
    assert clean.settings == made.settings
    alone = {"not_a_number", "no_default", "not_a_choice", "out_of_range", "too_small", "unknown_break"}
    assert not alone & {note.code for note in clean.notes}


def test_every_name_has_a_default_that_is_its_own():
    assert DEFAULTS["breaks"] == () and DEFAULTS["prompt"] is None
    assert (
        repair(
            {"text": SENTENCE, **{name: value for name, value in DEFAULTS.items() if value is not None}}
        ).notes
        == ()
    )


@pytest.mark.parametrize("name", ["d_k", "seed", "prompt", "step", "layer", "sampling_seed", "generate", "rank"])
@pytest.mark.parametrize("digits", ["9" * 500, "-" + "9" * 500, "1e999", "9" * 5000])
def test_no_number_is_too_large_to_be_told_so(name, digits):
    found = repair({"text": "the cat sat", "source": "random", name: digits})
    assert found.settings is not None
    assert found.notes
