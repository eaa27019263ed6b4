"""What one reader has chosen: a plain dict in the session, seeded from the link, the truth for every widget.

Streamlit drops a widget's value when its page is left; the dict stays. So a widget is seeded from the dict
before it is drawn, and a callback writes what the reader changes back before the script runs again.
"""

import streamlit as st

from ui import repair, text

SAVED = "saved"
_MISSING = object()


def saved() -> dict:
    """The reader's own values, by the names of the link; taken from the link on the session's first run.

    A missing name stands at its default. Values out of a link stay text until their control is touched.
    """
    if SAVED not in st.session_state:
        link = st.query_params
        st.session_state[SAVED] = {name: link[name] for name in (*repair.NAMES, "lang") if name in link}
    return st.session_state[SAVED]


def language() -> str:
    """The reader's choice, else the link's, else that of the browser, else English."""
    chosen = saved().get("lang")
    if chosen in text.LANGUAGES:
        return chosen
    return "zh" if str(st.context.locale or "").lower().startswith("zh") else "en"


def chosen_language() -> str | None:
    """The language that belongs into the link: one that was chosen or came in the link, not a guess."""
    chosen = saved().get("lang")
    return chosen if chosen in text.LANGUAGES else None


def values(example: str) -> dict:
    """All of `saved()` that settings are made of; `example` becomes the sentence where there is none.

    From then on it stays: another language changes words, never numbers.
    """
    saved().setdefault("text", example)
    return {name: value for name, value in saved().items() if name != "lang"}


def keep(name: str, key: str) -> None:
    """Callback: the widget `key` was changed; its value is now the reader's own for `name`."""
    choose(name, st.session_state[key])


def keep_scale(name: str, key: str) -> None:
    """Callback of the toggle that stands for `scale`."""
    saved()[name] = "on" if st.session_state[key] else "off"


def keep_break(name: str, key: str, on: tuple[str, ...]) -> None:
    """Callback of one of the break checkboxes; `on` are those that were on when it was drawn."""
    wanted = {*on, name} if st.session_state[key] else {*on} - {name}
    saved()["breaks"] = tuple(known for known in repair.BREAKS if known in wanted)


def choose(name: str, value) -> None:
    """Callback: `value` is now the reader's own for `name`, the default if it is None.

    The step of the link goes with its tokens: from then on the stage alone knows where it stands.
    """
    saved()[name] = value
    if value is None:
        del saved()[name]
    if name in ("text", "split"):
        saved().pop("step", None)


def reset() -> None:
    """Callback: everything back to its default, the step too; the language stays."""
    lang = chosen_language()
    st.session_state[SAVED] = {"lang": lang} if lang else {}
    st.session_state["resets"] = st.session_state.get("resets", 0) + 1


def stage_key() -> str:
    """A new stage after a reset: one that is kept also keeps the step it stands at."""
    return f"stage-{st.session_state.get('resets', 0)}"


def seed(key: str, value) -> str:
    """Gives a widget its value before it is drawn. Only a value that differs is written: an echo of what the
    reader is dragging would pull the handle back."""
    if st.session_state.get(key, _MISSING) != value:
        st.session_state[key] = value
    return key
