"""The stage: one Streamlit component that is sent a scene and steps through it in the browser.

The script is the files 01-…js to 16-…js of this folder joined in order; only the last knows that Streamlit is there,
so the same script can serve a page of its own.
"""

import json
from functools import cache
from pathlib import Path

import streamlit as st

from attention import DecodeRun
from ui.stage.scene import scene

_FOLDER = Path(__file__).parent


@cache
def script() -> str:
    """The stage's JavaScript, an ES module: the parts in the order of their names."""
    return "\n".join(part.read_text(encoding="utf-8") for part in sorted(_FOLDER.glob("[0-9]*.js")))


@cache
def style() -> str:
    """The stage's style sheet; every rule stands under `.lr-stage` or a class that begins with `lr-`."""
    return (_FOLDER / "stage.css").read_text(encoding="utf-8")


def mount(
    run: DecodeRun,
    layer: int,
    head: int,
    lang: str,
    link: dict[str, str],
    step: int | None = None,
    key: str = "stage",
) -> None:
    """Put the stage on the page.

    layer, head and step count from 1; step None starts at the prefill. `link` is what the address bar is to say: the
    script writes it, with the step, without a message to the server. Registered here and not at import, because each
    AppTest has a registry of its own.
    """
    data = {"scene": scene(run, layer - 1, head - 1, lang), "link": link, "step": step, "key": key}
    json.dumps(data, allow_nan=False)  # a NaN or a numpy scalar would replace the stage by an error box
    component = st.components.v2.component("last_row_stage", css=style(), js=script(), isolate_styles=False)
    component(key=key, data=data)
