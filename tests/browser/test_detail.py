"""Hover lights a cell's sources, a click pins it, the detail panel writes its sum out."""

from __future__ import annotations

import math
import re

import numpy as np

from tests.browser.expect import array, run_of

CAT = "the cat sat on the mat"
NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?(?:e[-−+]?\d+)?")


def look(visit, panel, row) -> bytes:
    """What a reader sees of a cache's row: its pixels."""
    boxes = [visit.cell(panel, row, col).bounding_box() for col in (0, 7)]
    left, right = boxes[0]["x"], boxes[1]["x"] + boxes[1]["width"]
    clip = {
        "x": left - 3,
        "y": boxes[0]["y"] - 3,
        "width": right - left + 6,
        "height": boxes[0]["height"] + 6,
    }
    return visit.page.screenshot(clip=clip, animations="disabled")


def tall(visit):
    """The whole stage on the screen, so that nothing scrolls under the pointer."""
    visit.page.set_viewport_size({"width": 1280, "height": 2600})
    visit.page.mouse.move(2, 2)
    visit.page.wait_for_timeout(300)
    return visit


def numbers(text: str) -> list[float]:
    return [float(found.replace("−", "-")) for found in NUMBER.findall(text)]


def has(found: list[float], wanted: float) -> bool:
    return any(math.isclose(one, wanted, rel_tol=0.02, abs_tol=0.006) for one in found)


def detail(visit) -> str:
    visit.page.wait_for_function("() => document.querySelector('[data-panel=detail]')?.textContent.trim()")
    return visit.panel("detail").inner_text()


def test_hover_lights_what_a_score_came_from(open_page):
    visit = tall(open_page(text=CAT, prompt=3).press("End").at(5))
    dark = {row: look(visit, "k-cache", row) for row in (1, 4)}
    visit.cell("scores", 5, 1).hover()
    visit.page.wait_for_timeout(150)
    assert look(visit, "k-cache", 1) != dark[1], "the key's row is not lit"
    assert look(visit, "k-cache", 4) == dark[4], "another key's row is lit"
    visit.page.mouse.move(2, 2)
    visit.page.wait_for_timeout(150)
    assert look(visit, "k-cache", 1) == dark[1], "the light stays on"


def test_hover_lights_the_value_row_of_a_weight(open_page):
    visit = tall(open_page(text=CAT, prompt=3).press("End").at(5))
    dark = look(visit, "v-cache", 1)
    visit.cell("weights", 5, 1).hover()
    visit.page.wait_for_timeout(150)
    assert look(visit, "v-cache", 1) != dark


def test_click_pins_and_the_detail_writes_the_score_out(open_page):
    run, visit = run_of(text=CAT, prompt=3), open_page(text=CAT, prompt=3)
    visit.press("End").at(5)
    visit.cell("scores", 5, 1).click()
    layer, found = run.layers[0], numbers(detail(visit))
    q, k = array(layer.cached_q)[0, 5], array(layer.cached_k)[0, 1]
    assert has(found, array(layer.cached_raw)[0, 5, 1]) and has(found, array(layer.cached_scaled)[0, 5, 1])
    assert "√8" in visit.panel("detail").inner_text() or has(found, math.sqrt(8))
    written = sum(has(found, a) and has(found, b) for a, b in zip(q, k, strict=True))
    if written < len(q):  # long sums are folded until the reader asks for them
        visit.panel("detail").get_by_role("button").or_(visit.panel("detail").locator("summary")).last.click()
        found = numbers(detail(visit))
    assert all(has(found, a) and has(found, b) for a, b in zip(q, k, strict=True))


def test_a_pin_holds_while_stepping_and_is_let_go(open_page):
    visit = open_page(text=CAT, prompt=3).press("End").at(5)
    visit.cell("weights", 3, 1).click()
    pinned = detail(visit)
    visit.page.mouse.move(2, 2)
    visit.page.wait_for_timeout(100)
    assert detail(visit) == pinned
    visit.press("ArrowLeft").at(4)
    assert visit.panel("detail").inner_text().strip()


