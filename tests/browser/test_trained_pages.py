"""The trained models at the page: where a visit begins, examples that move the stage, heads taken away, twins."""

from __future__ import annotations

import pytest

from ui import text

WIDTHS = """() => [Math.max(document.documentElement.scrollWidth,
  document.querySelector('[data-testid=stMain]').scrollWidth), innerWidth]"""


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_visit_begins_at_the_row_that_finds_who_is_meant(open_page, lang):
    first = text.load(lang).tree("examples.decoder")[0]
    visit = open_page(locale=lang, source="trained")
    visit.at(first["step"] - 1)
    assert visit.link["text"] == first["text"] and visit.link["step"] == str(first["step"])
    weights = {col: value for (row, col), value in visit.grid("weights").items() if row == visit.step and value}
    antecedent = visit.tokens()[max(weights, key=weights.get)]
    assert max(weights.values()) > 0.9 and antecedent in ("trophy", "书")


def test_an_example_moves_the_stage_to_its_row(open_page):
    examples = text.load("en").tree("examples.decoder")
    visit = open_page(source="trained").press("End")
    visit.page.get_by_role("button", name=examples[3]["title"], exact=True).click()
    visit.at(examples[3]["step"] - 1).quiet()
    assert visit.link["text"] == examples[3]["text"]


def test_the_head_that_finds_who_is_meant_takes_the_answer_with_it(open_page):
    visit = open_page(source="trained", locale="en")
    visit.page.get_by_text("Take a head away", exact=True).click()
    plot = visit.page.locator("[data-testid=stExpander] .js-plotly-plot")
    plot.wait_for()
    switch = visit.control("head_2-1_en")
    switch.get_by_text("Zero", exact=True).click()
    visit.page.wait_for_function("() => new URLSearchParams(location.search).get('zeroed') === '2.1'")
    visit.quiet()
    assert "Zero: head 2.1" in visit.alerts()
    before, after = plot.evaluate("plot => plot.data.map(bars => Math.max(...bars.x.slice(0, 1)))")
    assert before > 0.9 and after < 0.5


@pytest.mark.parametrize("screen", [390, 1400])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_twins_fit_the_screen(open_page, screen, lang):
    visit = open_page("/twins", stage=False, screen=screen, locale=lang)
    visit.page.locator(".js-plotly-plot").nth(3).wait_for()
    visit.quiet()
    wide, screen = visit.page.evaluate(WIDTHS)
    assert wide <= screen
    one, other = text.load(lang).tree("twins.pairs")[0]["sentences"]
    visit.page.wait_for_function("() => new URLSearchParams(location.search).has('other')")
    assert (visit.link["one"], visit.link["other"]) == (one, other)


def test_rows_before_the_changed_word_are_grey_in_the_decoder(open_page):
    visit = open_page("/twins", stage=False, locale="en", one="The cat chased the dog because it was hungry.",
                      other="The cat chased the dog because it was scared.")  # fmt: skip
    plots = visit.page.locator(".js-plotly-plot")
    plots.nth(3).wait_for()
    marks = plots.first.evaluate("plot => plot.data[1].text.map(row => row[0])")
    assert marks == ["="] * 8 + [""] * 2
