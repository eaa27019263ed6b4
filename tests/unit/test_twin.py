"""The cached run against the full recompute: equal where it must be, apart where it must be.

The bound. A stored number is off by eps times its size M; a score, a sum of products, by eps times the sum S
of the products' sizes (scaled, bias included); a weight moves as its scores do; each layer adds its own. So
    bound = c * eps * sum over layers of (1 + S) * M,    M = largest of 1, |k|, |v|, |out|,
with c = 8 for float64 and float32 and 1/2 in half precision, whose sums are made in float32 by both paths.
At default sizes the flat bounds 1e-10 and 1e-5 hold besides.
"""

import dataclasses
import itertools

import pytest
import torch

from attention import Settings, run, runner

TEXT = "the cat sat on the mat and the dog ran off to sea"  # 13 tokens, three of them the same
PROMPT = 6
FLAT = {"float64": 1e-10, "float32": 1e-5}
CAUSAL_MASKS = [("causal", 3), ("window", 1), ("window", 4), ("prefix", 0), ("prefix", 4), ("prefix", PROMPT)]
AHEAD_MASKS = [("bidirectional", 3), ("prefix", PROMPT + 1), ("prefix", 100)]
POSITIONS = [
    ("none", "interleaved"),
    ("sinusoidal", "interleaved"),
    ("rotary", "interleaved"),
    ("rotary", "halves"),
    ("alibi", "interleaved"),
]
HEADS = [(4, 4), (4, 2), (3, 1)]  # each its own, grouped, single key/value head
DTYPES = ["float64", "float32", "bfloat16", "float16"]


