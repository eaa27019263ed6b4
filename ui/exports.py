"""Files and code that a reader takes along; nothing is worked out before it is asked for."""

import numpy as np
import streamlit as st

from attention import DecodeRun, export, trained
from ui import matrices, runs, torch_script

DIGITS = {"float64": "%.17g"}


def row(page, run: DecodeRun, found: matrices.Matrix) -> None:
    """The ways out of the inspector."""
    t, look = page.t, page.look
    name = f"{found.name}-layer{look.layer}-head{look.head}.csv"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="exports"):
        st.download_button(
            t("exports.csv"),
            lambda: csv(found, run.settings.dtype, t("exports.masked")),
            name,
            "text/csv",
            key="csv",
            icon=":material/table:",
            on_click="ignore",
        )
        run_button(page, "npz")
        shown = st.toggle(t("exports.torch"), key="torch")
    if shown:
        file = None if page.model is None else trained.path_of(trained.NAMES[page.source]).name
        st.caption(t("exports.torch_sentence") if file is None else t("exports.torch_trained", file=file))
        st.code(torch_script.of_run(run, look.layer, look.head), language="python", height=420)


def run_button(page, key: str) -> None:
    """The whole run, the same file as the command line writes."""
    settings = page.settings
    st.download_button(
        page.t("exports.run"),
        lambda: export.as_bytes(runs.get(settings)),
        "run.npz",
        "application/octet-stream",
        key=key,
        icon=":material/download:",
        on_click="ignore",
    )


def csv(found: matrices.Matrix, dtype: str, masked: str) -> bytes:
    """A matrix with its labels on both sides. Hidden cells hold the word `masked`: no NaN, no infinity.

    UTF-8 with a byte order mark: spreadsheets then read Chinese. Each label starts with its number, so none
    can pass for a formula.
    """
    import pandas as pd

    digits = DIGITS.get(dtype, "%.9g")
    words = np.char.mod(digits, found.values).astype(object)
    if found.hidden is not None:
        words[found.hidden] = masked
    frame = pd.DataFrame(words, index=found.rows, columns=found.columns)
    return frame.to_csv().encode("utf-8-sig", "backslashreplace")
