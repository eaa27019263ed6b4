"""Decode: type a sentence and step through it, every number real."""

import streamlit as st

from attention.breaks import idle_breaks
from attention.settings import STAGE_TOKENS
from ui import controls, frame, heads, inspector, runs, sentence, stage, state

page = frame.open("decode")
controls.sidebar(page)
sentence.field(page)
run = runs.attempt(page, page.settings)
if run is None:
    frame.write_address(page)
    st.stop()

sentence.notices(page, run)
heads.said(page, run)
controls.breaks(page, idle_breaks(page.settings))
if len(run.tokens) <= STAGE_TOKENS:
    layer, head, step = page.look
    stage.mount(run, layer=layer, head=head, lang=page.lang, link=page.link, step=step, key=state.stage_key())
else:
    frame.write_address(page)
    st.info(page.t("long.stage", most=STAGE_TOKENS, n=len(run.tokens)))
heads.show(page, run)
inspector.show(page)
