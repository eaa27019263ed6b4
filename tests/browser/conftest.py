"""Fixtures of the browser tests: one server and one Chromium for all, a new context for each visit."""

from __future__ import annotations

import os

import pytest

from tests.browser.harness import ROOT, Server, find_chromium, launch
from tests.browser.visit import Visit

REQUIRED = bool(os.environ.get("LAST_ROW_REQUIRE_BROWSER"))


@pytest.fixture(scope="session")
def chromium():
    """The browser; without one the test is skipped, or fails where LAST_ROW_REQUIRE_BROWSER is set."""
    if find_chromium() is None:
        reason = "no Chromium found (chromium, chromium-browser, google-chrome on the path, or CHROMIUM)"
        (pytest.fail if REQUIRED else pytest.skip)(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(chromium):
    server = Server(ROOT / "app.py").wait()
    yield server
    server.stop()


@pytest.fixture
def open_page(chromium, server):
    """open_page(path="/", screen=1280, locale="en", dark=False, **settings) -> Visit, once the stage stands.

    When the test is over no visit may have logged an error, and the server no traceback.
    """
    visits, before = [], len(server.log())

    def visit(path="/", *, screen=1280, locale="en", dark=False, stage=True, **settings) -> Visit:
        context = chromium.new_context(
            viewport={"width": screen, "height": 900}, locale={"en": "en-US", "zh": "zh-CN"}[locale],
            color_scheme="dark" if dark else "light", accept_downloads=True, has_touch=screen < 500,
        )  # fmt: skip
        visits.append(Visit(context, server.base))
        return visits[-1].open(path, stage=stage, **settings)

    yield visit
    for made in visits:
        made.context.close()
    assert [error for made in visits for error in made.record.errors] == []
    assert "Traceback" not in server.log()[before:]
