"""The sentence field, the sentences to try, and what a trained model makes of the words."""

import streamlit as st

from attention import DecodeRun
from attention.lexicon import SLOTS
from ui import examples, state


def field(page) -> None:
    """The field, with what is wrong with the sentence, and the examples."""
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
        for place, example in enumerate(examples.of(t, page.source)):
            st.button(
                example["title"],
                key=f"example-{page.lang}-{place}",
                type="tertiary",
                help=None if example["title"] == example["text"] else t.markdown("examples.is", text=example["text"]),
                on_click=examples.choose,
                args=(example,),
            )
    for note in page.at("text"):
        st.warning(t.markdown(f"errors.{note.code}", **note.values))


def notices(page, run: DecodeRun) -> None:
    """Words that the model does not know, and a text that is unlike all it has learned."""
    t, encoded = page.t, run.settings.encoded
    if encoded is None:
        return
    if run.outside:
        st.info(t("outside.text", nll=f"{run.nll:.1f}", limit=f"{page.model.figures['outside']:.1f}"))
    if encoded.unknown:
        code = "outside.reused" if encoded.reused else "outside.unknown"
        st.caption(t.markdown(code, words=list(encoded.unknown), slots=len(SLOTS)))
    if run.stopped is not None:
        added, most = len(run.tokens) - run.typed, len(page.model.positions)
        st.caption(t(f"generated.{run.stopped}", n=added, most=most))
