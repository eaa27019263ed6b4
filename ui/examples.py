"""Sentences to start with, a set for each kind of source; one that is chosen also says where to look."""

import streamlit as st

from ui import models, state, text
from ui.values import SOURCE

SAYS = ("text", "layer", "head", "step", "generate")  # of a run; `title` is what the button says


def of(t: text.Text, source: str) -> list[dict]:
    """The examples of a source: `title`, `text`, and any of the other names of `SAYS`."""
    group = models.group(source)
    if group == "random":
        return [{"title": sentence, "text": sentence} for sentence in t.tree("examples.sentences")]
    return t.tree(f"examples.{group}")


def first(t: text.Text, source: str) -> dict:
    """What a visit begins with, where the link holds no sentence."""
    return {"text": t("examples.default")} if models.group(source) == "random" else of(t, source)[0]


def known(sentence: str) -> bool:
    """Whether a sentence is one of ours, in whatever language and for whatever source."""
    languages = [text.load(lang) for lang in text.LANGUAGES]
    return any(
        sentence == example["text"] for t in languages for source in models.GROUPS for example in of(t, source)
    ) or sentence in [t("examples.default") for t in languages]


def choose(example: dict) -> None:
    """Callback: the example, and what it is best looked at with, where it says so."""
    if set(example) == {"title", "text"}:
        state.choose("text", example["text"])
        return
    state.adopt({name: example[name] for name in SAYS if name in example}, SAYS)


def choose_source(t: text.Text, key: str) -> None:
    """Callback: another source. A sentence of the reader's own stays; an example gives way to one that the new
    source knows, since each was trained on other sentences."""
    before, now = source_of(state.saved()), st.session_state[key]
    state.choose("source", now)
    group, sentence = models.group(now), state.saved().get("text", "")
    if group == models.group(before) or not known(sentence):
        return
    if group == "random":  # any sentence will do; what the example said of heads and new words goes
        state.adopt({"text": sentence}, SAYS)
    else:
        choose(first(t, now))


def source_of(saved: dict) -> str:
    """The source that is asked for, by a link or by the reader."""
    source = saved.get("source", SOURCE)
    return source if source in models.GROUPS else SOURCE
