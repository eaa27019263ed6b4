"""How it looks: narrow screens, the dark theme, contrast of the numbers, pictures that are saved."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

CAT = "the cat sat on the mat"
ZH = "小明 把 书 放 在 桌子 上 ， 因为 它 很 重"
# The outermost edges of all panels; a panel that scrolls inside a box counts as that box.
EDGES = """() => {
  const box = panel => { let e = panel; for (let up = e; up && !up.dataset.testid; up = up.parentElement) {
    if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(up).overflowX)) e = up; }
    return e.getBoundingClientRect(); };
  const boxes = Array.from(document.querySelectorAll('[data-panel]'), box).filter(b => b.width);
  return [Math.min(...boxes.map(b => b.left)), Math.max(...boxes.map(b => b.right))]; }"""
CONTRAST = Path(__file__).with_name("contrast.js").read_text()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_numbers_keep_their_contrast(open_page, dark):
    visit = open_page(text=CAT, prompt=2, dark=dark)
    worst = []
    for step in range(1, 6):
        visit.at(step)
        visit.page.wait_for_timeout(250)  # colours may fade over
        shown = visit.page.evaluate(CONTRAST)
        assert len(shown) > 10
        worst.append(min(shown))
        visit.press("ArrowRight")
    assert min(worst)[0] >= 4.5, min(worst)


def test_dark_theme_is_dark(open_page):
    visit = open_page(text=CAT, dark=True)
    ground = visit.page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    red, green, blue = map(int, re.findall(r"\d+", ground)[:3])
    assert max(red, green, blue) < 90


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("text", [CAT, ZH, " ".join(f"word{i}" for i in range(40))])
def test_a_telephone_shows_one_column_without_sideways_scrolling(open_page, text, lang):
    visit = open_page(text=text, screen=390, locale=lang)
    for key in ("Home", "End"):
        visit.press(key)
        wide = visit.page.evaluate(
            "() => Math.max(document.documentElement.scrollWidth,"
            " document.querySelector('[data-testid=stMain]').scrollWidth)"
        )
        assert wide <= 390
    left, right = visit.page.evaluate(EDGES)
    assert left >= 0 and right <= 390


def test_cells_on_a_telephone_can_be_touched(open_page):
    visit = open_page(text=CAT, screen=390).press("End").at(5)
    sizes = visit.page.locator("[data-panel=scores] [data-cell]").evaluate_all(
        "cells => cells.map(c => c.getBoundingClientRect()).map(b => Math.min(b.width, b.height))"
    )
    assert min(sizes) >= 20
    visit.cell("scores", 5, 1).scroll_into_view_if_needed()
    visit.cell("scores", 5, 1).tap()
    visit.page.wait_for_function("() => document.querySelector('[data-panel=detail]')?.textContent.trim()")


def save(visit, kind: str) -> Path:
    """Asks the stage for its picture; a menu may stand before the two kinds."""
    button = visit.stage.get_by_role("button", name=re.compile(kind, re.I))
    if not button.first.is_visible():
        visit.stage.locator("summary, button").filter(has_text=re.compile("save|保存", re.I)).first.click()
    with visit.page.expect_download() as waiting:
        button.first.click()
    return Path(waiting.value.path())


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_saved_svg(open_page, dark):
    visit = open_page(text="<b>x</b> a<b 它 &amp; mat", prompt=2, dark=dark).press("End")
    tree = ElementTree.parse(save(visit, "svg"))
    assert tree.getroot().tag == "{http://www.w3.org/2000/svg}svg"
    words = "".join(tree.getroot().itertext())
    assert "<b>x</b>" in words and "它" in words and "&amp;" in words
    assert len(list(tree.iter())) > 100
    assert not [e for e in tree.iter() if e.tag.endswith(("script", "image"))]


def test_saved_svg_draws(open_page, chromium):
    visit = open_page(text=CAT, prompt=2).press("End")
    source = save(visit, "svg").read_text()
    page = chromium.new_page()
    page.set_content(source)
    assert page.locator("svg").first.bounding_box()["width"] > 300
    colours = page.locator("rect").evaluate_all("all => new Set(all.map(e => getComputedStyle(e).fill)).size")
    page.close()
    assert colours > 8, "the cells have lost their colours"


def test_saved_png(open_page):
    from PIL import Image

    visit = open_page(text=CAT, prompt=2).press("End")
    with Image.open(save(visit, "png")) as picture:
        assert picture.format == "PNG" and min(picture.size) > 300
        colours = picture.convert("RGB").resize((200, 200)).getcolors(40_000)
    assert len(colours) > 20, "the picture is empty"
