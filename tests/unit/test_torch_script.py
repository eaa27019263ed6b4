"""The script that a reader copies prints the numbers of the run it was copied from."""

import subprocess
import sys

import pytest
import torch

from attention import Settings, run
from ui.torch_script import script

CASES = {
    "as it comes": (Settings("the cat sat on the mat"), 1, 2),
    "Chinese, rotary halves, shared keys": (
        Settings("小明 把 书 放 在 桌子 上", positions="rotary", pairing="halves", heads=4, kv_heads=1, layers=2),
        2,
        3,
    ),
    "rotary interleaved, window": (
        Settings("a b c d e f", positions="rotary", mask="window", width=2, temperature=0.7),
        1,
        1,
    ),
    "alibi on 3 heads, prefix, no scale": (
        Settings("dog bites man twice", positions="alibi", heads=3, kv_heads=3, mask="prefix", width=2, scale="off"),
        1,
        3,
    ),
    "no positions, both ways, odd sizes": (
        Settings("a b a b", positions="none", mask="bidirectional", d_model=5, d_k=3, d_v=7, layers=3, seed=7),
        3,
        2,
    ),
    "float64, strange tokens": (
        Settings("' \" \\ \n <b> 👍🏽 \u200b", split="characters", dtype="float64", d_k=64),
        1,
        1,
    ),
    "no causal mask": (Settings("a b c d", breaks="causal", layers=2), 2, 1),
}


def printed(text: str) -> dict[str, torch.Tensor]:
    """The matrices that a script printed, by their names."""
    found: dict[str, list] = {}
    for line in text.splitlines():
        if line in ("weights", "output"):
            rows = found[line] = []
        else:
            rows.append([float(number) for number in line.split()])
    return {name: torch.tensor(rows, dtype=torch.float64) for name, rows in found.items()}


@pytest.fixture
def outcome(tmp_path):
    """What a script prints when it is run as a file of its own."""

    def run_file(code: str) -> dict[str, torch.Tensor]:
        file = tmp_path / "head.py"
        file.write_text(code, encoding="utf-8")
        done = subprocess.run([sys.executable, file], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return printed(done.stdout)

    return run_file


@pytest.mark.parametrize("name", CASES)
def test_the_script_prints_the_run(name, outcome):
    settings, layer, head = CASES[name]
    found, made = outcome(script(settings, layer, head)), run(settings).layers[layer - 1]
    close = 1e-12 if settings.dtype == "float64" else 2e-5
    for part, whole in (("weights", made.weights), ("output", made.mixed)):
        torch.testing.assert_close(found[part], whole[head - 1].double(), rtol=close, atol=close)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_coarse_types_agree_to_their_rounding(dtype, outcome):
    settings = Settings("the cat sat on the mat", dtype=dtype)
    found, made = outcome(script(settings, 1, 1)), run(settings).layers[0]
    close = 8 * torch.finfo(getattr(torch, dtype)).eps
    torch.testing.assert_close(found["weights"], made.weights[0].double(), rtol=close, atol=close)


def test_the_script_is_short_and_stands_alone():
    text = script(Settings("the cat sat on the mat", positions="rotary", layers=4), 4, 1)
    assert text.count("\n") < 60
    assert "attention" not in text.replace("Last Row", "")


def test_another_head_prints_other_numbers(outcome):
    settings = Settings("the cat sat on the mat")
    first, second = (outcome(script(settings, 1, head)) for head in (1, 2))
    assert not torch.allclose(first["weights"], second["weights"])
