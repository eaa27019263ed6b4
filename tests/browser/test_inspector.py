"""The inspector in a browser: closed it costs nothing, open it shows and hands out the run, letter by letter."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import attention
from tests.browser.expect import array, assert_grid, run_of

CAT = "the cat sat on the mat"
SHOWN = "() => document.querySelector('.js-plotly-plot').calcdata[0][0].z.map(row => Array.from(row, Number))"


def inspect(visit):
    """Opens the inspector and waits for its figure."""
    visit.control("inspector").locator("summary").first.click()
    visit.page.locator(".js-plotly-plot .heatmaplayer image").first.wait_for()
    return visit.quiet()


def download(visit, key: str) -> bytes:
    with visit.page.expect_download() as waiting:
        visit.control(key).locator("button").first.click()
    return Path(waiting.value.path()).read_bytes()


def test_closed_it_draws_nothing_and_open_it_shows_the_full_pass(open_page):
    visit = open_page(text=CAT)
    assert visit.page.locator(".js-plotly-plot").count() == 0
    shown = inspect(visit).page.evaluate(SHOWN)
    weights = array(run_of(text=CAT).layers[0].weights)[0]
    assert_grid({(i, j): shown[i][j] for i in range(6) for j in range(i + 1)}, weights)


@pytest.mark.parametrize("text", ["<b>x</b> &amp; a<b <br>", "the cat saw the cat", "1 2 10", "2024-01-01 2024-01-02"])
def test_ticks_are_the_tokens_one_each(open_page, text):
    visit = inspect(open_page(text=text))
    tokens = attention.Settings(text=text).tokens
    for axis in ("x", "y"):
        ticks = visit.page.locator(f".js-plotly-plot .{axis}tick text").all_text_contents()
        assert len(ticks) == len(tokens)
        assert all(token in tick for token, tick in zip(tokens, ticks, strict=True)), ticks
    assert visit.page.locator(".js-plotly-plot tspan[style*=bold]").count() == 0


def test_opening_it_leaves_the_stage_alone(open_page):
    visit = open_page(text=CAT, prompt=2).press("ArrowRight").at(2)
    visit.stage.evaluate("stage => { stage.marked = true; }")
    inspect(visit)
    assert visit.step == 2 and visit.stage.evaluate("stage => stage.marked")


def test_zoom_outlives_a_step(open_page):
    visit = inspect(open_page(text=CAT, prompt=2))
    read = "() => document.querySelector('.js-plotly-plot')._fullLayout.xaxis.range.map(x => +x.toFixed(2))"
    before = visit.page.evaluate(read)
    area = visit.page.locator(".js-plotly-plot .nsewdrag").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    visit.page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + box["height"] * 0.2)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.7, steps=8)
    visit.page.mouse.up()
    visit.page.wait_for_timeout(400)
    zoomed = visit.page.evaluate(read)
    assert zoomed != before
    visit.press("ArrowRight").at(2)
    visit.page.wait_for_timeout(600)
    assert visit.page.evaluate(read) == zoomed


def test_the_csv_has_the_labels_and_no_bare_infinity(open_page):
    visit = inspect(open_page(text="<b>x</b> 它 a,b", prompt=1))
    table = list(csv.reader(io.StringIO(download(visit, "csv").decode("utf-8-sig"))))
    tokens = attention.Settings(text="<b>x</b> 它 a,b").tokens
    assert len(table) == len(tokens) + 1
    assert all(token in cell for token, cell in zip(tokens, table[0][1:], strict=True))
    assert all(token in row[0] for token, row in zip(tokens, table[1:], strict=True))
    assert not {"nan", "inf", "-inf", ""} & {cell.lower() for row in table[1:] for cell in row}


def test_the_run_as_a_file_is_the_run(open_page):
    visit = inspect(open_page(text=CAT, heads=4, prompt=2))
    saved, run = np.load(io.BytesIO(download(visit, "npz"))), run_of(text=CAT, heads=4, prompt=2)
    assert np.array_equal(saved["0.weights"], run.layers[0].weights.numpy())
    assert np.array_equal(saved["0.cached_k"], run.layers[0].cached_k.numpy())
    assert np.array_equal(saved["step_delta"], run.step_delta.numpy())


def test_more_than_the_stage_holds_is_in_the_inspector(open_page):
    text = " ".join(f"w{i}" for i in range(65))
    visit = open_page(text=text, stage=False)
    visit.control("inspector").wait_for()
    assert len(inspect(visit).page.evaluate(SHOWN)) == 65


def test_a_link_too_long_offers_the_run_as_a_file(open_page):
    visit = open_page(text=" ".join(["一二三四五六七八九十" * 4] * 8))
    visit.page.get_by_role("button", name="Share").first.click()
    visit.page.wait_for_timeout(300)
    assert np.load(io.BytesIO(download(visit, "share_run")))["0.x"].shape[0] == visit.steps
