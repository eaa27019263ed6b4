"""What people do with the controls: impossible combinations, clamping, play and change, a dragged slider."""

from __future__ import annotations

import pytest

import attention
from tests.browser.expect import array, assert_grid, run_of

CAT = "the cat sat on the mat"


def weights_of(head=0, layer=0, **settings):
    return array(run_of(**settings).layers[layer].cached_weights)[head]


def number_box(visit, key):
    return visit.control(key).locator("input[type=range], input[type=number]").first


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("asked", "used"),
    [
        ({"d_k": 5, "positions": "rotary"}, {"d_k": 6, "positions": "rotary"}),
        ({"heads": 4, "kv_heads": 3}, {"heads": 4, "kv_heads": 2}),
        ({"mask": "window", "width": 0}, {"mask": "window", "width": 1}),
    ],
)
def test_what_cannot_be_together_is_explained_and_runs(open_page, lang, asked, used):
    visit = open_page(text=CAT, locale=lang, **asked)
    said = visit.page.locator("[data-testid=stSidebar]").inner_text() + visit.alerts()
    ((name, value),) = [(name, value) for name, value in asked.items() if used[name] != value]
    assert str(value) in said and str(used[name]) in said
    assert_grid(visit.grid("weights"), weights_of(text=CAT, **used))
    assert visit.link[name] == str(value), "the reader's own value stays"


def test_an_odd_width_of_the_model_with_sinusoidal_positions_works(open_page):
    visit = open_page(text=CAT, d_model=5)
    assert_grid(visit.grid("weights"), weights_of(text=CAT, d_model=5))


def test_a_head_that_is_gone_becomes_the_last_with_a_note(open_page):
    visit = open_page(text=CAT, heads=8, kv_heads=1, head=8)
    assert_grid(visit.grid("weights"), weights_of(head=7, text=CAT, heads=8, kv_heads=1))
    box = number_box(visit, "heads")
    box.focus()
    for _ in range(6):
        box.press("ArrowLeft" if box.get_attribute("type") == "range" else "ArrowDown")
    visit.page.wait_for_function("() => ['2', null].includes(new URLSearchParams(location.search).get('heads'))")
    visit.quiet()
    assert_grid(visit.grid("weights"), weights_of(head=1, text=CAT, heads=2, kv_heads=1))
    visit.page.locator("[data-testid=stSidebar] [data-testid=stAlert]").filter(has_text="8").wait_for()


def test_a_token_that_is_gone_becomes_the_last(open_page):
    visit = open_page(text="a b c d e f g h i j k l", prompt=2, step=10)
    visit.at(9)
    visit.type_text("a b c")
    visit.page.wait_for_selector("[data-testid=stage][data-steps='3']")
    visit.at(2)


@pytest.mark.parametrize("change", ["heads", "text"])
def test_a_change_while_it_plays(open_page, change):
    visit = open_page(text=" ".join("abcdefghijklmnopqrst"), prompt=2)
    visit.act("play").at(3)
    if change == "heads":
        box = number_box(visit, "heads")
        box.focus()
        box.press("ArrowUp")
        visit.page.wait_for_function("() => new URLSearchParams(location.search).get('heads') === '3'")
    else:
        visit.type_text("x y z u v")
        visit.page.wait_for_selector("[data-testid=stage][data-steps='5']")
    visit.quiet()
    last = visit.steps - 1
    visit.press("End").at(last)
    visit.page.wait_for_timeout(1300)
    assert visit.step == last
    visit.press("Home").at(1)
    visit.page.wait_for_timeout(1300)
    assert visit.step == 1, "something plays on"


def test_a_dragged_slider_ends_at_its_final_value(open_page):
    text = " ".join("abcdefghijklmnopqrst")
    visit = open_page(text=text, prompt=3)
    slider = visit.control("prompt").locator("input[type=range]").first
    box = visit.control("prompt").locator("[data-testid=stSlider]").or_(slider).first.bounding_box()
    thumb = slider.bounding_box()
    middle = thumb["y"] + thumb["height"] / 2
    at = thumb["x"] + (thumb["width"] * 2 / 19 if thumb["width"] > 60 else thumb["width"] / 2)
    visit.page.mouse.move(at, middle)
    visit.page.mouse.down()
    for part in (0.3, 0.6, 0.4, 0.8, 0.5):
        visit.page.mouse.move(box["x"] + box["width"] * part, middle, steps=6)
        visit.page.wait_for_timeout(40)
    visit.page.mouse.up()
    visit.page.wait_for_timeout(400)
    visit.quiet()
    final = int(slider.get_attribute("aria-valuenow") or slider.input_value())
    assert final > 5
    visit.at(final - 1)
    assert_grid(visit.grid("weights"), weights_of(text=text, prompt=final))
    assert visit.link["prompt"] == str(final)


def test_breaks_that_change_nothing_are_disabled_with_the_reason(open_page):
    visit = open_page(text=CAT, positions="none", locale="en")
    idle = attention.idle_breaks(attention.Settings(text=CAT, positions="none"))
    boxes = visit.page.locator("[data-testid=stCheckbox]").filter(has=visit.page.locator("input[disabled]"))
    assert {"position", "causal"} <= set(idle) and boxes.count() >= len(idle)


@pytest.mark.parametrize("name", ["position", "mask", "stale", "causal"])
def test_a_break_shows(open_page, name):
    settings = {"text": CAT, "layers": 2, "prompt": 2}
    whole, visit = run_of(**settings), open_page(**settings, breaks=name)
    broken = run_of(**settings, breaks=name)
    visit.press("End").at(5)
    assert visit.ledger()["delta"] == pytest.approx(float(broken.step_delta[5]), rel=1e-6)
    assert float(broken.step_delta[2:].max()) > 100 * float(whole.step_delta.max())
    healthy = open_page(**settings).press("End").at(5)
    assert visit.panel("ledger").inner_text() != healthy.panel("ledger").inner_text()


def test_breaking_by_hand(open_page):
    visit = open_page(text=CAT, prompt=2).press("End").at(5)
    before = visit.ledger()["delta"]
    visit.page.locator("label").filter(has_text="osition restarts").first.click()
    visit.page.wait_for_function("() => new URLSearchParams(location.search).get('breaks') === 'position'")
    visit.quiet()
    assert visit.step == 5
    assert visit.ledger()["delta"] > 100 * before


def test_window_evicts(open_page):
    visit = open_page(text=CAT, mask="window", width=2, prompt=2).press("End").at(5)
    rows = {row: state for (row, _), state in visit.grid("k-cache", "state").items()}
    assert rows == {0: "evicted", 1: "evicted", 2: "evicted", 3: "evicted", 4: "cached", 5: "now"}
