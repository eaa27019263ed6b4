"""Twin sentences: one word apart, through a decoder and an encoder, row by row and stage by stage."""

import streamlit as st

from ui import frame, twin_view, twins

page = frame.open("twins")
t = page.t
st.markdown(t("twins.lead"))
pair = twin_view.sentences(page)
frame.write_address(page)

choices = st.container(horizontal=True, gap="medium", key="choices")
with choices:
    source = twin_view.decoder(page)
found = twin_view.made(page, pair, source)
if found is None:
    st.stop()
if len(found.changed) > 1:
    st.info(t("twins.several", n=len(found.changed)))
with choices:
    head = twin_view.head(page, found)
both = {"decoder": found, "encoder": twin_view.made(page, pair, "encoder")}
both = {kind: one for kind, one in both.items() if one is not None}

for column, (kind, one) in zip(st.columns(2, gap="large"), both.items(), strict=False):
    with column:
        twin_view.apart(page, one, head, kind)
st.caption(t("twins.scale"))

st.markdown(f"#### {t('twins.reads')}")
row = twin_view.row(page, found, twins.telling_row(both.get("encoder", found), head))
for column, (kind, one) in zip(st.columns(2, gap="large"), both.items(), strict=False):
    with column:
        twin_view.reads(page, one, head, row, kind)
twin_view.lesson(page, found, row)
