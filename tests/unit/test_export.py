"""The npz file: its keys, meta that any JSON reader takes, and every number made again by numpy alone."""

import io
import itertools
import json

import numpy as np
import pytest
import torch

from attention import Settings, run
from attention.export import as_bytes, save
from tests.unit import reference

TEXT = "the cat sat on the mat and"
FULL = ["x", "w_q", "w_k", "w_v", "w_o", "q", "k", "v", "raw", "scaled", "masked", "weights", "mixed", "out"]
CACHED = ["x", "q", "k", "v", "raw", "scaled", "weights", "mixed", "out"]
PER_LAYER = [*FULL, *(f"cached_{name}" for name in CACHED)]
PER_RUN = ["meta", "step_delta", "compared", "multiplies_cached", "multiplies_full", "cache_bytes"]


def stored(done):
    return dict(np.load(io.BytesIO(as_bytes(done)), allow_pickle=False))


def no_bare_numbers(name):
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.parametrize("layers", [1, 3])
def test_keys_and_meta(layers):
    done = run(Settings(TEXT, layers=layers, breaks="stale,position"))
    file = stored(done)
    assert set(file) == {*PER_RUN, *(f"{i}.{name}" for i in range(layers) for name in PER_LAYER)}
    assert file["meta"].shape == () and file["meta"].dtype.kind == "U"
    meta = json.loads(str(file["meta"]), parse_constant=no_bare_numbers)
    assert Settings(**meta["settings"]) == done.settings and meta["settings"]["breaks"] == "position,stale"
    assert meta["tokens"] == TEXT.split() and meta["dtype"] == "float32"
    assert meta["versions"]["torch"] == str(torch.__version__) and {"numpy", "python"} <= set(meta["versions"])
    assert {f"L.{name}" for name in PER_LAYER} | set(PER_RUN) - {"meta"} <= set(meta["axes"])


@pytest.mark.parametrize(
    "text", ['<b>x</b> "quoted" \\ back', "小明 把 书", "a\u200bb", "\ud800 x", "\x00 y", "\u2028 z"]
)
def test_any_token_survives_the_file(text):
    done = run(Settings(text))
    meta = json.loads(str(stored(done)["meta"]), parse_constant=no_bare_numbers)
    assert tuple(meta["tokens"]) == done.tokens and meta["settings"]["text"] == text


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_arrays_are_those_of_the_run(dtype):
    done = run(Settings(TEXT, layers=2, positions="alibi", mask="window", dtype=dtype, breaks="mask"))
    file = stored(done)
    for number, layer in enumerate(done.layers):
        for name in PER_LAYER:
            array, tensor = file[f"{number}.{name}"], getattr(layer, name)
            assert array.dtype == (np.float64 if dtype == "float64" else np.float32)
            np.testing.assert_array_equal(array, tensor.double().numpy(), err_msg=name)
    for name in PER_RUN[1:]:
        np.testing.assert_array_equal(file[name], getattr(done, name).numpy())
    assert file["multiplies_full"].dtype == file["cache_bytes"].dtype == np.int64
    assert file["step_delta"].dtype == np.float64 and file["compared"].dtype == bool


def split(x, n_heads):
    return x.reshape(len(x), n_heads, -1).swapaxes(0, 1)


def scores_by_numpy(raw, settings, n):
    """Scores as the settings in the file have them (scale, temperature, bias), and who may read whom."""
    divisor = np.sqrt(settings["d_k"]) if settings["scale"] == "on" else 1.0
    scaled = raw / divisor / settings["temperature"]
    if settings["positions"] == "alibi":
        scaled = scaled + reference.alibi(settings["heads"], n)
    return scaled, reference.mask(settings["mask"], n, settings["width"])


def layer_by_numpy(file, number, settings):
    """Every array of the full pass of one layer from its x and w_* alone."""
    got = {name: file[f"{number}.{name}"] for name in PER_LAYER}
    n, heads, kv_heads = len(got["x"]), settings["heads"], settings["kv_heads"]
    q = split(got["x"] @ got["w_q"], heads)
    k, v = split(got["x"] @ got["w_k"], kv_heads), split(got["x"] @ got["w_v"], kv_heads)
    if settings["positions"] == "rotary":
        q, k = (reference.rotate(part, range(n), settings["pairing"]) for part in (q, k))
    shared = np.arange(heads) // (heads // kv_heads)
    raw = q @ k[shared].swapaxes(1, 2)
    scaled, visible = scores_by_numpy(raw, settings, n)
    weights = reference.softmax(scaled, visible)
    mixed = weights @ v[shared]
    out = mixed.swapaxes(0, 1).reshape(n, -1) @ got["w_o"]
    masked = np.where(visible, scaled, -np.inf)
    return {"q": q, "k": k, "v": v, "raw": raw, "scaled": scaled, "masked": masked} | {
        "weights": weights,
        "mixed": mixed,
        "out": out,
    }


