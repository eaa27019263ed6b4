"""The matrix inspector: every matrix of one layer and head at full precision. Closed, it costs nothing."""

import math

import streamlit as st
from torch import float64

from attention import DecodeRun, LayerRun
from attention.breaks import idle_breaks
from ui import exports, matrices, runs, state

FIRST = "weights"
CACHED = ("k", "v", "weights", "out")


@st.fragment
def show(page) -> None:
    """A fragment: opening it or choosing a matrix leaves the stage alone. It looks its run up and does not hold it:
    what a fragment is given stays in the session."""
    t = page.t
    with st.expander(
        t("inspector.title"), key="inspector", icon=":material/grid_on:", on_change="rerun"
    ) as box:
        if not box.open:
            return
        run = runs.get(page.settings)
        found = matrices.matrix(run, page.look.layer, page.look.head, _chosen(page, run))
        _caption(page, run, found)
        _figure(page, found)
        _under(page, run, found)
        exports.row(page, run, found)


def _chosen(page, run: DecodeRun) -> str:
    t, there = page.t, matrices.there(run)
    kept = state.saved().get("matrix", FIRST)
    key = state.seed(f"matrix_{page.lang}", kept if kept in there else FIRST)
    st.segmented_control(
        t("inspector.which"),
        there,
        format_func=t.tree("inspector.matrices").get,
        key=key,
        required=True,
        on_change=state.keep,
        args=("matrix", key),
        wrap=True,
    )
    return st.session_state[key]


def _caption(page, run: DecodeRun, found: matrices.Matrix) -> None:
    t, look = page.t, page.look
    where = t("inspector.where", layer=look.layer, head=look.head)
    size = t("inspector.size", rows=len(found.rows), columns=len(found.columns))
    st.markdown(f"**{t(f'inspector.matrices.{found.name}')}** · {size} · {where}")
    caption = f"{found.name}_normed" if found.name == "x" and run.layers[0].norm is not None else found.name
    sentences = [t(f"inspector.captions.{caption}")]
    s = run.settings
    if s.kv_heads < s.heads and found.name in ("k", "v", "w_k", "w_v"):
        kv = matrices.head_of(run, look.head).kv + 1
        sentences.append(t("inspector.shared", head=look.head, kv=kv))
    st.caption(page.t("inspector.joint").join(sentences))


def _figure(page, found: matrices.Matrix) -> None:
    from ui import figures  # plotly takes a second to import, and most visits never open this

    t = page.t
    square = (found.kind.rows, found.kind.columns) == ("tokens", "tokens")
    if square:
        rows, columns = t("inspector.rows_ask"), t("inspector.columns_answer")
    else:
        rows, columns = t(f"inspector.{found.kind.rows}"), t(f"inspector.{found.kind.columns}")
    shape = f"{found.kind.rows}/{found.kind.columns}/{len(found.rows)}×{len(found.columns)}"
    figure = figures.heatmap(
        figures.Cells(found.values, found.hidden, square),
        figures.Axis(rows, found.rows),
        figures.Axis(columns, found.columns),
        found.scale,
        figures.Words(t("inspector.value"), t("inspector.masked"), "" if found.name == "weights" else "−∞"),
        theme="dark" if st.context.theme.type == "dark" else "light",
        keep=shape,
    )
    st.plotly_chart(figure, width="content", key="matrix_figure", config={"displaylogo": False})


def _under(page, run: DecodeRun, found: matrices.Matrix) -> None:
    """What the colours mean, what is hidden, and whether the cached run agrees."""
    t = page.t
    kind = found.kind.scale if found.kind.scale in ("weights", "scores") else "values"
    said = [t(f"inspector.range_{kind}", limit=f"{found.scale.high:g}")]
    if found.hidden is not None and found.hidden.any():
        said.append(t("inspector.masked_legend"))
        blind = int(found.hidden.all(axis=1).sum())
        if blind:
            said.append(t("inspector.row_without_key", n=blind))
    st.caption(t("inspector.joint").join(said))
    values = {"delta": f"{apart(run):.1e}", "dtype": run.settings.dtype}
    if agree(run):
        st.caption(t("inspector.same", **values))
    else:
        st.warning(t("inspector.differ", **values))


def agree(run: DecodeRun) -> bool:
    """Whether nothing but rounding can lie between the full pass and the cached run: each row could read the
    same keys in both, and no break is on that changes anything."""
    saw_the_same = all(bool((one.visible == one.cached_visible).all()) for one in run.layers)
    return saw_the_same and not set(run.settings.breaks) - set(idle_breaks(run.settings))


def apart(run: DecodeRun) -> float:
    """The largest difference between the full pass and the cached run: k, v, weights, out of every layer."""
    return max((_apart(one, name) for one in run.layers for name in CACHED), default=math.nan)


def _apart(one: LayerRun, name: str) -> float:
    difference = getattr(one, name).to(float64) - getattr(one, f"cached_{name}").to(float64)
    return difference.abs().max().item()
