"""The address bar as the saved state, where no stage writes it: a component of one line without a face."""

import streamlit as st

SCRIPT = """
export default ({ data }) => {
  const url = new URL(window.location.href)
  const link = new URLSearchParams(data.link)
  for (const [name, value] of url.searchParams) {
    if ((name === "step" && data.link.text) || name.startsWith("embed")) link.set(name, value)
  }
  url.search = link.toString()
  if (url.href !== window.location.href) window.history.replaceState(window.history.state, "", url)
}
"""


def mount(link: dict[str, str]) -> None:
    """Writes `link` into the address bar without a message to the server; a step that stands there stays."""
    component = st.components.v2.component("address", js=SCRIPT)
    component(data={"link": link}, key="address", height=0)
