"""A bare page: four Plotly heatmaps of 12×12 and a button that draws the next four."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

st.session_state.setdefault("step", 0)
if st.button("next", key="next"):
    st.session_state["step"] += 1
step = st.session_state["step"]
numbers = np.random.default_rng(step)
for column, name in zip(st.columns(4), "abcd", strict=True):
    figure = go.Figure(go.Heatmap(z=numbers.random((12, 12))), layout={"title": f"{name} {step}"})
    column.plotly_chart(figure, key=name)
