"""Rows measured in a page: one step, what stepping sends, a control, against bare Streamlit pages."""

from __future__ import annotations

import time

from tests.bench.measure import Row, about, at_most, in_turns
from tests.bench.pages_open import NO_FREEZE, PLOT, STAGE, WORDS, open_page, served, timed
from tests.browser.harness import address

FOUR = "tests/bench/pages/four_heatmaps.py"
SLIDER = "tests/bench/pages/slider_heatmap.py"
SHOWS_STEP = f"document.querySelector('{STAGE}')?.dataset.step === '%d'"
TITLES = "document.querySelectorAll('.js-plotly-plot .gtitle')"


def step(browser) -> list[Row]:
    """Key press to painted on the stage, against one "next" of four Plotly heatmaps."""
    with served(app=("app.py", {}), bare=(FOUR, {})) as servers:
        stage = open_page(browser, servers["app"], STAGE, text=WORDS, d_k=64, prompt=32)
        bare = open_page(browser, servers["bare"], PLOT)
        stage.locator(STAGE).focus()
        button = bare.get_by_role("button", name="next")

        def key(turn: int) -> float:
            shown = int(stage.locator(STAGE).get_attribute("data-step"))
            return timed(stage, "keydown", SHOWS_STEP % (shown + 1), lambda: stage.keyboard.press("ArrowRight"))

        def following(turn: int) -> float:
            ready = f"{TITLES}.length === 4 && [...{TITLES}].every(t => t.textContent.endsWith(' {turn + 1}'))"
            return timed(bare, "click", ready, button.click)

        times = in_turns({"stage": key, "bare": following}, samples=26)
    detail = f"stage {times['stage']:.1f} ms, four heatmaps {times['bare']:.1f} ms"
    return [
        at_most("step, 64 tokens / bare next", times["stage"] / times["bare"], 1 / 8, "×", detail),
        about("step, 64 tokens, key to painted", times["stage"], 33, "ms", "two frames"),
    ]


def messages(browser) -> list[Row]:
    """Websocket messages from the page while it is stepped, and after the reader pauses."""
    with served(app=("app.py", {})) as servers:
        context = browser.new_context(locale="en-US")
        page, sent = context.new_page(), []
        page.on("websocket", lambda socket: socket.on("framesent", lambda _: sent.append(time.monotonic())))
        page.goto(address(servers["app"].base, prompt=4, text=WORDS))
        page.locator(STAGE).wait_for(timeout=60_000)
        page.wait_for_timeout(2000)
        page.locator(STAGE).focus()
        sent.clear()
        for _ in range(40):
            page.keyboard.press("ArrowRight")
        page.wait_for_timeout(20)
        stepping = len(sent)
        page.wait_for_timeout(2500)
    return [
        at_most("messages while stepping", stepping, 0, "", "40 steps"),
        at_most("messages after a pause", len(sent) - stepping, 1, "", "within 2.5 s"),
    ]


CONTROLS = {
    # name: (key of the widget, its element, what moves it on, start, when the stage shows the new value)
    "prompt slider": ("prompt", "input[type=range]", "ArrowRight", 2, SHOWS_STEP),
    "d_k box": ("d_k", "input[type=number]", "ArrowUp", 8,
                "document.querySelectorAll('[data-panel=k-cache] [data-cell]').length === 32 * (%d + 1)"),
}  # fmt: skip


def control(browser) -> list[Row]:
    """A control moved to the new picture, 32 tokens, with and without gc.freeze on both sides."""
    servers = {
        "app": ("app.py", {}),
        "app, not frozen": ("app.py", NO_FREEZE),
        "bare": (SLIDER, {"FREEZE": "0"}),
        "bare, frozen": (SLIDER, {"FREEZE": "1"}),
    }
    with served(**servers) as running:
        return [row for name in CONTROLS for row in _one_control(browser, running, name)]


def _one_control(browser, running, name: str) -> list[Row]:
    key, element, press, start, stage_shows = CONTROLS[name]
    text = " ".join(WORDS.split()[:32])

    def sampler(server: str):
        app = server.startswith("app")
        query = {"text": text, key: start} if app else {}
        page = open_page(browser, running[server], STAGE if app else PLOT, **query)
        box = page.locator(f'[class*="st-key-{key}"] {element}').first
        ready = stage_shows if app else f"{TITLES}[0]?.textContent === '{key} %d'"

        def sample(turn: int) -> float:
            box.focus()
            wanted = start + turn + 1
            at = wanted - 1 if app else wanted  # the stage counts steps, and the features before the new one, from 0
            return timed(page, "keydown", ready % at, lambda: page.keyboard.press(press))

        return sample

    times = in_turns({server: sampler(server) for server in running})
    detail = ", ".join(f"{server} {time_:.0f} ms" for server, time_ in times.items())
    title = f"control ({name}), 32 tokens"
    return [
        at_most(f"{title} / bare as it comes", times["app"] / times["bare"], 1, "×", detail),
        at_most(f"{title} / bare, both frozen", times["app"] / times["bare, frozen"], 1, "×", "control"),
        at_most(f"{title} / bare, neither frozen", times["app, not frozen"] / times["bare"], 1, "×", "control"),
    ]
