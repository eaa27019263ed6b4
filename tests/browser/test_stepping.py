"""Stepping: buttons, keys, slider, strip, play and pause; what the page sends meanwhile; what is read out."""

from __future__ import annotations

import time

import pytest

CAT = "the cat sat on the mat"
LIVE = "() => [...document.querySelectorAll('[data-testid=stage] [aria-live]')].map(e => e.textContent).join()"


def test_the_first_step_is_the_prefill(open_page):
    visit = open_page(text=CAT, prompt=3)
    assert (visit.step, visit.steps) == (2, 6)
    assert visit.stage.get_attribute("data-lang") == "en"


def test_buttons(open_page):
    visit = open_page(text=CAT, prompt=3)
    for action, step in [
        ("next", 3),
        ("next", 4),
        ("prev", 3),
        ("last", 5),
        ("next", 5),
        ("first", 2),
        ("prev", 2),
    ]:
        if visit.page.locator(f"[data-action={action}]").is_enabled():
            visit.act(action)
        visit.at(step)


def test_keys(open_page):
    visit = open_page(text=CAT, prompt=3)
    for key, step in [("ArrowRight", 3), ("ArrowRight", 4), ("ArrowLeft", 3), ("End", 5), ("ArrowRight", 5),
                      ("Home", 2), ("ArrowLeft", 2)]:  # fmt: skip
        visit.press(key).at(step)


@pytest.mark.parametrize("modifier", ["ctrlKey", "altKey", "metaKey"])
def test_keys_with_a_modifier_are_left_alone(open_page, modifier):
    visit = open_page(text=CAT, prompt=3).press("ArrowRight").at(3)
    visit.stage.evaluate(
        "(stage, held) => stage.dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true, [held]: true}))",
        modifier,
    )
    visit.page.wait_for_timeout(100)
    assert visit.step == 3


def test_keys_typed_elsewhere_do_not_step(open_page):
    visit = open_page(text=CAT, prompt=3)
    visit.control("text").locator("input, textarea").first.focus()
    visit.page.keyboard.press("End")
    visit.page.keyboard.press("ArrowRight")
    visit.page.wait_for_timeout(100)
    assert visit.step == 2


def test_slider(open_page):
    visit = open_page(text=CAT, prompt=3)
    slider = visit.stage.locator("input[type=range]").first
    slider.focus()
    visit.page.keyboard.press("End")
    visit.at(5)
    visit.page.keyboard.press("ArrowLeft")
    visit.at(4)
    box = slider.bounding_box()
    visit.page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + 1, box["y"] + box["height"] / 2, steps=5)
    visit.page.mouse.up()
    visit.at(2)


def test_the_strip_is_the_timeline(open_page):
    visit = open_page(text=CAT, prompt=3)
    assert [label.split()[0] for label in visit.panel("tokens").locator("[data-cell]").all_inner_texts()] == CAT.split()
    visit.panel("tokens").locator("[data-cell]").nth(4).click()
    visit.at(4)
    assert visit.grid("tokens", "state")


def test_play_runs_to_the_end_and_stops(open_page):
    visit = open_page(text="a b c d", prompt=2)
    visit.act("play").at(3)
    visit.page.wait_for_timeout(1500)
    assert visit.step == 3


def test_play_and_pause(open_page):
    visit = open_page(text=" ".join("abcdefghijklmnopqrstuvwxyz"), prompt=2)
    visit.act("play").at(3)
    visit.act("play")
    held = visit.step
    visit.page.wait_for_timeout(1500)
    assert visit.step == held < 25
    visit.press(" ").at(held + 1)
    visit.press(" ")
    held = visit.step
    visit.page.wait_for_timeout(1500)
    assert visit.step == held < 25


