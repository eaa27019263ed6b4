"""The scene that the stage draws: strict JSON, every number the run's own, nothing rounded away."""

import base64
import json
import re

import numpy as np
import pytest
import torch

from attention import Settings, run
from ui import stage
from ui.stage.scene import rows, scene

TEXT = "小明 把 书 放 在 桌子 上 ， 因为 它 很 重"
VARIANTS = {
    "plain": {},
    "window": {"mask": "window", "width": 3, "prompt": 5},
    "alibi, grouped": {"positions": "alibi", "heads": 4, "kv_heads": 2, "layers": 2},
    "float64": {"dtype": "float64", "positions": "rotary"},
    "bfloat16": {"dtype": "bfloat16"},
    "broken": {"breaks": "position,stale"},
}


@pytest.fixture(params=VARIANTS, scope="module")
def pair(request):
    made = run(Settings(TEXT, **VARIANTS[request.param]))
    return made, scene(made, len(made.layers) - 1, 1, "zh")


def exact(values, tensor):
    """The JSON numbers, read back in the run's type, are the tensor; null stands where it is not finite."""
    read = torch.tensor(
        [[float("nan") if v is None else v for v in row] for row in values], dtype=torch.float64
    )
    wanted = tensor.double()
    return torch.equal(read.to(tensor.dtype).nan_to_num(7777), wanted.to(tensor.dtype).nan_to_num(7777))


def test_a_scene_is_strict_json(pair):
    assert json.loads(json.dumps(pair[1], allow_nan=False)) == pair[1]


def test_every_matrix_is_the_cached_runs_own(pair):
    made, drawn = pair
    at, kv_head = made.layers[-1], 1 // (made.settings.heads // made.settings.kv_heads)
    assert drawn["kv_head"] == kv_head + 1
    assert exact(drawn["x"], at.cached_x)
    for name, tensor in [("q", at.cached_q[1]), ("k", at.cached_k[kv_head]), ("v", at.cached_v[kv_head])]:
        assert exact(drawn[name], tensor), name
    for name, tensor in [
        ("o", at.cached_mixed[1]),
        ("raw", at.cached_raw[1]),
        ("scaled", at.cached_scaled[1]),
    ]:
        assert exact(drawn[name], tensor), name


def test_weights_are_null_only_for_keys_that_came_later(pair):
    made, drawn = pair
    prompt, weights = made.settings.prompt, made.layers[-1].cached_weights[1].float()
    for row, values in enumerate(drawn["weights"]):
        last_key = max(row, prompt - 1)
        assert all(value is None for value in values[last_key + 1 :])
        np.testing.assert_allclose(values[: last_key + 1], weights[row, : last_key + 1].numpy(), rtol=1e-7)


def test_projection_weights_survive_their_packing(pair):
    made, drawn = pair
    width = made.settings.d_k
    packed = drawn["projections"]["q"]
    read = np.frombuffer(base64.b64decode(packed["data"]), dtype=f"<f{packed['bytes']}")
    wanted = made.layers[-1].w_q[:, width : 2 * width]
    np.testing.assert_array_equal(
        read.reshape(packed["rows"], packed["columns"]), wanted.to(torch.float64).numpy()
    )


def test_the_prefill_carries_the_largest_difference_of_its_rows(pair):
    made, drawn = pair
    prompt = made.settings.prompt
    assert drawn["delta"][prompt - 1] == made.step_delta[:prompt].max().item()
    assert drawn["delta"][prompt:] == made.step_delta[prompt:].tolist()


def test_totals_add_up(pair):
    made, drawn = pair
    assert drawn["multiplies"]["cached_total"][-1] == made.multiplies_cached.sum().item()
    assert drawn["multiplies"]["full_total"][-1] == made.multiplies_full.sum().item()


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("rounding", {}),
        ("rounding", {"mask": "bidirectional"}),  # one layer: old keys do not change
        ("later", {"mask": "bidirectional", "layers": 2}),
        ("later", {"mask": "prefix", "width": 9, "prompt": 4, "layers": 2}),
        ("broken", {"breaks": "position"}),
        ("broken", {"breaks": "mask"}),
        ("broken", {"breaks": "stale"}),
        ("broken", {"breaks": "causal", "layers": 2}),
        ("later", {"breaks": "mask", "mask": "bidirectional", "layers": 2}),  # the break changes nothing here
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_verdicts_say_what_the_difference_means(kind, settings, dtype):
    drawn = scene(run(Settings(TEXT, dtype=dtype, **settings)), 0, 0, "en")
    first = drawn["prompt"]
    assert set(drawn["verdicts"][first:]) <= ({kind, "zero"} if kind == "rounding" else {kind})


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("seed", range(3))
def test_an_unbroken_causal_run_is_never_called_wrong(dtype, seed):
    for extra in ({}, {"scale": "off", "d_k": 64, "layers": 3}, {"positions": "alibi", "layers": 4}):
        drawn = scene(run(Settings(TEXT, dtype=dtype, seed=seed, **extra)), 0, 0, "en")
        assert set(drawn["verdicts"]) <= {"rounding", "zero"}, (extra, drawn["delta"])


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("source", ["random", "trained"])
@pytest.mark.parametrize("name", ["position", "mask", "stale", "causal"])
def test_no_type_is_too_coarse_to_show_a_break(name, source, dtype):
    broken = scene(run(Settings(TEXT, source=source, layers=2, breaks=name, dtype=dtype)), 0, 0, "en")
    right = scene(run(Settings(TEXT, source=source, layers=2, dtype=dtype)), 0, 0, "en")
    assert "broken" in broken["verdicts"][broken["prompt"] :], broken["delta"]
    assert set(broken["verdicts"][: broken["prompt"]]) <= {"zero", "rounding"}, broken["delta"]
    assert set(right["verdicts"]) <= {"zero", "rounding"}, right["delta"]


def test_a_small_weight_keeps_its_digits():
    tiny = torch.tensor([[5.602796320815466e-09, 0.9999999791672243]], dtype=torch.float64)
    assert rows(tiny) == [[5.602796320815466e-09, 0.9999999791672243]]
    assert rows(tiny.float())[0][0] == pytest.approx(5.6027963e-09, rel=1e-7)


def test_the_script_is_small_and_makes_no_markup():
    assert len(stage.script().encode()) + len(stage.style().encode()) <= 150_000
    for trap in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert trap not in stage.script()


def test_every_style_rule_stays_inside_the_stage():
    plain = re.sub(r"/\*.*?\*/", "", stage.style(), flags=re.S)
    selectors = [found.strip() for found in re.findall(r"([^{}]+)\{", plain)]
    outside = [one for one in selectors if not one.startswith((".lr-", "@"))]
    assert selectors and outside == []
