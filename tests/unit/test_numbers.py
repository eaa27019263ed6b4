"""Inputs with their right values, each the cure of a fault that real code has shipped, and their kinds."""

import math

import numpy as np
import pytest
import torch

from attention import (
    KVCache,
    Settings,
    alibi_bias,
    alibi_slopes,
    attend,
    causal,
    prefix_lm,
    repeat_kv,
    rotate,
    run,
    sinusoidal,
    sliding_window,
    split_heads,
)
from attention.counting import cache_size, cached_multiplies, full_multiplies

DTYPES = {torch.float64: 1e-6, torch.float32: 1e-6, torch.bfloat16: 4e-3, torch.float16: 5e-4}
SOFTMAX = {
    "along the keys of one query": (
        [[2, 0, 0], [0, 2, 0], [2, 2, 2]],
        [[0.786986, 0.106507, 0.106507], [0.106507, 0.786986, 0.106507], [0.333333, 0.333333, 0.333333]],
    ),
    "saturated": ([[1, 2, 20]], [[5.602796320815466e-09, 1.5229979427429876e-08, 0.9999999791672243]]),
    "the same divided by 8": ([[0.125, 0.25, 2.5]], [[0.077615, 0.087949, 0.834436]]),
    "large scores": ([[1000, 1000, 999]], [[0.422319, 0.422319, 0.155362]]),
    "same ranking, other magnitude": (
        [[1, 2, 3], [10, 20, 30]],
        [[0.090031, 0.244728, 0.665241], [0.0, 4.5e-05, 0.999955]],
    ),
    "routing": ([[-1.8, 0.7, 4.2, 2.3]], [[0.002097, 0.025542, 0.845849, 0.126512]]),
}


