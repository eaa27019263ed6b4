"""Streamlit and plotly: the frame, the settings, the stage, the figures, the words, the exports."""
