"""Masks cell by cell, positions against loops, and their errors."""

import math

import numpy as np
import pytest
import torch

from attention import (
    alibi_bias,
    alibi_slopes,
    bidirectional,
    causal,
    padding,
    prefix_lm,
    rotate,
    sinusoidal,
    sliding_window,
)
from tests.unit import reference

MASKS = {
    "bidirectional": lambda n_q, n_k, width: bidirectional(n_q, n_k),
    "causal": lambda n_q, n_k, width: causal(n_q, n_k),
    "window": sliding_window,
    "prefix": prefix_lm,
}


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("n_k", [1, 2, 5, 9])
@pytest.mark.parametrize("width", [0, 1, 3, 5, 100])
def test_masks_cell_by_cell(kind, n_k, width):
    if kind == "window" and width == 0:
        return
    square = reference.mask(kind, n_k, width)
    for n_q in range(1, n_k + 1):
        got = MASKS[kind](n_q, n_k, width)
        assert got.dtype == torch.bool
        assert np.array_equal(got.numpy(), square[n_k - n_q :]), "the queries are the last n_q positions"


def test_more_queries_than_keys():
    assert bidirectional(5, 2).tolist() == [[True] * 2] * 5
    for call in (lambda: causal(5, 2), lambda: sliding_window(5, 2, 1), lambda: prefix_lm(5, 2, 1)):
        with pytest.raises(ValueError, match="n_q: 5 queries arrived for 2 keys"):
            call()


@pytest.mark.parametrize("keep", [[True, False, True], torch.tensor([True, False, True]), [1, 0, 1]])
def test_padding_hides_keys_only(keep):
    assert padding(keep, 4).tolist() == [[True, False, True]] * 4
    both = causal(3, 3) & padding(keep, 3)
    assert both.tolist() == [[True, False, False], [True, False, False], [True, False, True]]


def test_padding_is_a_mask_of_its_own():
    keep = torch.tensor([True, False])
    visible = padding(keep, 3)
    visible[0] = True
    assert keep.tolist() == [True, False] and visible[1].tolist() == [True, False]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: causal(0, 3), "n_q: 0 arrived"),
        (lambda: causal(1, -3), "n_k: -3 arrived"),
        (lambda: bidirectional(2.5, 3), r"n_q: 2\.5 arrived"),
        (lambda: bidirectional(True, 3), "n_q: True arrived"),
        (lambda: sliding_window(3, 3, 0), "width: 0 arrived"),
        (lambda: prefix_lm(3, 3, -1), "prefix: -1 arrived"),
        (lambda: padding([True, 2], 3), "keep: 2 arrived"),
        (lambda: padding([], 3), r"keep: .*\(0,\) arrived"),
        (lambda: padding(torch.ones(3), 3), "keep: torch.float32"),
        (lambda: padding(bidirectional(2, 2), 3), r"keep: .*\(2, 2\) arrived"),
        (lambda: sinusoidal(-1, 4), "n: -1 arrived"),
        (lambda: sinusoidal(2, 0), "d_model: 0 arrived"),
        (lambda: sinusoidal(2, 4, base=0), "base: 0 arrived"),
        (lambda: rotate(torch.zeros(2, 5), [0, 1]), "x: width 5 arrived"),
        (lambda: rotate(torch.zeros(2, 4), [0, 1, 2]), r"x: .*\(2, 4\) with positions of shape \(3,\)"),
        (lambda: rotate(torch.zeros(1, 4), [0, 1]), r"x: .*\(1, 4\) with positions of shape \(2,\)"),
        (lambda: rotate(torch.zeros(2, 4).long(), [0, 1]), "x: torch.int64"),
        (lambda: rotate(torch.zeros(2, 4), [0, 1], pairing="thirds"), "pairing: 'thirds' arrived"),
        (lambda: alibi_slopes(0), "n_heads: 0 arrived"),
        (lambda: alibi_bias(2, 4, 3), "n_q: 4 queries"),
    ],
)
def test_errors_name_what_arrived(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("d_model", [1, 2, 5, 16, 255, 256])
@pytest.mark.parametrize("start", [0, 1, 37])
def test_sinusoidal_for_every_width(d_model, start):
    got = sinusoidal(6, d_model, start=start)
    assert got.dtype == torch.float32 and got.shape == (6, d_model)
    np.testing.assert_allclose(got.numpy(), reference.sinusoid(6, d_model, start), atol=1e-6)


def test_sinusoidal_base_is_used():
    assert sinusoidal(2, 4, base=100.0)[1, 2].item() == pytest.approx(math.sin(0.1), abs=1e-6)


@pytest.mark.parametrize("pairing", ["interleaved", "halves"])
@pytest.mark.parametrize("d", [2, 4, 10, 64])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_rotate_against_rotation_matrices(pairing, d, dtype):
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((2, 3, 4, d))).to(dtype)
    positions = [0, 1, 7, 500]
    got = rotate(x, positions, pairing=pairing)
    wanted = reference.rotate(x.double().numpy(), positions, pairing)
    tolerance = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 2e-3}[dtype]
    assert got.dtype == dtype
    np.testing.assert_allclose(got.double().numpy(), wanted, atol=tolerance)
    assert torch.equal(got, rotate(x, torch.tensor(positions), pairing=pairing))


@pytest.mark.parametrize("pairing", ["interleaved", "halves"])
@pytest.mark.parametrize("n", [1, 2, 30])
def test_rotary_scores_depend_on_the_distance(pairing, n):
    q, k = torch.from_numpy(np.random.default_rng(1).standard_normal((2, n, 8)))
    near = rotate(q, range(n), pairing=pairing) @ rotate(k, range(n), pairing=pairing).mT
    far = rotate(q, range(90, 90 + n), pairing=pairing) @ rotate(k, range(90, 90 + n), pairing=pairing).mT
    torch.testing.assert_close(near, far, atol=1e-10, rtol=0)
    moved = rotate(q, range(1, 1 + n), pairing=pairing) @ rotate(k, range(n), pairing=pairing).mT
    assert (moved - near).abs().max() > 0.05


def test_the_pairings_differ_by_a_shuffle():
    x = torch.from_numpy(np.random.default_rng(2).standard_normal((3, 8)))
    shuffle = [0, 2, 4, 6, 1, 3, 5, 7]
    interleaved, halves = rotate(x, range(3)), rotate(x[:, shuffle], range(3), pairing="halves")
    torch.testing.assert_close(interleaved[:, shuffle], halves)
    assert not torch.allclose(interleaved, rotate(x, range(3), pairing="halves"))


@pytest.mark.parametrize("n_heads", [1, 2, 3, 5, 6, 7, 8, 12, 16, 24, 32])
def test_slopes_follow_the_authors(n_heads):
    np.testing.assert_allclose(alibi_slopes(n_heads).numpy(), reference.slopes(n_heads), rtol=1e-6)


@pytest.mark.parametrize(("n_heads", "n_q", "n_k"), [(1, 4, 4), (3, 4, 4), (8, 1, 6), (2, 2, 5)])
def test_alibi_bias_cell_by_cell(n_heads, n_q, n_k):
    got = alibi_bias(n_heads, n_q, n_k)
    np.testing.assert_allclose(got.numpy(), reference.alibi(n_heads, n_k)[:, n_k - n_q :], rtol=1e-6)
    assert not torch.signbit(got[got == 0]).any(), "a minus zero would be shown as -0"
