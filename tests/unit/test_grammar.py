"""The grammar: what it writes it recognises, its links are true, held-out pairs are kept apart; the tokeniser."""

from random import Random

import pytest

from attention.documents import MAX_TOKENS, is_held_out
from attention.grammar import FAMILIES, recognise, training_document, vocabulary_words, write
from attention.lexicon import BRACKETS, END, LANGUAGES, MASK, SLOTS
from attention.sequences import shelf
from attention.tokeniser import Vocabulary, encode

WORDS = Vocabulary(vocabulary_words())
EVERY = [(family, language) for family in FAMILIES for language in LANGUAGES]


def documents(family, language, count=60, **how):
    rng = Random(f"{family}/{language}")
    return [write(rng, family, language, **how) for _ in range(count)]


@pytest.mark.parametrize(("family", "language"), EVERY)
@pytest.mark.parametrize("how", [{}, {"held_out": True}, {"slots": True}], ids=str)
def test_what_is_written_is_recognised(family, language, how):
    for document in documents(family, language, **how):
        assert recognise(document.tokens, language) == family
        assert len(document.tokens) < MAX_TOKENS
        assert set(document.tokens) <= set(WORDS.words)


@pytest.mark.parametrize(("family", "language"), EVERY)
def test_a_wrong_answer_is_not_recognised(family, language):
    wrong = {"code": "0 1", "brackets": " ".join(BRACKETS[language].values()), "en": "book key", "zh": "书 钥匙"}
    for document in documents(family, language, 30):
        row = document.answers[-1] + 1
        right = document.tokens[row]
        other = next(word for word in wrong.get(family, wrong[language]).split() if word != right)
        assert recognise((*document.tokens[:row], other, *document.tokens[row + 1 :]), language) is None


@pytest.mark.parametrize(("family", "language"), EVERY)
def test_links_say_what_is_true(family, language):
    for document in documents(family, language):
        tokens = document.tokens
        for row, key in document.copies:
            assert row + 1 == len(tokens) or tokens[row + 1] == tokens[key]
        for row, key in document.reads:
            assert row not in document.answers or tokens[row + 1] == tokens[key]
            assert key < row
        for row, key in document.said:
            assert key <= row and tokens[row + 1] != tokens[key]
        for row in {row for row, _ in document.again}:
            assert tokens[row + 1] in [tokens[key] for place, key in document.again if place == row]
        for row, key in document.opens:
            stack = []
            for place, token in enumerate(tokens[: row + 1]):
                if token in BRACKETS[language]:
                    stack.append(place)
                elif token in BRACKETS[language].values():
                    stack.pop()
            assert stack[-1] == key


@pytest.mark.parametrize(("family", "language"), EVERY)
def test_training_never_sees_a_held_out_pair(family, language):
    assert not any(is_held_out(pair) for doc in documents(family, language) for pair in doc.pairs)
    kept = documents(family, language, held_out=True)
    assert all(any(map(is_held_out, doc.pairs)) for doc in kept)


def test_a_document_depends_on_its_seed_alone():
    weights = dict.fromkeys(FAMILIES, 1.0)
    first, second = ([training_document(Random(seed), weights) for seed in range(40)] for _ in range(2))
    assert first == second
    assert len({document.tokens for document in first}) > 35


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_verb_goes_with_one_of_three_things(language):
    for seed in range(60):
        document = shelf(Random(seed), language, held_out=bool(seed % 2))
        ((row, key),) = document.reads
        assert document.tokens[row + 1] == document.tokens[key]
        assert any(map(is_held_out, document.pairs)) == bool(seed % 2)


def read(text, **how):
    encoded = encode(text, WORDS, **how)
    return list(zip(encoded.shown, (WORDS.words[number] for number in encoded.ids), strict=True))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The trophy DOESN’T fit.", "the trophy doesn't fit ."),
        ("小明把书放在桌子上，因为它太重了。", "小明 把 书 放 在 桌子 上 ， 因为 它 太 重 了 。"),
        ("小明 把 书 放 在 桌子 上", "小明 把 书 放 在 桌子 上"),
        ("小提琴放不进箱子,因为它太大.", "小提琴 放不进 箱子 ， 因为 它 太 大 。"),
        ("let x=3; print(x)->", "let x = 3 ; print ( x ) ->"),
        ("令ｘ＝３；输出(x)", "令 x = 3 ; 输出 ( x )"),
        ("([{<>}])", "( [ { < > } ] )"),
        ("（【《「」》】）", "（ 【 《 「 」 》 】 ）"),
        ("x书y", "x 书 y"),
    ],
)
def test_known_text(text, wanted):
    assert [word for _, word in read(text)] == wanted.split()
    assert "".join(shown for shown, _ in read(text)) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the iguana and the Iguana", [("iguana", "<1>"), ("Iguana", "<2>")]),
        ("榴莲放不进箱子，榴莲太大", [("榴莲", "<1>"), ("榴莲", "<1>")]),
        ("苹果和榴莲汤", [("榴莲", "<1>")]),
        ("🙂 👨‍👩‍👧 é", [("🙂", "<1>"), ("👨‍👩‍👧", "<2>"), ("é", "<3>")]),
        (f"{END} {SLOTS[0]}", [("end", "<1>"), ("1", "1")]),
        ("kein Wort davon", [("kein", "<1>"), ("Wort", "<2>"), ("davon", "<3>")]),
    ],
)
def test_unknown_words_take_slots_and_stay_as_typed(text, wanted):
    found = [(shown, word) for shown, word in read(text) if word in SLOTS or shown == "1"]
    assert found == wanted


def test_more_unknown_words_than_slots_share_and_say_so():
    encoded = encode(" ".join(f"wort{number}" for number in range(13)), WORDS)
    assert encoded.reused and encoded.ids[0] == encoded.ids[12]
    assert not encode(" ".join(f"wort{number}" for number in range(12)), WORDS).reused
    assert encoded.label(encoded.ids[1], WORDS) == "wort1"
    assert encode("the iguana", WORDS).label(WORDS.ids["<2>"], WORDS) == "<2>"


def test_only_the_encoder_reads_masks():
    assert [word for _, word in read("the <mask> is ___ .", masks=True)] == ["the", MASK, "is", MASK, "."]
    assert MASK not in [word for _, word in read("the <mask> is ___ .")]


def test_nothing_and_one_word():
    assert encode(" \n\t ", WORDS).ids == ()
    assert len(encode("书", WORDS).ids) == 1
