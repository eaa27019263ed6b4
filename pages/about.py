"""About: conventions, what is counted, what this model leaves out, and the versions behind the numbers."""

import streamlit as st

from ui import frame, text, versions

page = frame.open("about")
frame.write_address(page)
with st.container(key="prose", width=820):
    st.markdown(text.lesson(page.lang, "about"))
    st.markdown(f"#### {page.t('about.versions')}")
    versions.table(page.t)
