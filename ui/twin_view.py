"""What the twins page shows: two fields, a map of differences for each model, and what one row reads."""

import streamlit as st

from attention import SettingsError
from ui import bars, figures, models, ranges, runs, state, twins

QUIET = {"displayModeBar": False}
SOURCES = ("trained", "unguided")


def sentences(page) -> dict[str, str]:
    """The two fields, and pairs to try."""
    t = page.t
    pairs = t.tree("twins.pairs")
    kept = state.pair(pairs[0]["sentences"])
    for column, (name, sentence) in zip(st.columns(2, gap="medium"), kept.items(), strict=True):
        key = state.seed(f"twin_{name}", sentence)
        column.text_input(t(f"twins.{name}"), key=key, on_change=state.keep, args=(name, key))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="examples"):
        st.caption(t("twins.label"), width="content")
        for place, pair in enumerate(pairs):
            chosen = dict(zip(state.PAIR, pair["sentences"], strict=True))
            key = f"pair-{page.lang}-{place}"
            st.button(pair["title"], key=key, type="tertiary", on_click=state.choose_all, args=(chosen,))
    return kept


def decoder(page) -> str:
    """Which of the two decoders: the one of the home page, if it is one of them."""
    t = page.t
    usual = page.asked["source"] if page.asked["source"] in SOURCES else SOURCES[0]
    key = state.seed(f"twin_source_{page.lang}", state.saved().get("twin_source", usual))
    st.segmented_control(
        t("twins.model"),
        SOURCES,
        format_func=t.tree("controls.source.options").get,
        key=key,
        required=True,
        width="content",
        on_change=state.keep,
        args=("twin_source", key),
    )
    return st.session_state[key]


def head(page, found: twins.Twins) -> int:
    """The head of every layer that is looked at, from 1, named by what the last layer's is for."""
    t, model = page.t, found.one.settings.model
    layer, count = len(found.one.layers), found.one.settings.heads
    kept = min(state.saved().get("twin_head", 1), count)
    if count == 1:
        return kept
    key = state.seed(f"twin_head_{count}_{page.lang}", kept)
    st.segmented_control(
        t("twins.head", layer=layer),
        range(1, count + 1),
        format_func=lambda number: t("twins.head_is", head=number, job=models.job(t, model, layer, number) or "–"),
        key=key,
        required=True,
        width="content",
        wrap=True,
        on_change=state.keep,
        args=("twin_head", key),
    )
    return st.session_state[key]


def made(page, pair: dict[str, str], source: str) -> twins.Twins | None:
    """Both runs of one model; None where they cannot be laid on one another, and then it says why."""
    t = page.t
    try:
        settings = [twins.settings_of(pair[name], source) for name in state.PAIR]
    except SettingsError as error:
        st.warning(t.markdown(f"errors.{error.code}", **error.values))
        return None
    one, other = (len(each.tokens) for each in settings)
    if one != other:
        st.warning(t("twins.lengths", one=one, other=other))
        return None
    if settings[0].source == "random":
        st.warning(t("twins.random", model=t(f"controls.source.options.{source}")))
    found = twins.pair(*map(runs.get, settings))
    if not found.changed:
        st.warning(t("twins.same" if found.one.tokens == found.other.tokens else "twins.same_slots"))
        return None
    return found


def apart(page, found: twins.Twins, head: int, kind: str) -> None:
    """Where the two runs are apart, stage by stage."""
    t = page.t
    values, blind = twins.differences(found, head), found.blind
    columns = [t("twins.stage", layer=layer, stage=t(f"twins.stages.{name}")) for layer, name in twins.stages(found)]
    columns += [t(f"twins.word_{kind}")] if values.shape[1] > len(columns) else []
    figure = figures.heatmap(
        figures.Cells(values, (values == 0) & blind[:, None], False),
        figures.Axis(t("twins.rows"), found.labels),
        figures.Axis(t("twins.columns"), columns),
        ranges.WEIGHTS,
        figures.Words(t("twins.difference"), t("twins.cannot"), "="),
        theme=_theme(),
    )
    figure.update_layout(width=None, height=150 + 22 * len(found.labels))
    figure.update_xaxes(tickangle=-90)
    st.markdown(f"##### {t(f'twins.{kind}_title')}")
    st.plotly_chart(figure, key=f"apart_{kind}", config=QUIET)
    said = [t.markdown(f"twins.{kind}_text", word=_word(found.one, found))]
    if blind.any():
        most = float(values[blind].max())
        said.append(t("twins.measured", most=f"{most:.1e}") if most else t("twins.measured_zero"))
    st.caption(t("inspector.joint").join(said))


def row(page, found: twins.Twins, usual: int) -> int:
    """The row that is read, from 0."""
    t, n = page.t, len(found.labels)
    if n == 1:
        return 0
    kept = min(state.saved().get("twin_row", usual + 1), n)
    key = state.seed(f"twin_row_{n}", kept)
    st.select_slider(
        t("twins.row"),
        range(1, n + 1),
        format_func=lambda at: found.labels[at - 1],
        key=key,
        on_change=state.keep,
        args=("twin_row", key),
    )
    return st.session_state[key] - 1


def reads(page, found: twins.Twins, head: int, row: int, kind: str) -> None:
    """What one row reads in both sentences, in the last layer."""
    t, layer = page.t, len(found.one.layers)
    head = min(head, found.one.settings.heads)
    series = [
        bars.Series(t("twins.with", word=_word(run, found)), twins.reads(run, layer, head, row))
        for run in (found.one, found.other)
    ]
    st.markdown(f"##### {t(f'twins.reads_{kind}', layer=layer, head=head)}")
    figure = bars.upright(found.labels, series, t("twins.weight"), _theme())
    st.plotly_chart(figure, key=f"reads_{kind}", config=QUIET)


def lesson(page, found: twins.Twins, row: int) -> None:
    """What the two pictures of a row say."""
    first = found.changed[0]
    values = {"row": found.one.tokens[row], "word": _word(found.one, found)}
    st.markdown(page.t.markdown("twins.lesson_before" if row < first else "twins.lesson_after", **values))


def _word(run, found: twins.Twins) -> str:
    return run.tokens[found.changed[0]]


def _theme() -> str:
    return "dark" if st.context.theme.type == "dark" else "light"
