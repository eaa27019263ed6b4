"""The settings in groups: which there are depends on the source of the weights."""

from collections.abc import Callable

import streamlit as st

from attention.settings import BREAKS, CHOICES
from ui import examples, models, state
from ui.widgets import choice, notes, number, slider


def sidebar(page) -> None:
    """All settings but the sentence and the breaks."""
    with st.sidebar:
        for name in GROUPS[_kind(page)]:
            with st.container(key=f"group-{name}", gap="xsmall"):
                st.markdown(f"###### {page.t(f'controls.groups.{name}')}")
                DRAW[name](page)


def _kind(page) -> str:
    return "random" if page.model is None else page.model.kind


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
    if _kind(page) == "encoder":
        st.caption(t("breaks.encoder"))
    elif off:
        st.caption(t("breaks.idle", reasons=" · ".join(off)))
    for label, reason in (said[name] for name in on if name in said):
        st.warning(t("notes.idle_break", name=label, reason=reason))
    notes(page, "breaks")


def _reason(t, code: str) -> str:
    return t.tree("breaks.reasons").get(code, t("breaks.reasons.other"))


# the groups


def _source(page) -> None:
    choice(page, "source", offered=models.GROUPS, kept=lambda _name, key: examples.choose_source(page.t, key))
    if page.model is not None:
        sizes = {name: getattr(page.settings or page.model, name) for name in ("d_model", "d_k", "d_v", "heads")}
        layers = len(page.model.blocks)
        st.caption(page.t("controls.source.sizes", layers=layers, **sizes))
    elsewhere = [field for group, fields in FIELDS.items() if group not in GROUPS[_kind(page)] for field in fields]
    notes(page, "source", *elsewhere)


def _weights(page) -> None:
    number(page, "seed")
    choice(page, "split", label="visible")
    notes(page, "seed", "split")


def _sizes(page) -> None:
    for pair in (("d_model", "layers"), ("d_k", "d_v"), ("heads", "kv_heads")):
        for column, name in zip(st.columns(2, gap="small", wrap=False), pair, strict=True):
            with column:
                number(page, name)
        notes(page, *pair)


def _rank(page) -> None:
    """1 to d_k in place of d_k, which a trained model cannot change, and what each rank was measured to be worth."""
    t, model = page.t, page.model
    used = model.d_k if page.settings is None or page.settings.rank is None else page.settings.rank
    slider(page, "rank", model.d_k, used, kept=state.keep_rank)
    shares = models.rank_accuracies(model, page.lang)
    if shares:
        said = [t("controls.rank.share", rank=rank, share=f"{share:.2f}") for rank, share in sorted(shares.items())]
        st.caption(t("controls.rank.measured", shares=" · ".join(said)))
    st.caption(t("controls.rank.caption"))
    notes(page, "rank")


def _generation(page) -> None:
    number(page, "generate")
    choice(page, "sampling", label="visible")
    if page.asked["sampling"] == "sample":
        for column, name in zip(st.columns(2, gap="small", wrap=False), ("sampling_temperature", "top_k"), strict=True):
            with column:
                number(page, name)
        number(page, "sampling_seed")
    notes(page, *FIELDS["generation"])


def _mask(page) -> None:
    encoder = _kind(page) == "encoder"
    offered = [name for name in CHOICES["mask"] if not (encoder and name == "causal")]
    mask = "bidirectional" if encoder and page.asked["mask"] == "causal" else page.asked["mask"]
    choice(page, "mask", offered=offered, value=mask)
    if mask in ("window", "prefix"):
        number(page, "width")
    notes(page, "mask", "width")


def _positions(page) -> None:
    if page.model is not None:
        st.caption(page.t("controls.positions.learned", most=len(page.model.positions)))
    else:
        choice(page, "positions")
        if page.asked["positions"] == "rotary":
            choice(page, "pairing", label="visible")
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
    number(page, "temperature")
    notes(page, "scale", "temperature")


def _prompt(page) -> None:
    if page.settings:
        slider(page, "prompt", len(page.settings.tokens), page.settings.prompt, label="collapsed")
    st.caption(page.t("controls.prompt.caption" if page.settings else "controls.waiting"))
    notes(page, "prompt")


def _look(page) -> None:
    settings = page.settings
    if not settings:
        st.caption(page.t("controls.waiting"))
    elif page.model is not None:
        _head_by_job(page)
    else:
        slider(page, "layer", settings.layers, page.look.layer)
        slider(page, "head", settings.heads, page.look.head)
    notes(page, "layer", "head", "step")


def _head_by_job(page) -> None:
    """A trained model's few heads in one list, each with what it was guided to."""
    t, model = page.t, page.model
    places = models.heads(model)
    if len(places) == 1:
        st.caption(t("heads.only"))
        return
    key = state.seed(f"place_{page.settings.source}_{page.lang}", f"{page.look.layer}.{page.look.head}")
    st.radio(
        t("controls.groups.look"),
        places,
        format_func=lambda place: models.head_place(t, place),
        captions=[models.head_job(t, model, place) for place in places],
        key=key,
        label_visibility="collapsed",
        on_change=state.keep_place,
        args=(key,),
    )
    st.caption(t("heads.guided_caption" if model.guided else "heads.free_caption"))


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


DRAW: dict[str, Callable] = {
    "source": _source,
    "weights": _weights,
    "sizes": _sizes,
    "rank": _rank,
    "generation": _generation,
    "mask": _mask,
    "positions": _positions,
    "scale": _scale,
    "prompt": _prompt,
    "look": _look,
    "dtype": _dtype,
}
GROUPS = {
    "random": ("source", "sizes", "mask", "positions", "scale", "prompt", "look", "weights", "dtype"),
    "decoder": ("source", "look", "generation", "prompt", "rank", "scale", "mask", "positions", "dtype"),
    "encoder": ("source", "look", "rank", "scale", "mask", "positions", "dtype"),
}
FIELDS = {  # whose notes stand at the source where their group is not drawn
    "sizes": ("d_model", "layers", "d_k", "d_v", "heads", "kv_heads"),
    "weights": ("seed", "split"),
    "rank": ("rank",),
    "generation": ("generate", "sampling", "sampling_temperature", "top_k", "sampling_seed"),
    "prompt": ("prompt",),
}
