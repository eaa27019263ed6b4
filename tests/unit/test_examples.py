"""The sentences to try do what their buttons promise, with the shipped models."""

import pytest

from attention import Settings, run
from attention.grammar import recognise
from attention.lexicon import SLOTS
from attention.settings import CHOICES
from attention.tokeniser import encode
from attention.trained import read_vocabulary
from ui import models, text

ANSWERS = {  # how the trained decoder goes on, example by example
    "en": ["trophy", "suitcase", "book", "cat", "mary", "mary", "drawer", "man", "tea", "3", ")", "lamp", "iguana"],
    "zh": ["书", "桌子", "奖杯", "猫", "小红", "小红", "抽屉", "人", "茶", "3", "）", "灯", "榴莲"],
}
READ = {  # what the row at which the stage starts reads most
    "en": {0: "trophy", 1: "suitcase", 2: "book", 3: "cat", 4: "Mary", 12: "iguana"},
    "zh": {0: "书", 1: "桌子", 2: "奖杯", 3: "猫", 4: "小红", 12: "榴莲"},
}
FILLED = {"en": ["mary", "trophy", "]", "tom"], "zh": ["小红", "书", "】", "小明"]}
IT = {"en": ["trophy", "suitcase", "book", "table"], "zh": ["书", "桌子", "奖杯", "箱子"]}
LEARNED = {  # what goes with the verb, by the one-layer model
    "en": ["horses", "tea", "books", "noodles", "hats", "马", "茶"],
    "zh": ["马", "茶", "书", "面条", "裙子", "horses", "tea"],
}
LANGUAGES = tuple(text.LANGUAGES)


def examples(lang: str, group: str) -> list[dict]:
    return text.load(lang).tree(f"examples.{group}")


def made(example: dict, source: str):
    return run(Settings(example["text"], source=source, generate=example.get("generate", 0)))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_decoder_gives_the_answer(lang):
    for example, answer in zip(examples(lang, "decoder"), ANSWERS[lang], strict=False):
        found = made(example, "trained")
        assert found.tokens[found.typed] == answer, example["title"]
        assert not found.outside, example["title"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_row_at_which_the_stage_starts_reads_who_is_meant(lang):
    for place, word in READ[lang].items():
        example = examples(lang, "decoder")[place]
        found = made(example, "trained")
        row = found.layers[example["layer"] - 1].cached_weights[example.get("head", 1) - 1, example["step"] - 1]
        assert found.tokens[row.argmax()] == word and row.max() > 0.9, example["title"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_twins_are_a_word_apart(lang):
    for pair in text.load(lang).tree("twins.pairs"):
        one, other = (Settings(sentence, source="encoder").tokens for sentence in pair["sentences"])
        assert len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_example_is_a_sentence_of_the_grammar(lang):
    """With its answer and the end that such a document has."""
    words = read_vocabulary()
    for example, answer in zip(examples(lang, "decoder"), ANSWERS[lang], strict=False):
        typed = [words.words[word] for word in encode(example["text"], words).ids]
        answer = answer if answer in words.ids else SLOTS[0]
        ends = [[answer, *end] for end in ([], ["."], ["。"], ["里", "。"])]
        assert any(recognise((*typed, *end), lang) for end in ends), example["title"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_one_sentence_is_outside_what_it_learned(lang):
    example = next(e for e in examples(lang, "decoder") if e["title"] in ("outside the grammar", "语法之外"))
    assert made(example, "trained").outside


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_encoder_reads_the_antecedent_at_it_itself(lang):
    for example, word in zip(examples(lang, "encoder"), IT[lang], strict=False):
        found = made(example, "encoder")
        row = found.layers[1].weights[0, example["step"] - 1]
        assert found.tokens[row.argmax()] == word and row.max() > 0.8, example["title"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_encoder_fills_the_gap(lang):
    gaps = [example for example in examples(lang, "encoder") if "_" in example["text"]]
    for example, word in zip(gaps, FILLED[lang], strict=True):
        found = made(example, "encoder")
        row = found.probabilities[found.ids.index(found.settings.model.vocabulary.mask)]
        assert found.vocabulary[row.argmax()] == word, example["title"]



@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_one_layer_model_finds_what_goes_with_the_verb(lang):
    for example, word in zip(examples(lang, "onelayer"), LEARNED[lang], strict=True):
        found = made(example, "onelayer")
        assert found.tokens[found.typed] == word, example["title"]
        assert not found.outside and not found.settings.encoded.unknown


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("source", models.GROUPS)
def test_every_example_fits_its_model(lang, source):
    assert set(models.GROUPS) == set(CHOICES["source"])
    if source == "random":
        return
    group = models.GROUPS[source]
    for example in examples(lang, group):
        settings = Settings(example["text"], source=source)
        assert 1 <= example.get("step", 1) <= len(settings.tokens)
        if source == "encoder":
            assert settings.tokens[example["step"] - 1] in ("it", "它", "_")
        assert example.get("layer", 1) <= settings.layers and example.get("head", 1) <= settings.heads
