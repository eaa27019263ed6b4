"""attend, heads and their errors, against numpy loops and torch's own fused attention."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from attention import attend, bidirectional, causal, merge_heads, padding, repeat_kv, split_heads
from tests.unit import reference

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 3e-2, torch.float16: 4e-3}


def draw(*shape, seed=0, dtype=torch.float64):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape)).to(dtype)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("lead", [(2,), (3, 2), (2, 1, 3)])
@pytest.mark.parametrize(("n_q", "n_k", "d_k", "d_v"), [(4, 4, 8, 8), (1, 6, 3, 5), (5, 2, 1, 1)])
@pytest.mark.parametrize("masked", [False, True])
def test_agrees_with_fused_attention(dtype, lead, n_q, n_k, d_k, d_v, masked):
    q, k, v = draw(*lead, n_q, d_k, dtype=dtype), draw(*lead, n_k, d_k, seed=1, dtype=dtype), None
    v = draw(*lead, n_k, d_v, seed=2, dtype=dtype)
    visible = draw(n_q, n_k, seed=3) > 0 if masked else None
    if masked:
        visible[:, 0] = True  # the fused kernel gives NaN where a query sees no key
    trace = attend(q, k, v, visible)
    fused = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
    torch.testing.assert_close(trace.mixed, fused, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])
    assert trace.mixed.dtype == dtype and trace.weights.dtype == dtype


def test_causal_agrees_with_the_fused_flag():
    q, k, v = (draw(2, 7, 4, seed=seed) for seed in range(3))
    fused = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(attend(q, k, v, causal(7, 7)).mixed, fused)


def test_grouped_heads_agree_with_the_fused_flag():
    q, k, v = draw(1, 4, 5, 8), draw(1, 2, 5, 8, seed=1), draw(1, 2, 5, 8, seed=2)
    fused = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    torch.testing.assert_close(attend(q, repeat_kv(k, 2), repeat_kv(v, 2)).mixed, fused)


@pytest.mark.parametrize("scale", [None, 1.0, 0.3, -2.0, 0.0])
@pytest.mark.parametrize("with_bias", [False, True])
def test_every_field_of_the_trace(scale, with_bias):
    q, k, v = draw(2, 3, 4), draw(2, 5, 4, seed=1), draw(2, 5, 6, seed=2)
    bias = draw(2, 3, 5, seed=3) if with_bias else None
    visible = causal(3, 5) & padding([True, False, True, True, True], 3)
    trace = attend(q, k, v, visible, scale=scale, bias=bias)
    raw = np.einsum("hid,hjd->hij", q.numpy(), k.numpy())
    scaled = raw * (0.5 if scale is None else scale) + (bias.numpy() if with_bias else 0)
    weights = reference.softmax(scaled, visible.numpy())
    wanted = {"q": q, "k": k, "v": v, "raw": raw, "scaled": scaled, "weights": weights}
    wanted["masked"] = np.where(visible.numpy(), scaled, -np.inf)
    wanted["mixed"] = np.einsum("hij,hjd->hid", weights, v.numpy())
    for name, value in wanted.items():
        np.testing.assert_allclose(getattr(trace, name).numpy(), value, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("shape", [(3, 5), (1, 5), (3, 1), (5,), (2, 3, 5), (4, 1, 3, 5), (1, 1)])
def test_visible_and_bias_broadcast(shape):
    q, k, v = draw(4, 2, 3, 4), draw(4, 2, 5, 4, seed=1), draw(4, 2, 5, 4, seed=2)
    visible, bias = draw(*shape, seed=3) > -0.5, draw(*shape, seed=4)
    spread = [x.expand(4, 2, 3, 5).clone() for x in (visible, bias)]
    got, wanted = attend(q, k, v, visible, bias=bias), attend(q, k, v, spread[0], bias=spread[1])
    assert torch.equal(got.weights, wanted.weights) and got.masked.shape == (4, 2, 3, 5)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_a_query_that_sees_no_key_reads_nothing(dtype):
    q, k, v = (draw(2, 3, 4, seed=seed, dtype=dtype) for seed in range(3))
    visible = bidirectional(3, 3)
    visible[1] = False
    trace = attend(q, k, v, visible)
    assert (trace.weights[:, 1] == 0).all() and (trace.mixed[:, 1] == 0).all()
    others = attend(q, k, v)
    assert torch.equal(trace.weights[:, ::2], others.weights[:, ::2])
    by_bias = attend(q, k, v, bias=torch.zeros(3, 3, dtype=dtype).masked_fill(~visible, -math.inf))
    assert torch.equal(by_bias.weights, trace.weights)


def test_gradients_stay_finite_where_a_query_sees_no_key():
    q, k, v = (draw(1, 3, 4, seed=seed).requires_grad_() for seed in range(3))
    attend(q, k, v, torch.tensor([[False], [True], [True]])).mixed.sum().backward()
    assert all(x.grad.isfinite().all() for x in (q, k, v)) and v.grad.abs().sum() > 0


def test_no_keys_at_all():
    trace = attend(draw(2, 3, 4), draw(2, 0, 4), draw(2, 0, 5))
    assert trace.weights.shape == (2, 3, 0) and trace.mixed.tolist() == torch.zeros(2, 3, 5).tolist()


@pytest.mark.parametrize("culprit", ["q", "k", "v", "bias"])
@pytest.mark.parametrize("number", [math.nan, math.inf])
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_numbers_that_are_not_finite_are_named(culprit, number, dtype):
    inputs = {name: draw(2, 3, 3, seed=seed, dtype=dtype) for seed, name in enumerate(("q", "k", "v", "bias"))}
    inputs[culprit][1, 2, 0] = number
    with pytest.raises(ValueError, match=rf"^{culprit}: "):
        attend(**inputs)


def test_a_scale_that_is_not_finite_is_named():
    q = draw(1, 2, 2)
    with pytest.raises(ValueError, match="scale: nan"):
        attend(q, q, q, scale=math.nan)


def test_an_overflow_is_named_with_its_dtype():
    q = torch.full((1, 2, 4), 200.0, dtype=torch.float16)
    with pytest.raises(ValueError, match=r"q\.k: .*float16"):
        attend(q, q, q)
    assert attend(q.float(), q.float(), q.float()).weights.sum().item() == 2
    with pytest.raises(ValueError, match=r"q\.k \* 1e\+04"):
        attend(q / 50, q / 50, q, scale=1e4)


def test_large_finite_numbers_are_no_overflow():
    """Their sum leaves float16 or float32, none of them does."""
    big = torch.full((1, 40, 1), 3e4, dtype=torch.float16)
    assert attend(big / 3e4, big, big).mixed.isfinite().all()
    huge = torch.full((1, 40, 1), 3e38)
    assert attend(huge / 3e38, huge, huge).mixed.isfinite().all()


Q, K, V = torch.zeros(2, 3, 4), torch.zeros(2, 5, 4), torch.zeros(2, 5, 6)
BAD_INPUTS = {
    "integer q": ((Q.long(), K, V), {}, r"^q: torch.int64 of shape \(2, 3, 4\)"),
    "flat q": ((Q[0, 0], K, V), {}, r"^q: .*\(4,\)"),
    "other dtype": ((Q, K.double(), V), {}, "^k: torch.float64"),
    "other width": ((Q, K[..., :3], V), {}, r"^k: shape \(2, 5, 3\)"),
    "other heads": ((Q, K[:1], V[:1]), {}, r"^k: shape \(1, 5, 4\).*repeat_kv"),
    "other batch": ((Q[None], K, V), {}, r"^k: shape \(2, 5, 4\)"),
    "a value too few": ((Q, K, V[:, :4]), {}, r"^v: shape \(2, 4, 6\)"),
    "float visible": ((Q, K, V, torch.zeros(3, 5)), {}, "^visible: torch.float32"),
    "wrong visible": ((Q, K, V, causal(4, 5)), {}, r"^visible: shape \(4, 5\).*\(2, 3, 5\)"),
    "wider visible": (
        (Q, K, V, bidirectional(3, 5).expand(7, 1, 3, 5)),
        {},
        r"^visible: shape \(7, 1, 3, 5\)",
    ),
    "wrong bias": ((Q, K, V), {"bias": torch.zeros(5, 3)}, r"^bias: shape \(5, 3\)"),
}


@pytest.mark.parametrize("case", BAD_INPUTS)
def test_bad_inputs_name_culprit_and_needed(case):
    arguments, options, message = BAD_INPUTS[case]
    with pytest.raises(ValueError, match=message) as error:
        attend(*arguments, **options)
    assert "needed" in str(error.value)


@pytest.mark.parametrize("n_heads", [1, 2, 3, 6])
def test_split_and_merge(n_heads):
    x = draw(2, 5, 6)
    heads = split_heads(x, n_heads)
    width = 6 // n_heads
    for head in range(n_heads):
        assert torch.equal(heads[:, head], x[..., head * width : (head + 1) * width])
    assert torch.equal(merge_heads(heads), x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: split_heads(Q, 3), r"x: shape \(2, 3, 4\).*3 heads"),
        (lambda: split_heads(Q, 0), "n_heads: 0"),
        (lambda: merge_heads(Q[0]), r"x: shape \(3, 4\)"),
        (lambda: repeat_kv(Q[0], 2), r"x: shape \(3, 4\)"),
        (lambda: repeat_kv(Q, 0), "n_rep: 0"),
        (lambda: repeat_kv(Q, 1.5), r"n_rep: 1\.5"),
    ],
)
def test_bad_heads(call, message):
    with pytest.raises(ValueError, match=message):
        call()
