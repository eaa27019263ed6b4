"""What one reader has chosen: a plain dict in the session, seeded from the link, the truth for every widget.

Streamlit drops a widget's value when its page is left; the dict stays. So a widget is seeded from the dict
before it is drawn, and a callback writes what the reader changes back before the script runs again.
"""

from collections.abc import Callable

import streamlit as st

from attention.settings import BREAKS
from ui import text
from ui.values import NAMES

SAVED = "saved"
PAIR = ("one", "other")  # the two sentences of the twins page
DEPENDENT = {
    **dict.fromkeys(("text", "split", "source"), ("step", "answer_at")),
    **dict.fromkeys(PAIR, ("twin_row",)),
}  # what goes with another value
_MISSING = object()


def saved() -> dict:
    """The reader's own values, by the names of the link; taken from the link on the session's first run.

    A missing name stands at its default. Values out of a link stay text until their control is touched.
    """
    if SAVED not in st.session_state:
        link = st.query_params
        st.session_state[SAVED] = {name: link[name] for name in (*NAMES, *PAIR, "lang") if name in link}
    return st.session_state[SAVED]


def pair(example: list[str]) -> dict[str, str]:
    """The two sentences of the twins page; those of `example` where the reader has none."""
    for name, sentence in zip(PAIR, example, strict=True):
        saved().setdefault(name, sentence)
    return {name: saved()[name] for name in PAIR}


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


def values(first: Callable[[], dict]) -> dict:
    """All of `saved()` that settings are made of; where there is no sentence, `first()` is the one to begin with.

    From then on it stays: another language changes words, never numbers.
    """
    if "text" not in saved():
        saved().update({name: value for name, value in first().items() if name in NAMES and name not in saved()})
    return {name: saved()[name] for name in NAMES if name in saved()}


def keep(name: str, key: str) -> None:
    """Callback: the widget `key` was changed; its value is now the reader's own for `name`."""
    choose(name, st.session_state[key])


def keep_scale(name: str, key: str) -> None:
    """Callback of the toggle that stands for `scale`."""
    saved()[name] = "on" if st.session_state[key] else "off"


def keep_rank(name: str, key: str) -> None:
    """Callback of the slider whose key ends in its last value: there, nothing is taken away."""
    value = st.session_state[key]
    choose(name, None if key == f"{name}_{value}" else value)


def keep_place(key: str) -> None:
    """Callback of the list of heads: layer.head, counted from 1."""
    saved()["layer"], saved()["head"] = map(int, st.session_state[key].split("."))


def keep_head(place: str, key: str, asked: dict[str, tuple[str, ...]]) -> None:
    """Callback: what is done to one head, `kept` or a name of `asked`, which held these heads when it was drawn."""
    for way, heads in asked.items():
        others = tuple(head for head in heads if head != place)
        saved()[way] = tuple(sorted((*others, place))) if st.session_state[key] == way else others


def keep_break(name: str, key: str, on: tuple[str, ...]) -> None:
    """Callback of one of the break checkboxes; `on` are those that were on when it was drawn."""
    wanted = {*on, name} if st.session_state[key] else {*on} - {name}
    saved()["breaks"] = tuple(known for known in BREAKS if known in wanted)


def choose(name: str, value) -> None:
    """Callback: `value` is now the reader's own for `name`, the default if it is None.

    The step of the link goes with its tokens: from then on the stage alone knows where it stands.
    """
    saved()[name] = value
    if value is None:
        del saved()[name]
    for dependent in DEPENDENT.get(name, ()):
        saved().pop(dependent, None)


def adopt(chosen: dict, names: tuple[str, ...]) -> None:
    """Callback: `chosen` in place of all that stood for `names`; a new stage, which starts at its step."""
    for name in (*names, "prompt", "step"):
        saved().pop(name, None)
    saved().update(chosen)
    st.session_state["resets"] = st.session_state.get("resets", 0) + 1


def choose_all(chosen: dict) -> None:
    """Callback: several values at once."""
    saved().update(chosen)
    saved().pop("twin_row", None)


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