def rounding_bound(done):
    share = 8.0 if done.settings.dtype in FLAT else 0.5
    eps = torch.finfo(getattr(torch, done.settings.dtype)).eps
    total = 0.0
    for layer in done.layers:
        keys = layer.k.double().abs().repeat_interleave(len(layer.q) // len(layer.k), 0)
        largest_score = (layer.q.double().abs() @ keys.mT).max().item() * layer.scale
        if layer.bias is not None:
            largest_score += layer.bias.double().abs().max().item()
        sizes = [part.double().abs().max().item() for part in (layer.k, layer.v, layer.out)]
        total += (1 + largest_score) * max(1.0, *sizes)
    return share * eps * total


def make(mask, positions, heads, **more):
    names = {"mask": mask[0], "width": mask[1], "positions": positions[0], "pairing": positions[1]}
    return run(Settings(TEXT, prompt=PROMPT, heads=heads[0], kv_heads=heads[1], **names, **more))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("positions", POSITIONS, ids="-".join)
@pytest.mark.parametrize("mask", CAUSAL_MASKS, ids=str)
def test_equal_where_no_query_sees_a_later_key(mask, positions, dtype):
    for heads, layers in itertools.product(HEADS, (1, 2, 4)):
        done = make(mask, positions, heads, layers=layers, dtype=dtype)
        assert done.compared.all() and done.step_delta.shape == (13,)
        assert done.max_delta <= rounding_bound(done), (heads, layers)
        assert done.max_delta <= FLAT.get(dtype, 0.1), (heads, layers)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("positions", POSITIONS, ids="-".join)
@pytest.mark.parametrize("mask", AHEAD_MASKS, ids=str)
def test_apart_where_a_query_sees_a_later_key(mask, positions, dtype):
    for heads, layers in itertools.product(HEADS, (2, 3)):
        done = make(mask, positions, heads, layers=layers, dtype=dtype)
        assert (done.step_delta[PROMPT:] > 0.01).all(), (heads, layers)
        assert (done.step_delta[:PROMPT] <= rounding_bound(done)).all(), "the prompt is worked out at once"


@pytest.mark.parametrize("mask", AHEAD_MASKS, ids=str)
@pytest.mark.parametrize("positions", POSITIONS, ids="-".join)
def test_one_layer_is_equal_under_every_mask(mask, positions):
    """Keys and values of the first layer do not depend on who reads whom."""
    done = make(mask, positions, (2, 1), layers=1, dtype="float64")
    assert done.max_delta <= 1e-10


SIZES = [
    {"d_model": 256, "d_k": 256, "d_v": 64},
    {"d_model": 64, "d_k": 64, "d_v": 1, "scale": "off"},
    {"d_model": 5, "d_k": 2, "d_v": 3, "temperature": 0.01},
    {"d_model": 1, "d_k": 4, "d_v": 8, "temperature": 100.0},
    {"d_model": 64, "d_k": 256, "d_v": 8, "scale": "off", "temperature": 0.1},
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_equal_at_other_sizes_and_scales(sizes, dtype):
    for positions, layers, mask in itertools.product(POSITIONS, (1, 3), CAUSAL_MASKS[:2]):
        done = make(mask, positions, (4, 2), layers=layers, dtype=dtype, **sizes)
        assert done.max_delta <= rounding_bound(done), (positions, layers)


@pytest.mark.parametrize("prompt", [1, 2, 12, 13])
@pytest.mark.parametrize("mask", CAUSAL_MASKS[:3], ids=str)
def test_equal_for_every_prompt(mask, prompt):
    names = {"mask": mask[0], "width": mask[1], "layers": 2, "dtype": "float64"}
    done = run(Settings(TEXT, prompt=prompt, **names))
    assert done.max_delta <= 1e-10 and done.compared.all()


@pytest.mark.parametrize("mask", [*CAUSAL_MASKS, *AHEAD_MASKS], ids=str)
@pytest.mark.parametrize("positions", POSITIONS, ids="-".join)
def test_step_delta_is_what_the_records_say(mask, positions):
    """The last step, worked out again from the exported tensors; earlier ones from runs of shorter texts."""
    tokens = TEXT.split()
    done = make(mask, positions, (4, 2), layers=3, dtype="float64")
    for n in (PROMPT + 1, 9, 13):
        names = {"mask": mask[0], "width": mask[1], "positions": positions[0], "pairing": positions[1]}
        sizes = {"heads": 4, "kv_heads": 2, "layers": 3, "dtype": "float64"}
        shorter = run(Settings(" ".join(tokens[:n]), prompt=PROMPT, **names, **sizes))
        t, gaps = n - 1, []
        for cached, full in zip(done.layers, shorter.layers, strict=True):
            gaps.append((cached.cached_k[:, t] - full.k[:, t]).abs().max())
            gaps.append((cached.cached_v[:, t] - full.v[:, t]).abs().max())
            gaps.append((cached.cached_weights[:, t, :n] - full.weights[:, t]).abs().max())
            gaps.append((cached.cached_out[t] - full.out[t]).abs().max())
        assert done.step_delta[t].item() == pytest.approx(max(gaps).item(), rel=1e-6, abs=1e-13)


@pytest.mark.parametrize("n", [65, 128, 300])
def test_a_long_text_is_compared_at_sampled_steps(n):
    settings = Settings(" ".join(f"w{i % 40}" for i in range(n)), prompt=10, layers=2, dtype="float64")
    done = run(settings)
    compared = done.compared.nonzero().flatten().tolist()
    assert compared[:10] == list(range(10)) and compared[-1] == n - 1
    steps = compared[9:]
    assert len(steps) == 10 and max(b - a for a, b in itertools.pairwise(steps)) <= (n - 10) / 9 + 1
    assert done.step_delta[~done.compared].isnan().all() and done.max_delta <= 1e-10
    broken = run(Settings(settings.text, prompt=10, layers=2, breaks="stale"))
    assert (broken.step_delta[steps[1:]] > 0.1).all()


def test_a_text_of_the_stage_is_compared_throughout():
    assert run(Settings(" ".join(f"w{i}" for i in range(64)))).compared.all()


@pytest.mark.parametrize("text", ["我", "Hi"])
@pytest.mark.parametrize("mask", ["causal", "bidirectional", "window", "prefix"])
def test_one_token(text, mask):
    done = run(Settings(text, mask=mask, layers=2))
    for layer in done.layers:
        assert layer.weights.tolist() == [[[1.0]], [[1.0]]] == layer.cached_weights.tolist()


@pytest.mark.parametrize("text", ["the cat saw the cat", "看一看", "<pad> <pad> <pad> <pad>"])
def test_repeated_tokens_keep_their_rows(text):
    done = run(Settings(text))
    n = len(done.tokens)
    assert n == {"看一看": 3}.get(text, len(text.split()))
    assert done.layers[0].weights.shape == (2, n, n) and done.step_delta.shape == (n,)
    again = run(Settings(text, positions="none", dtype="float64")).layers[0]
    first, last = 0, n - 1 if text.startswith(("看", "<")) else 3
    torch.testing.assert_close(again.x[first], again.x[last])


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("t", [0, 4, PROMPT, 12])
@pytest.mark.parametrize("name", ["k", "v", "weights", "out"])
def test_step_delta_is_measured_at_every_token(name, t, layer, monkeypatch):
    """One number of the cached run is spoilt on its way to the comparison: it shows, at its token and only there."""
    decode = runner.decode

    def spoilt(*arguments):
        decoded = decode(*arguments)
        layers = decoded.layers
        tensor = getattr(layers[layer], name).clone()
        tensor[(t, 1) if name == "out" else (1, t, 0)] += 0.25
        layers[layer] = dataclasses.replace(layers[layer], **{name: tensor})
        return decoded

    monkeypatch.setattr(runner, "decode", spoilt)
    done = run(Settings(TEXT, prompt=PROMPT, layers=2, dtype="float64"))
    assert done.step_delta[t].item() == pytest.approx(0.25)
    assert done.step_delta.sum().item() == pytest.approx(0.25)
