"""A bare page: imports torch, draws one Plotly heatmap of 12×12."""

import plotly.graph_objects as go
import streamlit as st
import torch

weights = torch.softmax(torch.randn(12, 12, generator=torch.Generator().manual_seed(0)), -1)
st.plotly_chart(go.Figure(go.Heatmap(z=weights.numpy())), key="heatmap")
