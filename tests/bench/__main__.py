"""`python -m tests.bench [row ...]`: measures, prints one table, writes results.json beside this file.

Without names every row is measured. Names: run attend growth step messages control bytes start memory.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

from tests.bench import compute, in_page, visits
from tests.bench.measure import SAMPLES, as_json, table
from tests.browser.harness import find_chromium, launch

COMPUTE = {"run": compute.whole_run, "attend": compute.one_row, "growth": compute.growth}
PAGES = {"step": in_page.step, "messages": in_page.messages, "control": in_page.control,
         "bytes": visits.sent_bytes, "start": visits.start, "memory": visits.memory}  # fmt: skip
RESULTS = Path(__file__).with_name("results.json")


def main(names: list[str]) -> str | None:
    unknown = [name for name in names if name not in {**COMPUTE, **PAGES}]
    if unknown:
        return f"no such row: {', '.join(unknown)}; there are {', '.join({**COMPUTE, **PAGES})}"
    wanted = names or [*COMPUTE, *PAGES]
    rows = [row for name in wanted if name in COMPUTE for row in timed(name, COMPUTE[name])]
    in_browser = [name for name in wanted if name in PAGES]
    if in_browser and find_chromium() is None:
        print("no Chromium found, rows left out:", ", ".join(in_browser))
    elif in_browser:
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            for name in in_browser:
                browser = launch(playwright)
                rows += timed(name, PAGES[name], browser)
                browser.close()
    print(table(rows))
    RESULTS.write_text(json.dumps({"machine": machine(), "rows": as_json(rows)}, indent=2, ensure_ascii=False) + "\n")
    return None


def timed(name: str, measure, *arguments) -> list:
    start = time.monotonic()
    rows = measure(*arguments)
    figures = ", ".join(f"{row.figure:.3g} {row.unit}".strip() for row in rows)
    print(f"{name}: {figures} ({time.monotonic() - start:.0f} s)", file=sys.stderr, flush=True)
    return rows


def machine() -> dict:
    packages = {name: version(name) for name in ("torch", "streamlit", "plotly", "numpy")}
    return {
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "samples": SAMPLES,
        **packages,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
