"""Laws that hold for any sizes and numbers: attend, masks, cache, tokens."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import KVCache, attend, bidirectional, causal, padding, prefix_lm, sliding_window
from attention.tokens import characters, visible, words
from tests.unit import reference

settings.register_profile("unit", deadline=None, max_examples=60)
settings.load_profile("unit")

SMALL = st.integers(1, 6)


def draw(*shape, seed):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


@st.composite
def problems(draws):
    """q, k, v, visible of any small sizes; some rows may see nothing."""
    heads, n_q, n_k, d_k, d_v, seed = *(draws(SMALL) for _ in range(5)), draws(st.integers(0, 10**6))
    sizes = [(heads, n_q, d_k), (heads, n_k, d_k), (heads, n_k, d_v), (n_q, n_k)]
    q, k, v, chance = (draw(*size, seed=seed + i) for i, size in enumerate(sizes))
    return (
        q * draws(st.sampled_from([0.0, 1.0, 30.0])),
        k,
        v,
        chance > draws(st.sampled_from([-9.0, 0.0, 1.0])),
    )


@given(problems())
def test_weights_are_shares_of_the_visible_keys(problem):
    q, k, v, visible_keys = problem
    trace = attend(q, k, v, visible_keys)
    sees = visible_keys.any(-1).double()
    assert (trace.weights >= 0).all() and (trace.weights[:, ~visible_keys] == 0).all()
    torch.testing.assert_close(trace.weights.sum(-1), sees.expand_as(trace.weights[..., 0]))
    np.testing.assert_allclose(trace.weights, reference.softmax(trace.scaled.numpy(), visible_keys.numpy()), atol=1e-12)
    low, high = v.amin(1, keepdim=True).clamp(max=0), v.amax(1, keepdim=True).clamp(min=0)
    assert ((trace.mixed >= low - 1e-9) & (trace.mixed <= high + 1e-9)).all()


@given(problems(), st.integers(0, 1000))
def test_the_order_of_the_keys_does_not_matter(problem, seed):
    q, k, v, visible_keys = problem
    order = torch.from_numpy(np.random.default_rng(seed).permutation(k.shape[1]))
    one = attend(q, k, v, visible_keys)
    other = attend(q, k[:, order], v[:, order], visible_keys[:, order])
    torch.testing.assert_close(one.mixed, other.mixed)
    torch.testing.assert_close(one.weights[..., order], other.weights)


@given(problems(), st.floats(-50, 50))
def test_a_constant_bias_and_a_hidden_key_change_nothing(problem, constant):
    q, k, v, visible_keys = problem
    one = attend(q, k, v, visible_keys)
    moved = attend(q, k, v, visible_keys, bias=torch.tensor([[constant]], dtype=torch.float64))
    torch.testing.assert_close(one.weights, moved.weights, atol=1e-9, rtol=0)
    hidden = ~visible_keys.any(0)  # no query reads these keys: whatever they hold does not count
    k, v = (torch.where(hidden[:, None], torch.full_like(x, 99.0), x) for x in (k, v))
    torch.testing.assert_close(one.mixed, attend(q, k, v, visible_keys).mixed)


@given(problems())
def test_one_query_at_a_time_gives_the_same(problem):
    q, k, v, visible_keys = problem
    whole = attend(q, k, v, visible_keys)
    for i in range(q.shape[1]):
        row = attend(q[:, i : i + 1], k, v, visible_keys[i : i + 1])
        torch.testing.assert_close(row.mixed[:, 0], whole.mixed[:, i])


@given(st.integers(1, 12), st.integers(1, 14), st.integers(0, 14), st.data())
def test_masks(n_k, width, prefix, data):
    n_q = data.draw(st.integers(1, n_k))
    keep = data.draw(st.lists(st.booleans(), min_size=n_k, max_size=n_k))
    past, window, ahead = causal(n_q, n_k), sliding_window(n_q, n_k, width), prefix_lm(n_q, n_k, prefix)
    assert past.sum(1).tolist() == list(range(n_k - n_q + 1, n_k + 1))
    assert window.sum(1).tolist() == [min(width, n) for n in range(n_k - n_q + 1, n_k + 1)]
    assert ahead.sum(1).tolist() == [max(min(prefix, n_k), n) for n in range(n_k - n_q + 1, n_k + 1)]
    assert torch.equal(past & window, window) and torch.equal(past | ahead, ahead)
    for rule in (bidirectional, causal):
        assert torch.equal(rule(n_q, n_k), rule(n_k, n_k)[n_k - n_q :])
    assert torch.equal(padding(keep, n_q) & past, past & torch.tensor(keep))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.none() | st.integers(1, 7), st.data())
def test_the_cache_is_persistent_and_keeps_the_last_keys(chunks, window, data):
    total = sum(chunks)
    k, v = draw(2, total, 3, seed=total), draw(2, total, 1, seed=total + 1)
    caches, start = [KVCache.empty(2, 3, 1, window)], 0
    for n in chunks:
        caches.append(caches[-1].append(k[:, start : start + n], v[:, start : start + n]))
        start += n
    other = data.draw(st.integers(0, len(chunks)))
    branch = caches[other].append(draw(2, 2, 3, seed=0), draw(2, 2, 1, seed=1))
    branch.k.fill_(5.0)
    for cache, end in zip(caches, np.cumsum([0, *chunks]).tolist(), strict=True):
        first = 0 if window is None else max(0, end - window)
        assert cache.positions.tolist() == list(range(first, end)) and len(cache) == end - first
        assert torch.equal(cache.k.double(), k[:, first:end]) and torch.equal(cache.v.double(), v[:, first:end])
        assert cache.nbytes == (0 if end == 0 else 2 * (end - first) * 4 * 8)


@given(st.text(max_size=40))
def test_no_character_of_a_text_is_lost(text):
    assert "".join(characters(text)) == text
    assert "".join(words(text)) == "".join(text.split())
    assert all(words(text)) and all(characters(text))


@given(st.text(max_size=12))
def test_a_label_is_never_blank_and_always_one_line(text):
    for token in (*characters(text), *words(text)):
        label = visible(token)
        assert label.strip() and label.isspace() is False
        assert len(label.splitlines()) == 1 and "\t" not in label
