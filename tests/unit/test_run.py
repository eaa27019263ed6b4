"""What a run records: weights by rule, shapes, states, counts; and that the future leaves the past alone."""

import dataclasses
import hashlib

import numpy as np
import pytest
import torch

from attention import KVCache, Settings, SettingsError, run

TEXT = "the cat sat on the mat"


def layer_of(**names):
    return run(Settings(TEXT, **names)).layers[0]


@pytest.mark.parametrize("layers", [1, 2, 4])
@pytest.mark.parametrize("positions", ["none", "rotary", "alibi", "sinusoidal"])
@pytest.mark.parametrize("mask", ["causal", "window", "prefix", "bidirectional"])
def test_a_changed_future_leaves_the_past_alone(mask, positions, layers):
    """Except where a query may read ahead: there the past must change."""
    names = {
        "mask": mask,
        "width": 3,
        "positions": positions,
        "layers": layers,
        "prompt": 3,
        "dtype": "float64",
    }
    one = run(Settings("a b c d e f g h", **names))
    other = run(Settings("a b c d e X Y Z", **names))
    for before, after in zip(one.layers, other.layers, strict=True):
        past = [(before.weights[:, :5, :5], after.weights[:, :5, :5]), (before.out[:5], after.out[:5])]
        apart = [(a - b).abs().max().item() for a, b in past]
        if mask == "bidirectional":
            assert min(apart) > 1e-3
        else:
            assert max(apart) < 1e-12
        # What the cache wrote at an earlier step cannot know the future, whatever the mask.
        for name in ("cached_k", "cached_v", "cached_weights"):
            torch.testing.assert_close(getattr(before, name)[:, :5], getattr(after, name)[:, :5])
        assert (before.out[5:] - after.out[5:]).abs().max() > 1e-3


def test_the_mask_ahead_reaches_the_prefix_and_no_further():
    names = {"mask": "prefix", "width": 3, "prompt": 4, "dtype": "float64"}
    one, other = (run(Settings(text, **names)).layers[0] for text in ("a b c d e", "a b X d e"))
    assert (one.weights[:, 0] - other.weights[:, 0]).abs().max() > 1e-3
    three, four = (run(Settings(text, **names)).layers[0] for text in ("a b c d e", "a b c X e"))
    torch.testing.assert_close(three.weights[:, 0], four.weights[:, 0])


def test_shapes_and_dtypes():
    sizes = {"d_model": 5, "d_k": 4, "d_v": 3, "heads": 6, "kv_heads": 2, "layers": 2, "positions": "alibi"}
    done = run(Settings(TEXT, dtype="float16", **sizes))
    shapes = {"x": (6, 5), "w_q": (5, 24), "w_k": (5, 8), "w_v": (5, 6), "w_o": (18, 5), "q": (6, 6, 4)}
    shapes |= {"k": (2, 6, 4), "v": (2, 6, 3), "raw": (6, 6, 6), "weights": (6, 6, 6), "mixed": (6, 6, 3)}
    shapes |= {"out": (6, 5), "bias": (6, 6, 6), "scaled": (6, 6, 6), "masked": (6, 6, 6)}
    shapes |= {f"cached_{name}": shape for name, shape in shapes.items() if not name.startswith("w_")}
    for layer in done.layers:
        for name, shape in shapes.items():
            tensor = getattr(layer, name)
            assert tensor.shape == shape and tensor.dtype == torch.float16, name
        assert layer.visible.shape == layer.cached_visible.shape == layer.cached_present.shape == (6, 6)
    assert layer_of().bias is None and layer_of().cached_bias is None
    torch.testing.assert_close(done.layers[1].x, done.layers[0].x + done.layers[0].out)