def test_stepping_sends_nothing_and_a_pause_at_most_one_message(open_page):
    visit = open_page(text=" ".join(f"w{i}" for i in range(24)), prompt=4)
    visit.page.wait_for_timeout(1500)
    sent = visit.record.sent
    before, started = len(sent), time.monotonic()
    for _ in range(20):
        visit.press("ArrowRight")
    visit.at(23).press("Home").at(3)
    visit.page.mouse.move(400, 500)
    stopped = time.monotonic()
    visit.page.wait_for_timeout(2000)
    after = sent[before:]
    assert [moment for moment in after if started <= moment <= stopped] == []
    assert len(after) <= 1 and all(moment - stopped <= 1.0 for moment in after)


def test_every_step_is_read_out(open_page):
    visit = open_page(text=CAT, prompt=3)
    said = []
    for step in range(2, 6):
        visit.at(step)
        visit.page.wait_for_timeout(1200)  # a polite announcement may wait for the reader to pause
        said.append(visit.page.evaluate(LIVE))
        visit.press("ArrowRight")
    assert all(sentence.strip() for sentence in said) and len(set(said)) == 4
    assert "mat" in said[-1]


def test_a_pinned_cell_is_read_out(open_page):
    visit = open_page(text=CAT, prompt=3).press("End").at(5)
    visit.page.wait_for_timeout(1200)
    before = visit.page.evaluate(LIVE)
    visit.cell("scores", 5, 1).click()
    visit.page.wait_for_function(f"before => ({LIVE})() !== before", arg=before)


FOCUSED = """() => { const e = document.activeElement;
  return [e.dataset.action, e.closest('[data-panel]')?.dataset.panel, e.type]; }"""


def test_everything_is_reached_by_keyboard(open_page):
    visit = open_page(text=CAT, prompt=3)
    reached = set()
    visit.stage.focus()
    for _ in range(40):
        visit.page.keyboard.press("Tab")
        reached.update(filter(None, visit.page.evaluate(FOCUSED)))
    panels = {"tokens", "projection", "k-cache", "v-cache", "scores", "weights", "row-raw", "row-output"}
    assert {"play", "next", "last", "first", "prev", "range", *panels} <= reached


def test_a_cell_is_reached_and_pinned_by_keyboard(open_page):
    visit = open_page(text=CAT, prompt=3).press("End").at(5)
    visit.page.locator("[data-panel=weights][tabindex], [data-panel=weights] [tabindex]").first.focus()
    for key in ("Enter", "ArrowRight", "ArrowRight"):
        visit.page.keyboard.press(key)
    before = visit.panel("detail").inner_text()
    visit.page.keyboard.press("ArrowLeft")
    assert visit.panel("detail").inner_text() != before
    visit.page.keyboard.press("Enter")
    pinned = visit.panel("detail").inner_text()
    visit.page.keyboard.press("Escape")
    visit.press("Home", "End").at(5)
    assert visit.step == 5 and pinned.splitlines()[1] in visit.panel("detail").inner_text()


MOVING = """() => {
  const long = times => times.split(',').some(time => parseFloat(time) > 0.01);
  const styles = Array.from(document.querySelectorAll('[data-testid=stage] *'), e => getComputedStyle(e));
  return styles.filter(s => long(s.transitionDuration)
    || (s.animationName !== 'none' && long(s.animationDuration)))
    .length; }"""


def test_reduced_motion(open_page):
    visit = open_page(text=CAT, prompt=3)
    visit.page.emulate_media(reduced_motion="reduce")
    assert visit.page.evaluate(MOVING) == 0
    visit.press("ArrowRight").at(3)


def test_two_stages_of_two_readers_stay_apart(open_page):
    one, two = (
        open_page(text="the cat saw the cat", prompt=2),
        open_page(text="dog bites man", prompt=1, locale="zh"),
    )
    one.press("End").at(4)
    assert (two.step, two.steps) == (0, 3)
    two.press("ArrowRight").at(1)
    assert (one.step, one.steps) == (4, 5)
    one.type_text("the mouse")
    one.page.wait_for_selector("[data-testid=stage][data-steps='2']")
    assert (two.step, two.steps) == (1, 3)
    assert two.link["text"] == "dog bites man"
