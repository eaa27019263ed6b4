"""KVCache: persistent, windowed, strict about what it takes."""

import dataclasses

import pytest
import torch

from attention import KVCache


def rows(n, n_heads=2, d_k=3, d_v=4, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    draw = [torch.randn(n_heads, n, width, generator=generator).to(dtype) for width in (d_k, d_v)]
    return draw[0], draw[1]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("chunks", [(1,), (4,), (1, 1, 1), (3, 1, 2)])
def test_holds_what_was_appended(dtype, chunks):
    cache, parts = KVCache.empty(2, 3, 4), []
    for seed, n in enumerate(chunks):
        parts.append(rows(n, seed=seed, dtype=dtype))
        cache = cache.append(*parts[-1])
    assert torch.equal(cache.k, torch.cat([k for k, _ in parts], 1))
    assert torch.equal(cache.v, torch.cat([v for _, v in parts], 1))
    assert len(cache) == sum(chunks) and cache.positions.tolist() == list(range(sum(chunks)))
    assert cache.k.dtype == cache.v.dtype == dtype
    assert cache.nbytes == 2 * sum(chunks) * 7 * dtype.itemsize


def test_an_empty_cache():
    cache = KVCache.empty(2, 3, 4, window=5)
    assert len(cache) == 0 and cache.nbytes == 0 and cache.positions.tolist() == []
    assert cache.k.shape == (2, 0, 3) and cache.v.shape == (2, 0, 4)


@pytest.mark.parametrize("window", [None, 3])
def test_branches_do_not_touch_each_other(window):
    root = KVCache.empty(2, 3, 4, window).append(*rows(3))
    before = root.k.clone(), root.v.clone()
    left, right = root.append(*rows(1, seed=1)), root.append(*rows(2, seed=2))
    kept = left.k.clone()
    right.append(*rows(1, seed=3)).k.fill_(7.0)
    assert torch.equal(root.k, before[0]) and torch.equal(root.v, before[1])
    assert torch.equal(left.k, kept) and len(root) == 3
    left.k.zero_()
    assert torch.equal(root.k, before[0]) and right.k.abs().sum() > 0


def test_later_changes_of_what_was_appended_do_not_reach_the_cache():
    k, v = rows(2)
    cache = KVCache.empty(2, 3, 4).append(k, v)
    before = cache.k.clone(), cache.v.clone()
    k.zero_(), v.zero_()
    assert torch.equal(cache.k, before[0]) and torch.equal(cache.v, before[1])


def test_a_window_does_not_keep_the_evicted_rows_alive():
    cache = KVCache.empty(2, 3, 4, window=2).append(*rows(100))
    assert cache.k.untyped_storage().nbytes() == cache.k.nbytes == 2 * 2 * 3 * 4


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        KVCache.empty(2, 3, 4).k = None


K, V = rows(2)
BAD = {
    "no rows": (K[:, :0], V[:, :0], r"^k: .*\(2, 0, 3\)"),
    "other heads": (K[:1], V[:1], r"^k: .*\(1, 2, 3\) arrived; floating \(2, T, 3\)"),
    "other k width": (K[..., :2], V, r"^k: .*\(2, 2, 2\)"),
    "other v width": (K, V[..., :2], r"^v: .*\(2, 2, 2\) arrived; floating \(2, T, 4\)"),
    "other lengths": (K, V[:, :1], r"^v: .*\(2, 1, 4\)"),
    "no head axis": (K[0], V[0], r"^k: .*\(2, 3\)"),
    "a batch": (K[None], V[None], r"^k: .*\(1, 2, 2, 3\)"),
    "two dtypes": (K, V.double(), "^v: torch.float64"),
    "whole numbers": (K.long(), V.long(), "^k: torch.int64"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("filled", [False, True])
def test_bad_chunks_name_culprit_and_needed(case, filled):
    cache = KVCache.empty(2, 3, 4)
    if filled:
        cache = cache.append(K, V)
    k, v, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        cache.append(k, v)


def test_the_first_append_sets_the_dtype():
    cache = KVCache.empty(2, 3, 4).append(K.double(), V.double())
    with pytest.raises(ValueError, match=r"^k: torch\.float32"):
        cache.append(K, V)
    with pytest.raises(ValueError, match=r"^k: torch\.float32"):
        KVCache.empty(2, 3, 4, window=1).append(K.half(), V.half()).append(K, V)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 3, 4), "n_kv_heads: 0"),
        ((2, 0, 4), "d_k: 0"),
        ((2, 3, -1), "d_v: -1"),
        ((2, 3, 4, 0), "window: 0"),
    ],
)
def test_bad_sizes(arguments, message):
    with pytest.raises(ValueError, match=message):
        KVCache.empty(*arguments)