def test_the_random_numbers_follow_the_rule():
    def normal(key, *shape):
        seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big")
        return np.random.default_rng(seed).standard_normal(shape)

    sizes = {"d_model": 5, "d_k": 4, "d_v": 3, "heads": 4, "kv_heads": 2, "seed": 7}
    done = run(Settings(TEXT, layers=2, positions="none", dtype="float64", **sizes))
    x = np.stack([normal(f"7/embedding/{token}", 256)[:5] for token in TEXT.split()])
    np.testing.assert_array_equal(done.layers[0].x, x)
    layer = done.layers[1]
    for name, heads, width in (("w_q", 4, 4), ("w_k", 2, 4), ("w_v", 2, 3)):
        wanted = np.hstack([normal(f"7/1/{name}/{h}", width, 5).T for h in range(heads)]) / np.sqrt(5)
        np.testing.assert_allclose(getattr(layer, name), wanted, rtol=1e-15)
    wanted = np.vstack([normal(f"7/1/w_o/{h}", 3, 5) for h in range(4)]) / np.sqrt(4 * 3)
    np.testing.assert_allclose(layer.w_o, wanted, rtol=1e-15)


def test_an_embedding_depends_on_text_and_seed_alone():
    small, other = layer_of(positions="none"), run(Settings("mat the", positions="none", d_k=3)).layers[0]
    assert torch.equal(small.x[5], other.x[0]) and torch.equal(small.x[0], other.x[1])
    assert torch.equal(small.x[0], small.x[4]) and not torch.equal(small.x[0], small.x[1])
    assert not torch.equal(small.x, layer_of(positions="none", seed=1).x)


def test_a_wider_d_k_keeps_the_columns_that_were_there():
    narrow, wide = layer_of(d_k=3, heads=1, kv_heads=1), layer_of(d_k=7, heads=1, kv_heads=1)
    assert torch.equal(narrow.w_q, wide.w_q[:, :3]) and torch.equal(narrow.w_v, wide.w_v)
    more = layer_of(d_k=3, heads=2, kv_heads=2)
    assert torch.equal(narrow.w_q, more.w_q[:, :3]) and not torch.equal(more.w_q[:, :3], more.w_q[:, 3:])


@pytest.mark.parametrize("name", ["w_q", "w_k", "w_v", "w_o"])
def test_projections_have_variance_one_over_fan_in(name):
    layer = layer_of(d_model=128, d_k=64, d_v=32, heads=4, kv_heads=4)
    weights = getattr(layer, name)
    assert weights.var().item() * weights.shape[0] == pytest.approx(1.0, rel=0.06)
    assert abs(weights.mean().item()) * weights.shape[0] ** 0.5 < 0.05


def test_scale_and_temperature():
    assert layer_of(d_k=16).scale == 0.25 and layer_of(d_k=16, temperature=0.5).scale == 0.5
    assert layer_of(d_k=16, scale="off").scale == 1.0 and layer_of(scale="off", temperature=4.0).scale == 0.25
    hot, cold = layer_of(temperature=100.0), layer_of(temperature=0.01)
    assert hot.weights[:, 5].max() < 0.25 and cold.weights[:, 5].max() > 0.95


def test_the_temperature_leaves_the_bias_alone():
    layer = layer_of(positions="alibi", temperature=2.0, dtype="float64")
    torch.testing.assert_close(layer.scaled, layer.raw / 8**0.5 / 2 + layer.bias)


def test_the_same_settings_give_the_same_numbers():
    one, other = (run(Settings(TEXT, layers=2)).layers[1].cached_out for _ in range(2))
    assert torch.equal(one, other)


