"""Imports point one way: attention stands on torch alone. And the guard that says so can fail."""

import subprocess
import sys
from pathlib import Path

import pytest

import attention

ROOT = Path(__file__).parents[2]
ABOVE = ("streamlit", "plotly", "ui", "pandas", "app")
PACKAGE = sorted(f"attention.{path.stem}" for path in (ROOT / "attention").glob("*.py") if path.stem != "__init__")


def loaded_from_above(statement, cwd=ROOT):
    """Which of the packages above are loaded after `statement` in a fresh process."""
    report = f"import sys; {statement}; print(*sorted({{m.split('.')[0] for m in sys.modules}} & set({ABOVE!r})))"
    done = subprocess.run(
        [sys.executable, "-c", report], cwd=cwd, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.split()


def test_attention_loads_nothing_from_above():
    modules = ", ".join(["attention", *PACKAGE])
    assert loaded_from_above(f"import {modules}; attention.run(attention.Settings('a b'))") == []


def test_the_guard_sees_a_module_that_breaks_the_rule(tmp_path):
    """The same question, asked of a copy of the package into which one import from above has slipped."""
    copy = tmp_path / "attention"
    copy.mkdir()
    for path in (ROOT / "attention").glob("*.py"):
        (copy / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    assert loaded_from_above("import attention", cwd=tmp_path) == []
    masks = copy / "masks.py"
    masks.write_text(masks.read_text(encoding="utf-8") + "\nimport plotly\n", encoding="utf-8")
    assert "plotly" in loaded_from_above("import attention", cwd=tmp_path)


@pytest.mark.parametrize("name", ["streamlit", "plotly"])
def test_the_guard_sees_each_of_them(name):
    assert name in loaded_from_above(f"import {name}")


def test_the_public_surface():
    heads = ["attend", "AttentionTrace", "split_heads", "merge_heads", "repeat_kv"]
    masks = ["bidirectional", "causal", "sliding_window", "prefix_lm", "padding"]
    positions = ["sinusoidal", "rotate", "alibi_slopes", "alibi_bias"]
    runs = ["KVCache", "Settings", "SettingsError", "idle_breaks", "run", "DecodeRun", "LayerRun"]
    for name in (*heads, *masks, *positions, *runs):
        thing = getattr(attention, name)
        assert callable(thing) and thing.__doc__ and name in attention.__all__, name
