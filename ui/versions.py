"""The versions that a run was made with, read from the installed packages without importing them."""

import platform
from importlib.metadata import PackageNotFoundError, version

import streamlit as st

PACKAGES = ("torch", "numpy", "streamlit", "plotly", "pandas")


def found() -> dict[str, str | None]:
    """Package name -> version, None where it is not installed."""
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return versions


def table(t) -> None:
    """The versions, for a bug report or a footnote."""
    rows = [f"| {name} | {number or t('about.not_installed')} |" for name, number in found().items()]
    head = f"| {t('about.package')} | {t('about.version')} |"
    st.markdown("\n".join([head, "|---|---|", *rows]))
