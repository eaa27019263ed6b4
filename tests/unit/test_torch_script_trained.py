"""The script that a reader copies from a run of a trained model prints the numbers of that run."""

import subprocess
import sys

import pytest
import torch

from attention import Settings, run, trained
from tests.unit import small_models
from tests.unit.test_torch_script import printed
from ui.torch_script import of_run

CASES = {
    "a decoder that goes on": ({"source": "trained", "generate": 4}, 2, 2),
    "rank, zero, even, window": (
        {"source": "unguided", "rank": 3, "zeroed": "1.1", "flattened": "2.1", "mask": "window", "width": 2},
        2,
        1,
    ),
    "no scale, float64": ({"source": "trained", "scale": "off", "temperature": 3.0, "dtype": "float64"}, 1, 2),
    "no causal mask": ({"source": "trained", "breaks": "causal,stale"}, 2, 1),
    "an encoder": ({"source": "encoder"}, 2, 2),
    "one layer without an MLP": ({"source": "onelayer"}, 1, 1),
}


@pytest.fixture(autouse=True)
def models(tmp_path, monkeypatch):
    small_models.shelf(tmp_path, monkeypatch)


@pytest.mark.parametrize("name", CASES)
def test_the_script_prints_the_run(name, tmp_path):
    values, layer, head = CASES[name]
    made = run(Settings("the iguana sat on 桌子 。 <b>", **values))
    file = tmp_path / "head.py"
    file.write_text(of_run(made, layer, head), encoding="utf-8")
    weights = trained.path_of(trained.NAMES[values["source"]])
    done = subprocess.run([sys.executable, file, weights], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found, layer_run = printed(done.stdout), made.layers[layer - 1]
    close = 1e-12 if made.settings.dtype == "float64" else 2e-5
    for part, whole in (("weights", layer_run.weights), ("output", layer_run.mixed)):
        torch.testing.assert_close(found[part], whole[head - 1].double(), rtol=close, atol=close)


def test_the_script_stands_alone():
    text = of_run(run(Settings("the cat", source="trained", rank=2, zeroed="1.1", flattened="1.2")), 2, 1)
    assert text.count("\n") < 60 and "import attention" not in text and "from attention" not in text
