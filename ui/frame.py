"""What every page opens with: title, other pages, language, share, reset; the reader's settings."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from attention import Settings
from attention.trained import TrainedModel
from ui import address, examples, exports, models, repair, runs, state, text, values

PAGES = {"decode": "app.py", "twins": "pages/twins.py", "about": "pages/about.py"}
LONGEST_LINK = 2000
STYLE = Path(__file__).parent / "frame.css"
ICON = text.ASSETS / "icon.svg"


@dataclass(frozen=True)
class Page:
    """One run of one page: its words, what the reader asks for, what runs instead where that cannot."""

    name: str
    lang: str
    t: text.Text
    asked: dict
    settings: Settings | None
    look: repair.Look
    notes: tuple[values.Note, ...]
    link: dict[str, str]

    @property
    def source(self) -> str:
        """Where the weights come from: what the reader asks for, or what takes its place."""
        return self.settings.source if self.settings else self.asked["source"]

    @property
    def model(self) -> TrainedModel | None:
        """The trained model, None of random weights."""
        return models.usable(self.source)

    def at(self, *fields: str) -> tuple[values.Note, ...]:
        """The notes that belong to these controls."""
        return tuple(note for note in self.notes if note.field in fields)


def open(name: str) -> Page:
    """Draws the frame of a page and returns what the page goes on with."""
    lang = state.language()
    t = text.load(lang)
    st.set_page_config(
        page_title=f"{t(f'nav.{name}')} · {t('frame.title')}",
        page_icon=str(ICON),
        layout="wide",
        initial_sidebar_state=340,
    )
    runs.settle()
    st.html(STYLE)
    wanted = state.values(lambda: examples.first(t, examples.source_of(state.saved())))
    settings, look, notes, asked = repair.repair(wanted)
    pair = state.pair(t.tree("twins.pairs")[0]["sentences"]) if name == "twins" else {}
    link = repair.link({**asked, "step": None}, state.chosen_language()) | pair
    page = Page(name, lang, t, asked, settings, look, notes, link)
    _header(page)
    return page


def write_address(page: Page) -> None:
    """Puts the link into the address bar; for pages and moments without a stage, which does it itself."""
    address.mount(page.link)


def _header(page: Page) -> None:
    t = page.t
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="frame"):
        st.markdown(f"### {t('frame.title')}", width="content")
        for name, file in PAGES.items():
            st.page_link(file, label=t(f"nav.{name}"), query_params=page.link, disabled=name == page.name)
        st.space("stretch")
        _language(page)
        _share(page)
        st.button(
            t("frame.reset"),
            icon=":material/restart_alt:",
            key="reset",
            type="tertiary",
            on_click=state.reset,
        )


def _language(page: Page) -> None:
    key = state.seed("lang", page.lang)
    st.segmented_control(
        page.t("frame.language"),
        list(text.LANGUAGES),
        format_func=text.LANGUAGES.get,
        required=True,
        key=key,
        label_visibility="collapsed",
        on_change=state.keep,
        args=("lang", key),
    )


def _share(page: Page) -> None:
    t = page.t
    with st.popover(t("frame.share"), icon=":material/link:", type="tertiary", key="share"):
        st.markdown(t("frame.share_sentence"))
        here = urlsplit(st.context.url or "")
        link = urlunsplit(here._replace(path=here.path or "/", query=urlencode(page.link)))
        if len(link) <= LONGEST_LINK:
            st.caption(t("frame.share_below"))
            st.code(link, language=None, wrap_lines=True)
            return
        st.warning(t("frame.share_long", n=len(link), most=LONGEST_LINK))
        if page.settings:
            st.caption(t("frame.share_file"))
            exports.run_button(page, "share_run")
