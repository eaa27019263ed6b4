"""The kinds of control there are: each has a key, a fixed range and one home; notes about it stand below it."""

from collections.abc import Callable, Iterable

import streamlit as st

from attention.settings import CHOICES, RANGES
from ui import state

MORE = {name: {"step": 0.1, "format": "%.4g"} for name in ("temperature", "sampling_temperature")}


def notes(page, *fields: str) -> None:
    """What had to be changed about these controls, in the reader's language."""
    t = page.t
    for note in page.at(*fields):
        if note.code == "no_effect":  # names settings, as their controls call them
            labels = [t.tree("controls").get(name, {}).get("label", name) for name in note.values["names"]]
            st.warning(t("notes.no_effect", names=" · ".join(labels)))
        else:
            st.warning(t.markdown(f"notes.{note.code}", **note.values))


def number(page, name: str) -> None:
    low, high = RANGES[name]
    key = state.seed(name, page.asked[name])
    st.number_input(
        page.t(f"controls.{name}.label"),
        low,
        high,
        key=key,
        help=page.t(f"controls.{name}.help"),
        on_change=state.keep,
        args=(name, key),
        **MORE.get(name, {"step": 1}),
    )


def choice(
    page,
    name: str,
    label: str = "collapsed",
    offered: Iterable[str] = (),
    value: str | None = None,
    kept: Callable | None = None,
) -> None:
    """A row of options, all or those `offered`. The labels are the language's, so the key has the language in it.

    `kept`, called with name and key, takes the place of keeping the value.
    """
    t, offered = page.t, tuple(offered) or CHOICES[name]
    value = value or page.asked[name]
    few = "" if len(offered) == len(CHOICES[name]) else f"_{len(offered)}"
    key = state.seed(f"{name}{few}_{page.lang}", value)
    st.segmented_control(
        t(f"controls.{name}.label"),
        offered,
        format_func=t.tree(f"controls.{name}.options").get,
        key=key,
        required=True,
        label_visibility=label,
        on_change=kept or state.keep,
        args=(name, key),
        wrap=True,
        width="stretch",
        help=t(f"controls.{name}.help"),
    )
    if "captions" in t.tree(f"controls.{name}"):
        st.caption(t(f"controls.{name}.captions.{value}"))


def slider(page, name: str, count: int, used: int, label: str = "visible", kept: Callable | None = None) -> None:
    """1 to count. The key has the count in it: no live slider has its range changed under it."""
    t = page.t
    if count == 1:
        st.caption(t(f"controls.{name}.one"))
        return
    key = state.seed(f"{name}_{count}", used)
    st.slider(
        t(f"controls.{name}.label"),
        1,
        count,
        key=key,
        label_visibility=label,
        on_change=kept or state.keep,
        args=(name, key),
    )