@pytest.mark.parametrize(("mask", "width"), [("causal", 3), ("bidirectional", 3), ("window", 2), ("prefix", 4)])
@pytest.mark.parametrize(
    ("positions", "pairing"),
    [
        ("none", "halves"),
        ("sinusoidal", "halves"),
        ("rotary", "interleaved"),
        ("rotary", "halves"),
        ("alibi", "halves"),
    ],
)
@pytest.mark.parametrize("heads", [(4, 4), (6, 2), (3, 1)], ids=str)
def test_numpy_makes_every_array_again(mask, width, positions, pairing, heads):
    names = {"mask": mask, "width": width, "positions": positions, "pairing": pairing, "layers": 2}
    sizes = {"heads": heads[0], "kv_heads": heads[1], "d_model": 5, "d_k": 4, "d_v": 3}
    for scale, temperature, dtype in itertools.product(("on", "off"), (1.0, 2.5), ("float64", "float32")):
        more = {"scale": scale, "temperature": temperature, "dtype": dtype}
        file = stored(run(Settings(TEXT, **names, **sizes, **more)))
        settings = json.loads(str(file["meta"]))["settings"]
        for number in range(2):
            for name, wanted in layer_by_numpy(file, number, settings).items():
                tolerance = 1e-11 if dtype == "float64" else 2e-5
                np.testing.assert_allclose(file[f"{number}.{name}"], wanted, atol=tolerance, err_msg=name)
        np.testing.assert_allclose(file["1.x"], file["0.x"] + file["0.out"], atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_numpy_makes_half_precision_again(dtype):
    names = {"positions": "rotary", "mask": "causal", "dtype": dtype}
    file = stored(run(Settings(TEXT, **names)))
    settings = json.loads(str(file["meta"]))["settings"]
    for name, wanted in layer_by_numpy(file, 0, settings).items():
        np.testing.assert_allclose(file[f"0.{name}"], wanted, atol=0.1 if dtype == "bfloat16" else 0.01, err_msg=name)


@pytest.mark.parametrize("positions", ["sinusoidal", "none"])
def test_x_is_the_embedding_and_the_signal(positions):
    file = stored(run(Settings(TEXT, positions=positions, d_model=7, dtype="float64")))
    plain = stored(run(Settings(TEXT, positions="none", d_model=7, dtype="float64")))
    signal = reference.sinusoid(7, 7) if positions == "sinusoidal" else 0.0
    np.testing.assert_allclose(file["0.x"], plain["0.x"] + signal, atol=1e-14)


@pytest.mark.parametrize("mask", ["causal", "bidirectional", "window", "prefix"])
@pytest.mark.parametrize("positions", ["sinusoidal", "rotary", "alibi"])
def test_numpy_makes_the_cached_rows_again(mask, positions):
    """From the cached q, k, v: each row over the keys that were there at its step, others weighing 0."""
    names = {"mask": mask, "width": 3, "positions": positions, "layers": 2, "prompt": 3}
    file = stored(run(Settings(TEXT, heads=4, kv_heads=2, dtype="float64", **names)))
    settings = json.loads(str(file["meta"]))["settings"]
    n, row, column = 7, np.arange(7)[:, None], np.arange(7)
    there = np.where(row < 3, column < 3, (column <= row) & ((mask != "window") | (column > row - 3)))
    shared = np.arange(4) // 2
    for number in range(2):
        got = {name: file[f"{number}.{name}"] for name in PER_LAYER}
        raw = np.where(there, got["cached_q"] @ got["cached_k"][shared].swapaxes(1, 2), np.nan)
        scaled, visible = scores_by_numpy(raw, settings, n)
        weights = reference.softmax(np.where(there, scaled, 0), visible & there)
        mixed = weights @ got["cached_v"][shared]
        out = mixed.swapaxes(0, 1).reshape(n, -1) @ got["w_o"]
        wanted = {"raw": raw, "scaled": scaled, "weights": weights, "mixed": mixed, "out": out}
        for name, value in wanted.items():
            np.testing.assert_allclose(got[f"cached_{name}"], value, atol=1e-11, err_msg=name)
        np.testing.assert_allclose(split(got["cached_x"] @ got["w_v"], 2), got["cached_v"], atol=1e-11)
    np.testing.assert_allclose(file["1.cached_x"], file["0.cached_x"] + file["0.cached_out"], atol=1e-12)


def test_the_same_run_gives_the_same_bytes(tmp_path):
    done = run(Settings(TEXT))
    save(done, tmp_path / "run.npz")
    assert (tmp_path / "run.npz").read_bytes() == as_bytes(done) == as_bytes(run(Settings(TEXT)))
