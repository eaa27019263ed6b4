"""Every number on the stage is the run's number, every cell has the state that the contract defines."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from tests.browser.expect import array, assert_grid, kv_states, run_of, score_state

CAT = "the cat sat on the mat"
CASES = {
    "defaults": {"text": CAT},
    "grouped heads, odd sizes": {
        "text": CAT,
        "d_model": 9,
        "d_k": 5,
        "d_v": 3,
        "heads": 4,
        "kv_heads": 2,
        "prompt": 2,
    },
    "rolling window": {"text": CAT + " and purred", "mask": "window", "width": 2, "prompt": 3},
    "bidirectional, two layers": {"text": CAT, "mask": "bidirectional", "layers": 2, "prompt": 3},
    "prefix": {"text": CAT, "mask": "prefix", "width": 4, "prompt": 2},
    "alibi, no scale": {"text": CAT, "positions": "alibi", "scale": "off", "temperature": 2.0},
    "rotary halves, float64": {"text": CAT, "positions": "rotary", "pairing": "halves", "dtype": "float64"},
    "half precision": {"text": CAT, "dtype": "float16"},
    "prompt of one": {"text": CAT, "prompt": 1},
    "all in the prompt": {"text": CAT, "prompt": 6},
    "broken": {"text": CAT, "breaks": "position,stale"},
}


def steps_of(run) -> list[int]:
    first, last = run.settings.prompt - 1, len(run.tokens) - 1
    return sorted({first, min(first + 1, last), (first + last + 1) // 2, last})


def go_to(visit, run, step):
    visit.press("Home").at(run.settings.prompt - 1)
    visit.press(*["ArrowRight"] * (step - run.settings.prompt + 1)).at(step)


def check_squares(visit, run, step, layer, head):
    record, dtype = run.layers[layer], run.settings.dtype
    n = len(run.tokens)
    for panel, name in (("scores", "cached_scaled"), ("weights", "cached_weights")):
        states = visit.grid(panel, "state")
        assert sorted(states) == [(i, j) for i in range(n) for j in range(n)], panel
        wanted = {(i, j): score_state(run, step, i, j, layer) for i, j in states}
        assert states == wanted, panel
        values = visit.grid(panel)
        assert_grid(values, array(getattr(record, name))[head], dtype)
        assert all(values[at] is not None for at, state in states.items() if state in ("now", "earlier")), panel
        assert all(values[at] is None for at, state in states.items() if state in ("never", "future")), panel


def check_caches(visit, run, step, layer, head):
    record, settings = run.layers[layer], run.settings
    wanted = kv_states(run, step)
    for panel, name in (("k-cache", "cached_k"), ("v-cache", "cached_v")):
        matrix = array(getattr(record, name))[head * settings.kv_heads // settings.heads]
        states, values = visit.grid(panel, "state"), visit.grid(panel)
        assert sorted(states) == list(np.ndindex(*matrix.shape)), panel
        assert states == {(i, j): wanted[i] for i, j in states}, panel
        assert_grid(values, matrix, settings.dtype)
        assert all(values[i, j] is not None for i, j in values if wanted[i] in ("now", "cached")), panel
        assert all(values[i, j] is None for i, j in values if wanted[i] == "future"), panel


def check_projection(visit, run, step, layer, head):
    record, settings = run.layers[layer], run.settings
    kv_head = head * settings.kv_heads // settings.heads
    vectors = {"x": array(record.cached_x), "q": array(record.cached_q)[head],
               "k": array(record.cached_k)[kv_head], "v": array(record.cached_v)[kv_head]}  # fmt: skip
    for vector, matrix in vectors.items():
        values = visit.grid("projection", vector=vector)
        assert {(step, j) for j in range(matrix.shape[1])} <= set(values), vector
        assert_grid(values, matrix, settings.dtype)


STRIPS = {
    "row-raw": "cached_raw",
    "row-scaled": "cached_scaled",
    "row-masked": "cached_scaled",
    "row-weights": "cached_weights",
    "row-output": "cached_mixed",
}


def check_strips(visit, run, step, layer, head):
    record, dtype = run.layers[layer], run.settings.dtype
    states = visit.grid("scores", "state")
    for panel, name in STRIPS.items():
        matrix, values = array(getattr(record, name))[head], visit.grid(panel)
        rows = {row for row, _ in values}
        assert rows == {step}, panel
        assert_grid(values, matrix, dtype)
        if panel == "row-output":
            assert len(values) == matrix.shape[1] and None not in values.values()
        else:
            seen = {at for at in values if states[at] == "now"}
            assert seen and all(values[at] is not None for at in seen), panel
    hidden = {at: value for at, value in visit.grid("row-masked").items() if states[at] == "masked"}
    assert all(value is None or value == -math.inf for value in hidden.values())


def check_ledger(visit, run, step):
    cached, full, prompt = array(run.multiplies_cached), array(run.multiplies_full), run.settings.prompt
    ledger, delta = visit.ledger(), array(run.step_delta)
    assert ledger["mul-step"] == cached[step] and ledger["mul-step-full"] == full[step]
    assert ledger["mul-total"] == cached[: step + 1].sum()
    assert ledger["mul-total-full"] == full[: step + 1].sum()
    assert ledger["cache-bytes"] == array(run.cache_bytes)[step]
    wanted = delta[:prompt].max() if step == prompt - 1 else delta[step]
    assert ledger["delta"] == pytest.approx(wanted, rel=1e-6, abs=1e-30)


@pytest.mark.parametrize("case", CASES)
def test_every_number_is_the_runs(open_page, case):
    settings = CASES[case]
    run, visit = run_of(**settings), open_page(**settings)
    assert visit.steps == len(run.tokens)
    for step in steps_of(run):
        go_to(visit, run, step)
        check_squares(visit, run, step, 0, 0)
        check_caches(visit, run, step, 0, 0)
        check_projection(visit, run, step, 0, 0)
        check_strips(visit, run, step, 0, 0)
        check_ledger(visit, run, step)


def test_the_chosen_layer_and_head_are_shown(open_page):
    settings = {"text": CAT, "layers": 2, "heads": 4, "kv_heads": 2}
    run, visit = run_of(**settings), open_page(**settings, layer=2, head=3)
    for step in steps_of(run):
        go_to(visit, run, step)
        check_squares(visit, run, step, 1, 2)
        check_caches(visit, run, step, 1, 2)
        check_projection(visit, run, step, 1, 2)
        check_strips(visit, run, step, 1, 2)


def test_sixty_four_tokens(open_page):
    settings = {"text": " ".join(f"w{i}" for i in range(64)), "d_k": 64, "prompt": 60}
    run, visit = run_of(**settings), open_page(**settings)
    for step in (59, 60, 63):
        go_to(visit, run, step)
        check_squares(visit, run, step, 0, 0)
        check_caches(visit, run, step, 0, 0)
        check_strips(visit, run, step, 0, 0)


def test_a_token_before_the_prompts_end_shows_its_row_of_the_prefill(open_page):
    run, visit = run_of(text=CAT, prompt=4), open_page(text=CAT, prompt=4)
    visit.cell("tokens", 1, 1).or_(visit.panel("tokens").locator("[data-cell]").nth(1)).first.click()
    visit.at(3)
    values = visit.grid("row-weights")
    assert {row for row, _ in values} == {1}
    assert_grid(values, array(run.layers[0].cached_weights)[0])
    assert visit.grid("scores", "state")[1, 1] == "now"


def test_raw_scores_instead_of_scaled_ones(open_page):
    run, visit = run_of(text=CAT), open_page(text=CAT)
    visit.press("End").at(5)
    shows = visit.panel("scores").locator("xpath=descendant-or-self::*[@data-shows]").first
    shows.wait_for()
    assert shows.get_attribute("data-shows") == "scaled"
    visit.stage.get_by_role("button", name=re.compile("raw", re.I)).first.click()
    visit.page.wait_for_selector('[data-shows="raw"]')
    assert_grid(visit.grid("scores"), array(run.layers[0].cached_raw)[0])


def test_colour_means_the_same_number_in_every_step_and_head(open_page):
    """One colour for one value: cells of equal value have equal fill, whatever the step or the head."""
    visit = open_page(text="the cat saw the cat", positions="none", heads=2)
    fills: dict[str, set[str]] = {}
    read = """() => Array.from(document.querySelectorAll('[data-panel=weights] [data-state=now][data-value]'),
      e => [Number(e.dataset.value).toFixed(6),
        getComputedStyle(e)[e instanceof SVGElement ? 'fill' : 'backgroundColor']])"""
    for head in (1, 2):
        visit.open(text="the cat saw the cat", positions="none", heads=2, head=head)
        for step in range(1, 5):
            visit.press("Home").at(1).press(*["ArrowRight"] * (step - 1)).at(step)
            for value, fill in visit.page.evaluate(read):
                fills.setdefault(value, set()).add(fill)
    assert fills and all(len(found) == 1 for found in fills.values())
    assert len({fill for found in fills.values() for fill in found}) > 3
