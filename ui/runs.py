"""Runs, each worked out once for all readers: a run is frozen, and the same settings give the same run."""

import gc

import streamlit as st

from attention import DecodeRun, Settings, SettingsError, run
from attention.settings import STAGE_TOKENS

KEPT_SHORT, KEPT_LONG = 48, 2  # a run of 512 tokens holds some hundred MB, one of 64 a few


def get(settings: Settings) -> DecodeRun:
    """The run of these settings, out of the store where it is kept."""
    return (_short if len(settings.tokens) <= STAGE_TOKENS else _long)(settings)


def attempt(page, settings: Settings | None) -> DecodeRun | None:
    """The run of some settings; None where there is none, and then the page has said why."""
    t = page.t
    if settings is None:
        return None
    n = len(settings.tokens)
    try:
        if n <= STAGE_TOKENS:
            return _short(settings)
        with st.spinner(t("long.computing", n=n)):
            return _long(settings)
    except SettingsError as error:  # what only the numbers show: an overflow in a coarse type
        known = error.code == "overflow"
        st.warning(t("notes.overflow", **error.values) if known else t("errors.other"))
        return None


def _hash(settings: Settings) -> str:
    return repr(settings)


@st.cache_resource(max_entries=KEPT_SHORT, show_spinner=False, hash_funcs={Settings: _hash})
def _short(settings: Settings) -> DecodeRun:
    return run(settings)


@st.cache_resource(max_entries=KEPT_LONG, show_spinner=False, hash_funcs={Settings: _hash})
def _long(settings: Settings) -> DecodeRun:
    return run(settings)


@st.cache_resource(show_spinner=False)
def settle() -> None:
    """Once per server, after the heavy imports: the collection after every script run then skips them."""
    gc.collect()
    gc.freeze()