def test_the_detail_of_a_weight_has_exponent_share_and_contribution(open_page):
    run, visit = run_of(text=CAT, prompt=3), open_page(text=CAT, prompt=3)
    visit.press("End").at(5)
    visit.cell("weights", 5, 2).click()
    layer, found = run.layers[0], numbers(detail(visit))
    weight, value = array(layer.cached_weights)[0, 5, 2], array(layer.cached_v)[0, 2]
    assert has(found, weight)
    assert any(has(found, weight * one) for one in value)


def test_the_detail_of_a_projection_is_its_sum(open_page):
    run, visit = run_of(text=CAT, prompt=3), open_page(text=CAT, prompt=3)
    visit.press("End").at(5)
    visit.cell("projection", 5, 2, "q").click()
    layer = run.layers[0]
    found = numbers(detail(visit))
    assert has(found, array(layer.cached_q)[0, 5, 2])
    products = array(layer.cached_x)[5] * array(layer.w_q)[:, 2]
    assert math.isclose(products.sum(), array(layer.cached_q)[0, 5, 2], rel_tol=1e-4, abs_tol=1e-5)
    terms = sum(
        has(found, a) and has(found, b) for a, b in zip(array(layer.cached_x)[5], array(layer.w_q)[:, 2], strict=True)
    )
    assert terms >= 2


def test_a_masked_cell_says_so(open_page):
    visit = open_page(text=CAT, prompt=4)
    assert visit.grid("scores", "state")[1, 3] == "masked"
    visit.cell("scores", 1, 3).hover()
    visit.page.wait_for_timeout(100)
    words = visit.stage.inner_text().lower() + " ".join(
        visit.page.locator("[data-testid=stage] title").all_text_contents()
    )
    assert "masked" in words
    visit.cell("scores", 1, 3).click()
    text = detail(visit)
    assert "−∞" in text and ("masked" in text.lower() or "hidden" in text.lower())


def test_masked_cells_look_unlike_every_number(open_page):
    visit = open_page(text=CAT, prompt=6)
    read = """state => Array.from(document.querySelectorAll(`[data-panel=scores] [data-state=${state}]`),
      e => { const s = getComputedStyle(e); return s.fill + s.backgroundColor + s.backgroundImage; })"""
    assert not set(visit.page.evaluate(read, "masked")) & set(visit.page.evaluate(read, "now"))


def test_no_server_is_needed_for_any_of_it(open_page):
    visit = open_page(text=CAT, prompt=3).press("End").at(5)
    visit.page.wait_for_timeout(1500)
    before = len(visit.record.sent)
    for panel, row, col in (("scores", 5, 1), ("weights", 5, 2), ("scores", 4, 4)):
        visit.cell(panel, row, col).click()
        assert detail(visit)
    visit.page.wait_for_timeout(500)
    assert len(visit.record.sent) == before


def test_the_row_reads_from_the_left_to_the_output(open_page):
    """The strips' own numbers, as shown, make one another: raw to scaled to weights to output."""
    visit = open_page(text=CAT, prompt=3).press("End").at(5)
    row = {name: np.array([value for _, value in sorted(visit.grid(f"row-{name}").items())], float)
           for name in ("raw", "scaled", "weights", "output")}  # fmt: skip
    assert np.allclose(row["raw"][:6] / math.sqrt(8), row["scaled"][:6], atol=1e-5)
    shares = np.exp(row["scaled"][:6] - row["scaled"][:6].max())
    assert np.allclose(shares / shares.sum(), row["weights"][:6], atol=1e-5)
    v = np.array([[visit.grid("v-cache")[i, j] for j in range(8)] for i in range(6)])
    assert np.allclose(row["weights"][:6] @ v, row["output"], atol=1e-5)