@pytest.mark.parametrize("mask", ["causal", "window", "prefix", "bidirectional"])
@pytest.mark.parametrize("prompt", [1, 3, 6])
def test_what_was_there_and_what_was_read(mask, prompt):
    layer = layer_of(mask=mask, width=2, prompt=prompt)
    for i in range(6):
        for j in range(6):
            there = j < prompt if i < prompt else j <= i and (mask != "window" or j > i - 2)
            reads = {"causal": j <= i, "window": i - 2 < j <= i, "prefix": j <= i or j < 2}.get(mask, True)
            assert layer.cached_present[i, j].item() == there
            assert layer.cached_visible[i, j].item() == (there and reads)
            assert layer.cached_raw[:, i, j].isnan().all().item() == (not there)
            assert layer.visible[i, j].item() == reads
            assert (layer.cached_weights[:, i, j] > 0).all().item() == (there and reads)
    assert (layer.cached_masked == -torch.inf).any(0).equal(layer.cached_present & ~layer.cached_visible)
    assert layer.cached_masked.isnan().any(0).equal(~layer.cached_present)
    torch.testing.assert_close(layer.cached_weights.sum(-1), torch.ones(2, 6))


@pytest.mark.parametrize(("dtype", "element"), [("float64", 8), ("float32", 4), ("bfloat16", 2), ("float16", 2)])
@pytest.mark.parametrize("mask", ["causal", "window"])
def test_the_ledger_by_the_formula(mask, dtype, element):
    sizes = {"d_model": 5, "d_k": 4, "d_v": 3, "heads": 6, "kv_heads": 2, "layers": 3}
    done = run(Settings(TEXT, prompt=2, mask=mask, width=3, dtype=dtype, **sizes))
    projections = 5 * (6 * 4 + 2 * 4 + 2 * 3) + 6 * 3 * 5
    full = [0, *(3 * (t * projections + 6 * t * t * 7) for t in range(2, 7))]
    held = [0, *(t if mask == "causal" else min(t, 3) for t in range(2, 7))]
    assert done.multiplies_full.tolist() == full
    cached = [0, full[1], *(3 * (projections + 6 * keys * 7) for keys in held[2:])]
    assert done.multiplies_cached.tolist() == cached
    assert done.cache_bytes.tolist() == [3 * keys * 2 * 7 * element for keys in held]
    cache = KVCache.empty(2, 4, 3, window=None if mask == "causal" else 3)
    for t in range(6):
        layer = done.layers[0]
        cache = cache.append(layer.cached_k[:, t : t + 1], layer.cached_v[:, t : t + 1])
        assert t == 0 or 3 * cache.nbytes == done.cache_bytes[t]


def test_a_prompt_longer_than_the_window_reads_what_the_cache_then_drops():
    layer = layer_of(mask="window", width=2, prompt=5)
    assert (layer.cached_weights[:, 1, 0] > 0).all() and layer.cached_visible[5].tolist() == [False] * 4 + [True] * 2
    assert layer.cached_raw[:, 5, 3].isnan().all() and layer.cached_raw[:, 4, 0].isfinite().all()


def test_an_overflow_is_an_error_of_the_settings():
    names = {"d_k": 256, "d_model": 64, "layers": 4, "heads": 4, "kv_heads": 4, "scale": "off"}
    text = " ".join(f"w{i}" for i in range(40))
    with pytest.raises(SettingsError, match="dtype: float16 arrived and cannot hold") as error:
        run(Settings(text, temperature=0.01, dtype="float16", **names))
    assert (error.value.field, error.value.code) == ("dtype", "overflow")
    assert run(Settings(text, temperature=0.01, dtype="bfloat16", **names)).layers[3].out.isfinite().all()


def test_records_are_frozen_and_counted():
    done = run(Settings(TEXT))
    with pytest.raises(dataclasses.FrozenInstanceError):
        done.tokens = ()
    with pytest.raises(dataclasses.FrozenInstanceError):
        done.layers[0].q = None
    with pytest.raises(TypeError):
        type(done.layers[0])(x=done.layers[0].x)
    deeper = run(Settings(TEXT, layers=2))
    assert 2000 < done.nbytes < deeper.nbytes < 2 * done.nbytes


def test_the_largest_run_stays_within_memory():
    done = run(Settings("a " * 256, heads=16, kv_heads=1, layers=4, d_k=2, d_v=2))
    assert done.nbytes < 100e6
