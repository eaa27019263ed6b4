"""The settings: every widget has a key, a fixed range and one home; notes about its value stand below it."""

from collections.abc import Callable

import streamlit as st

from attention.settings import BREAKS, CHOICES, RANGES
from ui import state

MORE = {"temperature": {"step": 0.1, "format": "%.4g"}}


def sidebar(page) -> None:
    """All settings but the sentence and the breaks, in groups."""
    with st.sidebar:
        for name, draw in GROUPS.items():
            with st.container(key=f"group-{name}", gap="xsmall"):
                st.markdown(f"###### {page.t(f'controls.groups.{name}')}")
                draw(page)


def sentence(page) -> None:
    """The sentence field, with what is wrong with the sentence, and the examples."""
    t = page.t
    key = state.seed("text", page.asked["text"])
    st.text_input(
        t("controls.text.label"),
        key=key,
        placeholder=t("controls.text.placeholder"),
        on_change=state.keep,
        args=("text", key),
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="examples"):
        st.caption(t("examples.label"), width="content")
        for place, example in enumerate(t.tree("examples.sentences")):
            st.button(
                example,
                key=f"example-{page.lang}-{place}",
                type="tertiary",
                on_click=state.choose,
                args=("text", example),
            )
    for note in page.at("text"):
        st.warning(t.markdown(f"errors.{note.code}", **note.values))


def breaks(page, idle: dict[str, str]) -> None:
    """The four ways to break the cached path; `idle` says which cannot change anything, and why."""
    t, on = page.t, page.asked["breaks"]
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="breaks"):
        st.markdown(f"**{t('breaks.label')}**", width="content")
        for name in BREAKS:
            key = state.seed(f"break_{name}", name in on)
            st.checkbox(
                t(f"breaks.{name}.label"),
                key=key,
                help=t(f"breaks.{name}.help"),
                on_change=state.keep_break,
                args=(name, key, on),
                disabled=name in idle and name not in on,
            )
    said = {name: (t(f"breaks.{name}.label"), _reason(t, code)) for name, code in idle.items()}
    off = [t("breaks.idle_one", name=label, reason=reason) for name, (label, reason) in said.items() if name not in on]
    if off:
        st.caption(t("breaks.idle", reasons=" · ".join(off)))
    for label, reason in (said[name] for name in on if name in said):
        st.warning(t("notes.idle_break", name=label, reason=reason))
    notes(page, "breaks")


def notes(page, *fields: str) -> None:
    """What had to be changed about these controls, in the reader's language."""
    for note in page.at(*fields):
        st.warning(page.t.markdown(f"notes.{note.code}", **note.values))


def _reason(t, code: str) -> str:
    return t.tree("breaks.reasons").get(code, t("breaks.reasons.other"))


# the groups


def _sizes(page) -> None:
    for pair in (("d_model", "layers"), ("d_k", "d_v"), ("heads", "kv_heads")):
        for column, name in zip(st.columns(2, gap="small", wrap=False), pair, strict=True):
            with column:
                _number(page, name)
        notes(page, *pair)


def _mask(page) -> None:
    _choice(page, "mask")
    if page.asked["mask"] in ("window", "prefix"):
        _number(page, "width")
    notes(page, "mask", "width")


def _positions(page) -> None:
    _choice(page, "positions")
    if page.asked["positions"] == "rotary":
        _choice(page, "pairing", label="visible")
    notes(page, "positions", "pairing")


def _scale(page) -> None:
    t = page.t
    key = state.seed("scale", page.asked["scale"] == "on")
    st.toggle(
        t("controls.scale.label"),
        key=key,
        help=t("controls.scale.help"),
        on_change=state.keep_scale,
        args=("scale", key),
    )
    _number(page, "temperature")
    notes(page, "scale", "temperature")


def _source(page) -> None:
    st.caption(page.t("controls.source.random"))
    _number(page, "seed")
    _choice(page, "split", label="visible")
    notes(page, "source", "seed", "split")


def _prompt(page) -> None:
    if page.settings:
        _slider(page, "prompt", len(page.settings.tokens), page.settings.prompt, label="collapsed")
    st.caption(page.t("controls.prompt.caption" if page.settings else "controls.waiting"))
    notes(page, "prompt")


def _look(page) -> None:
    settings = page.settings
    if settings:
        _slider(page, "layer", settings.layers, page.look.layer)
        _slider(page, "head", settings.heads, page.look.head)
    else:
        st.caption(page.t("controls.waiting"))
    notes(page, "layer", "head", "step")


def _dtype(page) -> None:
    t = page.t
    key = state.seed("dtype", page.asked["dtype"])
    st.selectbox(
        t("controls.dtype.label"),
        CHOICES["dtype"],
        key=key,
        label_visibility="collapsed",
        filter_mode=None,
        on_change=state.keep,
        args=("dtype", key),
    )
    notes(page, "dtype")


GROUPS: dict[str, Callable] = {
    "sizes": _sizes,
    "mask": _mask,
    "positions": _positions,
    "scale": _scale,
    "prompt": _prompt,
    "look": _look,
    "source": _source,
    "dtype": _dtype,
}


# one widget


def _number(page, name: str) -> None:
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


def _choice(page, name: str, label: str = "collapsed") -> None:
    """A row of options. The labels are the language's, so the key has the language in it."""
    t = page.t
    key = state.seed(f"{name}_{page.lang}", page.asked[name])
    st.segmented_control(
        t(f"controls.{name}.label"),
        CHOICES[name],
        format_func=t.tree(f"controls.{name}.options").get,
        key=key,
        required=True,
        label_visibility=label,
        on_change=state.keep,
        args=(name, key),
        wrap=True,
        width="stretch",
        help=t(f"controls.{name}.help"),
    )
    if "captions" in t.tree(f"controls.{name}"):
        st.caption(t(f"controls.{name}.captions.{page.asked[name]}"))


def _slider(page, name: str, count: int, used: int, label: str = "visible") -> None:
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
        on_change=state.keep,
        args=(name, key),
    )
