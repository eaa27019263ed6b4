"""What people type: each text keeps its tokens, is shown literally, and nothing in it runs."""

from __future__ import annotations

import pytest

import attention
from tests.browser.expect import array, assert_grid, run_of

FAMILY, COMBINED, THUMB = "👨\u200d👩\u200d👧", "cafe\u0301", "👍🏽"
LITERAL = {
    "repeated words": "the cat saw the cat",
    "repeated characters": "看一看",
    "four pads": "<pad> <pad> <pad> <pad>",
    "tags": "<s> a<b </s> <b>x</b> &amp; <br>",
    "script": "<img src=x onerror=alert(1)> <svg/onload=alert(1)>",
    "markdown": "**x** $a$ :smile: [l](javascript:1) :red[y] `z` # ~~w~~",
    "numbers": "1 2 10",
    "dates": "2024-01-01 2024-01-02",
}
MARKS = {
    "newline": "a\nb",
    "tab": "a\tb",
    "double space": "a  b",
    "ideographic space": "a\u3000b",
    "zero width": "a\u200bb",
}


def labels(visit) -> list[str]:
    return [label.strip() for label in visit.tokens()]


@pytest.mark.parametrize("case", LITERAL)
def test_shown_literally_and_nothing_runs(open_page, case):
    text = LITERAL[case]
    tokens = attention.Settings(text=text).tokens
    n, visit = len(tokens), open_page(text=text)
    assert visit.steps == n
    shown = labels(visit)
    assert len(shown) == n and all(token in label for token, label in zip(tokens, shown, strict=True))
    visit.press("End").at(n - 1)
    for panel in ("scores", "weights"):
        assert len(visit.cells(panel)) == n * n, panel
    assert_grid(visit.grid("weights"), array(run_of(text=text).layers[0].cached_weights)[0])
    visit.cell("scores", n - 1, 0).click()
    visit.page.wait_for_function("() => document.querySelector('[data-panel=detail]')?.textContent.trim()")
    inside = visit.page.locator("[data-testid=stage] :is(img, script, br, s, b > b, a[href^=javascript])")
    assert inside.count() == 0
    assert visit.page.locator("[data-testid=stMain] :is(img[src=x], a[href^='javascript'], del, .katex)").count() == 0
    assert visit.control("text").locator("input, textarea").first.input_value() == text


@pytest.mark.parametrize("case", MARKS)
def test_invisible_characters_have_a_mark(open_page, case):
    for split in ("characters", "words"):
        tokens = attention.Settings(text=MARKS[case], split=split).tokens
        visit = open_page(text=MARKS[case], split=split)
        shown = labels(visit)
        assert len(shown) == len(tokens)
        for label, token in zip(shown, tokens, strict=True):
            assert any(letter.isprintable() and not letter.isspace() for letter in label), (label, token)
            assert label not in ("",) and (len(token) == 1 or split == "characters" or label != "ab")


@pytest.mark.parametrize("text", [FAMILY, COMBINED, THUMB, f"{THUMB}{FAMILY}{COMBINED}"])
def test_one_label_per_grapheme(open_page, text):
    tokens = attention.Settings(text=text, split="characters").tokens
    visit = open_page(text=text, split="characters")
    assert visit.steps == len(tokens)
    assert all(token in label for token, label in zip(tokens, labels(visit), strict=True))


def test_graphemes_stay_whole():
    assert attention.Settings(text=FAMILY, split="characters").tokens == (FAMILY,)
    assert attention.Settings(text=THUMB, split="characters").tokens == (THUMB,)
    assert attention.Settings(text=COMBINED, split="characters").tokens == ("c", "a", "f", "e\u0301")


@pytest.mark.parametrize("text", ["我", "Hi"])
def test_one_token(open_page, text):
    visit = open_page(text=text)
    assert (visit.step, visit.steps) == (0, 1)
    assert visit.grid("weights") == {(0, 0): 1.0}
    visit.press("ArrowRight", "End", "Home", "ArrowLeft", " ")
    visit.page.wait_for_timeout(300)
    assert visit.step == 0