def weights_of(scores, dtype=torch.float64, visible=None):
    """The weights attend gives to wanted raw scores: q holds the scores, the keys are unit vectors."""
    scores = torch.as_tensor(scores, dtype=dtype)
    n_k = scores.shape[-1]
    keys = torch.eye(n_k, dtype=dtype)
    return attend(scores[None], keys[None], keys[None], visible, scale=1.0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", SOFTMAX)
def test_softmax(name, dtype):
    scores, wanted = SOFTMAX[name]
    trace = weights_of(scores, dtype)
    # A score of 4.2 or 999 is itself rounded in half precision: what counts is the softmax of what arrived.
    exact = torch.softmax(torch.tensor(scores, dtype=dtype).double(), -1)
    torch.testing.assert_close(trace.weights[0].double(), exact, atol=DTYPES[dtype], rtol=0)
    if dtype in (torch.float64, torch.float32):
        wanted = torch.tensor(wanted, dtype=torch.float64)
        torch.testing.assert_close(trace.weights[0].double(), wanted, atol=1e-6, rtol=0)
    torch.testing.assert_close(trace.mixed, trace.weights)


def test_saturated_weights_keep_their_small_parts():
    wanted = torch.tensor([[5.602796320815466e-09, 1.5229979427429876e-08, 0.9999999791672243]]).double()
    got = weights_of([[1, 2, 20]]).weights[0]
    torch.testing.assert_close(got, torch.tensor(SOFTMAX["saturated"][1]).double(), rtol=1e-6, atol=0)
    assert got[0, 0] > 0 and wanted[0, 0] > 0


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_causal_keeps_the_diagonal(n, dtype):
    weights = weights_of(torch.zeros(n, n), dtype, causal(n, n)).weights[0]
    wanted = torch.tensor([[1 / (i + 1) if j <= i else 0.0 for j in range(n)] for i in range(n)])
    torch.testing.assert_close(weights.float(), wanted, atol=DTYPES[dtype], rtol=0)
    assert (weights[torch.arange(n), torch.arange(n)] > 0).all()


@pytest.mark.parametrize("n_k", [1, 2, 5, 33])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_one_new_query_reads_all_earlier_keys(n_k, dtype):
    """An upper-left causal mask would give 0.0."""
    values = torch.arange(n_k, dtype=dtype)[None, :, None]
    zeros = torch.zeros(1, n_k, 4, dtype=dtype)
    output = attend(zeros[:, :1], zeros, values, causal(1, n_k)).mixed
    assert output.item() == pytest.approx((n_k - 1) / 2, rel=1e-2 if dtype == torch.bfloat16 else 1e-3)


@pytest.mark.parametrize(("n", "width", "keys"), [(6, 3, [1, 2, 3, 3, 3, 3]), (4, 1, [1, 1, 1, 1]), (3, 9, [1, 2, 3])])
def test_a_window_counts_the_query_itself(n, width, keys):
    visible = sliding_window(n, n, width)
    assert visible.sum(1).tolist() == keys
    assert visible.diagonal().all()


@pytest.mark.parametrize(
    ("n", "prefix", "rows"),
    [
        (5, 2, ["11000", "11000", "11100", "11110", "11111"]),
        (3, 0, ["100", "110", "111"]),
        (3, 1, ["100", "110", "111"]),
        (3, 3, ["111", "111", "111"]),
        (3, 7, ["111", "111", "111"]),
    ],
)
def test_prefix_lm(n, prefix, rows):
    got = ["".join("01"[cell] for cell in row) for row in prefix_lm(n, n, prefix).int().tolist()]
    assert got == rows


@pytest.mark.parametrize(("d_model", "n_heads", "divisor"), [(512, 8, 8.0), (512, 512, 1.0), (768, 12, 8.0)])
def test_scale_is_of_one_head(d_model, n_heads, divisor):
    x = torch.randn(3, d_model, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    heads = split_heads(x, n_heads)
    trace = attend(heads, heads, heads)
    torch.testing.assert_close(trace.scaled, trace.raw / divisor)


@pytest.mark.parametrize(
    ("n_heads", "n_kv_heads", "shared"),
    [(4, 2, [0, 0, 1, 1]), (6, 2, [0, 0, 0, 1, 1, 1]), (3, 1, [0, 0, 0]), (3, 3, [0, 1, 2])],
)
@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
def test_grouped_heads_share_keys_in_blocks(n_heads, n_kv_heads, shared, batch):
    x = torch.arange(n_kv_heads).view(n_kv_heads, 1, 1).expand(*batch, n_kv_heads, 2, 3)
    got = repeat_kv(x, n_heads // n_kv_heads)
    assert got.shape == (*batch, n_heads, 2, 3)
    assert got[(0,) * len(batch)][:, 0, 0].tolist() == shared


@pytest.mark.parametrize("batch", [(), (2,)])
def test_splitting_heads_keeps_tokens_apart(batch):
    x = torch.arange(24).reshape(4, 6).expand(*batch, 4, 6)
    got = split_heads(x, 3)
    assert got[..., 0, :, :][(0,) * len(batch)].tolist() == [[0, 1], [6, 7], [12, 13], [18, 19]]


def test_sinusoidal_positions():
    rows = {0: [0, 1, 0, 1], 1: [0.841471, 0.540302, 0.0099998, 0.99995]}
    rows[2] = [0.909297, -0.416147, 0.0199987, 0.9998]
    for position, row in rows.items():
        wanted = torch.tensor(row, dtype=torch.float32)
        torch.testing.assert_close(sinusoidal(3, 4)[position], wanted, atol=1e-6, rtol=0)
        torch.testing.assert_close(sinusoidal(1, 4, start=position)[0], wanted, atol=1e-6, rtol=0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rotary_interleaved(dtype):
    x = torch.tensor([[1, 0, 1, 0]], dtype=dtype)
    wanted = torch.tensor([[0.540302, 0.841471, 0.99995, 0.0099998]])
    torch.testing.assert_close(rotate(x, [1]).float(), wanted, atol=DTYPES[dtype], rtol=0)


@pytest.mark.parametrize("shift", [0, 1, 40, 1000])
def test_rotary_scores_know_the_distance_alone(shift):
    x = torch.tensor([[1, 0, 1, 0]], dtype=torch.float64)
    score = (rotate(x, [5 + shift]) * rotate(x, [3 + shift])).sum().item()
    assert score == pytest.approx(0.583653, abs=1e-6)


def test_alibi_slopes():
    assert alibi_slopes(8).tolist() == [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625]


def test_alibi_weights():
    bias = alibi_bias(8, 4, 4)[0, 3]
    assert bias.tolist() == [-1.5, -1, -0.5, 0]
    assert alibi_bias(8, 1, 4)[0, 0].tolist() == bias.tolist()
    zeros = torch.zeros(1, 4, 2)
    weights = attend(zeros[:, :1], zeros, zeros, bias=bias).weights[0, 0]
    wanted = torch.tensor([0.101536, 0.167405, 0.276004, 0.455054])
    torch.testing.assert_close(weights, wanted, atol=1e-6, rtol=0)


@pytest.mark.parametrize("chunks", [[1] * 9, [9], [4, 5], [8, 1], [1, 8]])
@pytest.mark.parametrize("window", [8, 1, 3, 20])
def test_rolling_window(chunks, window):
    keys = [10.0, 10.1, 10.2, 10.3, 10.4, 10.5, 10.6, 10.7, 10.8]
    cache = KVCache.empty(1, 1, 1, window=window)
    for chunk in torch.tensor(keys, dtype=torch.float64).view(1, 9, 1).split(chunks, dim=1):
        cache = cache.append(chunk, -chunk)
    assert cache.k.flatten().tolist() == keys[-window:]
    assert cache.v.flatten().tolist() == [-key for key in keys[-window:]]
    assert cache.positions.tolist() == list(range(9))[-window:]


@pytest.mark.parametrize(("prompt", "n"), [(1, 8), (3, 8), (8, 8), (1, 1), (1, 20)])
def test_work_of_cached_steps(prompt, n):
    """8 tokens from a prompt of 1: 36 score cells with the cache, 204 without."""
    done = run(Settings("a b c d e f g h i j k l m n o p q r s t"[: 2 * n - 1], prompt=prompt))
    cells_cached = done.layers[0].cached_present.sum().item()
    cells_full = sum(t * t for t in range(prompt, n + 1))
    assert cells_cached == prompt * prompt + sum(range(prompt + 1, n + 1))
    if (prompt, n) == (1, 8):
        assert (cells_cached, cells_full) == (36, 204)
    assert cells_cached == (~done.layers[0].cached_raw[0].isnan()).sum().item()
    # Multiplies are linear in the score cells of each step: H heads times (Dk + Dv) for each.
    projections = 16 * (2 * 8 + 2 * 8 + 2 * 8) + 2 * 8 * 16
    assert done.multiplies_cached.sum().item() == n * projections + cells_cached * 2 * 16
    tokens_full = sum(range(prompt, n + 1))
    assert done.multiplies_full.sum().item() == tokens_full * projections + cells_full * 2 * 16


@pytest.mark.parametrize(("dtype", "element"), [(torch.float16, 2), (torch.bfloat16, 2), (torch.float32, 4)])
def test_bytes_of_a_llama_token(dtype, element):
    """524,288 bytes a token in half precision, 32 layers of 32 heads of 128."""
    sizes = {"layers": 32, "kv_heads": 32, "d_k": 128, "d_v": 128}
    assert cache_size(1, bytes_per_element=element, **sizes) == 262144 * element
    row = torch.zeros(32, 1, 128, dtype=dtype)
    assert 32 * KVCache.empty(32, 128, 128).append(row, row).nbytes == 262144 * element


@pytest.mark.parametrize(("d_k", "std"), [(4, 2.0), (64, 8.0), (512, 22.6)])
def test_undivided_dot_products_spread(d_k, std):
    numbers = np.random.default_rng(0).standard_normal((2, 10000, 1, d_k))
    q, k = torch.from_numpy(numbers)
    trace = attend(q, k, k)
    assert trace.raw.std().item() == pytest.approx(std, rel=0.05)
    assert trace.scaled.std().item() == pytest.approx(1.0, rel=0.05)


def test_one_step_of_counting_by_hand():
    sizes = {"d_model": 3, "heads": 4, "kv_heads": 2, "d_k": 5, "d_v": 7}
    projections = 3 * (4 * 5 + 2 * 5 + 2 * 7) + 4 * 7 * 3
    assert cached_multiplies(6, **sizes) == projections + 4 * 6 * 5 + 4 * 6 * 7
    assert full_multiplies(6, **sizes) == 6 * projections + 4 * 36 * 5 + 4 * 36 * 7
    assert math.isclose(full_multiplies(1, **sizes), cached_multiplies(1, **sizes))
