"""A bare page: a slider, a number box, one Plotly heatmap of 32×32. FREEZE=1 freezes the heap.

The title of the figure names the control that was moved last, so that a picture is told from the one before.
"""

import gc
import os

import numpy as np
import plotly.graph_objects as go
import streamlit as st
import torch


@st.cache_resource
def freeze() -> None:
    if os.environ.get("FREEZE") == "1":
        gc.collect()
        gc.freeze()


freeze()
moved = st.session_state.setdefault("moved", "prompt")
prompt = st.slider("prompt", 1, 32, 2, key="prompt", on_change=lambda: st.session_state.update(moved="prompt"))
d_k = st.number_input("d_k", 1, 256, 8, key="d_k", on_change=lambda: st.session_state.update(moved="d_k"))
x = torch.from_numpy(np.random.default_rng(prompt).standard_normal((32, d_k)))
weights = torch.softmax(x @ x.T / d_k**0.5, -1).numpy()
title = f"{moved} {prompt if moved == 'prompt' else d_k}"
st.plotly_chart(go.Figure(go.Heatmap(z=weights), layout={"title": title}), key="heatmap")