@pytest.mark.parametrize("text", ["   ", "一" * 5000, "\u3000 \n"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_empty_and_too_long(open_page, text, lang):
    visit = open_page(text="dog bites man", locale=lang)
    visit.type_text(text)
    visit.page.locator("[data-testid=stAlert]").first.wait_for()
    said = visit.alerts()
    assert said.strip() and (len(text) < 100 or "4,000" in said or "4000" in said)
    assert any("一" <= letter <= "鿿" for letter in said) == (lang == "zh")
    assert visit.control("text").locator("input, textarea").first.input_value().strip() == text.strip()
    visit.type_text("我 喜欢")
    visit.page.wait_for_selector("[data-testid=stage][data-steps='2']")


def test_more_than_the_stage_holds(open_page):
    visit = open_page(text=" ".join(f"w{i}" for i in range(65)), stage=False)
    visit.page.wait_for_function("() => document.body.innerText.includes('65')")
    visit.quiet()
    assert visit.stage.count() == 0
    assert "64" in visit.page.locator("[data-testid=stMain]").inner_text()


def test_causal_is_a_lower_triangle_with_the_first_query_on_top(open_page):
    visit = open_page(text="the cat sat down", prompt=4)
    states = visit.grid("scores", "state")
    assert all((state == "masked") == (j > i) for (i, j), state in states.items())
    tops = [visit.cell("scores", i, 0).bounding_box()["y"] for i in range(4)]
    lefts = [visit.cell("scores", 0, j).bounding_box()["x"] for j in range(4)]
    assert tops == sorted(tops) and len(set(tops)) == 4 and lefts == sorted(lefts) and len(set(lefts)) == 4
    words = visit.panel("scores").inner_text().lower() + visit.stage.inner_text().lower()
    assert "ask" in words and "answer" in words


@pytest.mark.parametrize("text", ["1 2 10", "the cat saw the cat", "2024-01-01 2024-01-02"])
def test_equal_squares(open_page, text):
    visit = open_page(text=text).press("End")
    sizes = visit.page.locator("[data-panel=weights] [data-cell]").evaluate_all(
        "cells => cells.map(c => { const b = c.getBoundingClientRect(); return [b.width, b.height]; })"
    )
    assert max(max(size) for size in sizes) - min(min(size) for size in sizes) < 0.6


def test_the_range_of_the_scores_is_printed_and_stays(open_page):
    visit = open_page(text="the cat sat on the mat", prompt=2)
    read = "() => document.querySelector('[data-testid=stage]').textContent.match(/±[\\s]*[0-9.,]+/g)"
    first = visit.page.evaluate(read)
    assert first, "no printed range"
    visit.press("End").at(5)
    assert visit.page.evaluate(read) == first


def test_half_typed_pinyin_is_never_computed(open_page):
    visit = open_page(text="a dog bites man", locale="zh")
    box = visit.control("text").locator("input, textarea").first
    box.fill("")
    typing = visit.context.new_cdp_session(visit.page)
    before = visit.steps
    for part in ("n", "ni", "ni h", "ni hao"):
        typing.send("Input.imeSetComposition", {"text": part, "selectionStart": len(part), "selectionEnd": len(part)})
        visit.page.wait_for_timeout(250)
        assert visit.steps == before and visit.link["text"] == "a dog bites man"
    typing.send("Input.insertText", {"text": "你好吗"})
    box.press("Enter" if box.evaluate("e => e.tagName") == "INPUT" else "Control+Enter")
    visit.page.wait_for_selector("[data-testid=stage][data-steps='3']")
    visit.quiet()
    assert visit.link["text"] == "你好吗" and [label[0] for label in labels(visit)] == ["你", "好", "吗"]


def test_keys_of_an_input_method_do_not_step(open_page):
    visit = open_page(text="the cat sat on the mat", prompt=2)
    visit.page.evaluate(
        "() => document.querySelector('[data-testid=stage]').dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true, isComposing: true}))"
    )
    visit.page.wait_for_timeout(100)
    assert visit.step == 1
