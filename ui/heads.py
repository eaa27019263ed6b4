"""Take a head away, or make it even: what the model then says, beside what it said before. Two real runs."""

from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from attention import DecodeRun
from attention.tokens import visible
from ui import models, runs, state
from ui.widgets import notes

WAYS = ("kept", "flattened", "zeroed")
MOST = 8
WIDE = 760  # pixels: longer bars are no easier to compare


class Answer(NamedTuple):
    """The likeliest words in one place of two runs, and their probabilities, 0..1."""

    words: list[str]
    before: list[float]
    after: list[float]


def show(page, run: DecodeRun) -> None:
    """Below the stage, for trained models; closed, it costs nothing. What is switched off is said all the same."""
    t, model = page.t, page.model
    if model is None or run.probabilities is None:
        return
    off = changed(run.settings)
    with st.expander(t("heads.title"), key="take_away", icon=":material/content_cut:", on_change="rerun") as box:
        if not box.open:
            return
        st.markdown(t("heads.sentence"))
        _choices(page)
        place = _place(page, run)
        whole = _whole(page, run)
        if whole is not None:
            _figure(page, answer(whole, run, place), bool(off))
        if off:
            _measured(page, run.settings.zeroed)
            st.caption(t("heads.lesson_guided" if model.guided else "heads.lesson_free"))


def said(page, run: DecodeRun) -> None:
    """Which heads are not as they were trained: the numbers of the stage are without them."""
    t = page.t
    parts = [t(f"heads.on_{way}", heads=", ".join(getattr(run.settings, way))) for way in changed(run.settings)]
    if parts:
        st.info(t("heads.joint").join(parts))
    notes(page, "zeroed", "flattened")


def changed(settings) -> list[str]:
    """Which of the ways some head is changed in."""
    return [way for way in WAYS[1:] if getattr(settings, way)]


def answer(before: DecodeRun, after: DecodeRun, place: int) -> Answer:
    """The words that either run finds likeliest in `place` (a token, counted from 0), the first run's order first."""
    one, two = before.probabilities[place], after.probabilities[place]
    ids = one.maximum(two).topk(min(MOST, len(one))).indices.tolist()
    ids.sort(key=lambda word: -one[word].item())
    return Answer([before.vocabulary[word] for word in ids], one[ids].tolist(), two[ids].tolist())


def asked_place(run: DecodeRun) -> int:
    """Where the answer stands that is asked for: at the last word typed, or at the first that was left out."""
    mask = run.settings.model.vocabulary.mask
    return run.ids.index(mask) if mask in run.ids else run.typed - 1


def _whole(page, run: DecodeRun) -> DecodeRun | None:
    """The same run with every head as it was trained; None where its number type cannot hold that one."""
    return runs.attempt(page, replace(run.settings, zeroed=(), flattened=())) if changed(run.settings) else run


def _choices(page) -> None:
    t, model = page.t, page.model
    places = models.heads(model)
    columns = st.columns(min(2, len(places)), gap="medium")
    for number, place in enumerate(places):
        way = next((way for way in WAYS[1:][::-1] if place in page.asked[way]), "kept")
        key = state.seed(f"head_{place}_{page.lang}", way)
        with columns[number % len(columns)]:
            st.segmented_control(
                models.head_label(t, model, place),
                WAYS,
                format_func=t.tree("heads.ways").get,
                key=key,
                required=True,
                on_change=state.keep_head,
                args=(place, key, {way: page.asked[way] for way in WAYS[1:]}),
            )


def _place(page, run: DecodeRun) -> int:
    """The token whose next word, or whose own word, is looked at; counted from 0."""
    t = page.t
    if run.typed == 1:
        return 0
    kept = min(state.saved().get("answer_at", asked_place(run) + 1), run.typed)
    key = state.seed(f"answer_at_{run.typed}_{page.model.kind}", kept)
    st.select_slider(
        t("heads.after" if page.model.causal else "heads.in_place"),
        range(1, run.typed + 1),
        format_func=lambda at: f"{at} {visible(run.tokens[at - 1])}",
        key=key,
        on_change=state.keep,
        args=("answer_at", key),
    )
    return kept - 1


def _figure(page, found: Answer, both: bool) -> None:
    from ui import bars  # plotly takes a second to import, and most visits never open this

    t = page.t
    series = [bars.Series(t("heads.before"), found.before)]
    series += [bars.Series(t("heads.now"), found.after)] if both else []
    theme = "dark" if st.context.theme.type == "dark" else "light"
    figure = bars.across([models.word(t, word) for word in found.words], series, t("heads.probability"), theme)
    with st.container(width=WIDE):
        st.plotly_chart(figure, key="heads_figure", config={"displayModeBar": False})
    if not both:
        st.caption(t("heads.hint"))


def _measured(page, zeroed: tuple[str, ...]) -> None:
    """What the evaluation found without one of the heads, on sentences kept from training."""
    t = page.t
    for place in zeroed if len(zeroed) == 1 else ():
        shares = models.without(page.model, place, page.lang)
        said = [t("heads.share", what=t(f"heads.asked.{name}"), share=f"{share:.2f}") for name, share in shares.items()]
        if said:
            st.caption(t("heads.measured", head=place, shares=" · ".join(said)))
