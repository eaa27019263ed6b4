"""Servers and pages that are measured: the app and the bare pages, each with the clock in it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from tests.browser.harness import Server, address
from tests.browser.visit import QUIET, STAGE

HERE = Path(__file__).parent
CLOCK = (HERE / "clock.js").read_text()
NO_FREEZE = {"PYTHONPATH": str(HERE / "nofreeze")}
PLOT = ".js-plotly-plot .heatmaplayer image"
WORDS = " ".join(f"w{i}" for i in range(64))


@contextlib.contextmanager
def served(**scripts: tuple[str, dict[str, str]]):
    """Servers by name, all up; stopped at the end. A script is named from the repository's root."""
    servers = {name: Server(script, environment) for name, (script, environment) in scripts.items()}
    try:
        yield {name: server.wait() for name, server in servers.items()}
    finally:
        for server in servers.values():
            server.stop()


def open_page(browser, server: Server, ready: str, **query):
    """A page of its own context, once `ready` is on it and the script has run."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-US")
    page = context.new_page()
    page.add_init_script(CLOCK)
    page.goto(address(server.base, **query))
    page.locator(ready).first.wait_for(timeout=60_000)
    page.wait_for_timeout(300)
    page.wait_for_function(QUIET, timeout=60_000)
    return page


def timed(page, event: str, ready: str, act) -> float:
    """Milliseconds from the event to the picture; `ready` is JavaScript, `act` makes the event."""
    page.bring_to_front()
    page.evaluate(f"() => bench.arm({event!r}, () => {ready})")
    act()
    took = page.evaluate("() => bench.result")
    page.wait_for_function(QUIET)
    page.wait_for_timeout(50)
    return took


__all__ = ["HERE", "NO_FREEZE", "PLOT", "STAGE", "WORDS", "open_page", "served", "timed"]
