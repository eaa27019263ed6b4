"""Every break shows in step_delta; one that cannot change anything is told apart, with its reason."""

import dataclasses
import random

import pytest
import torch

from attention import Settings, idle_breaks, run
from attention.settings import BREAKS, CHOICES

TEXT = "the cat sat on the mat and the dog"
CACHED = ("cached_x", "cached_q", "cached_k", "cached_v", "cached_weights", "cached_mixed", "cached_out")


def with_break(settings, name):
    return run(dataclasses.replace(settings, breaks=name))


def cached_change(one, other):
    pairs = zip(one.layers, other.layers, strict=True)
    return max((getattr(a, name) - getattr(b, name)).abs().max().item() for a, b in pairs for name in CACHED)


@pytest.mark.parametrize("dtype", CHOICES["dtype"])
@pytest.mark.parametrize("positions", ["sinusoidal", "rotary", "alibi"])
@pytest.mark.parametrize("mask", ["causal", "window"])
@pytest.mark.parametrize("name", BREAKS)
def test_every_break_shows(name, mask, positions, dtype):
    settings = Settings(TEXT, layers=2, mask=mask, positions=positions, dtype=dtype, prompt=4)
    assert name not in idle_breaks(settings)
    right, wrong = run(settings), with_break(settings, name)
    assert right.max_delta < 0.01
    assert wrong.step_delta[4] > 0.05, "it shows in the first decode step"
    assert (wrong.step_delta[:4] < 0.01).all(), "and not before"


def test_position_tells_decoded_tokens_positions_from_0():
    settings = Settings("a b c d e f", prompt=4, positions="sinusoidal", dtype="float64")
    right, wrong = run(settings), with_break(settings, "position")
    plain = run(dataclasses.replace(settings, positions="none"))
    signal = right.layers[0].x - plain.layers[0].x
    told = wrong.layers[0].cached_x - plain.layers[0].x
    torch.testing.assert_close(told, torch.cat((signal[:4], signal[:2])))
    torch.testing.assert_close(wrong.layers[0].x, right.layers[0].x)


def test_position_turns_decoded_rows_by_positions_from_0():
    settings = Settings("a b c a b c", prompt=3, positions="rotary", dtype="float64")
    wrong = with_break(settings, "position").layers[0]
    torch.testing.assert_close(wrong.cached_k[:, 3:], wrong.cached_k[:, :3])
    assert (wrong.k[:, 3:] - wrong.k[:, :3]).abs().max() > 0.1


def test_position_measures_distances_from_0():
    settings = Settings("a b c d e f", prompt=4, positions="alibi", dtype="float64")
    bias = with_break(settings, "position").layers[0].cached_bias[0]
    assert (bias[5] / bias[1, 0]).tolist() == [1, 0, 1, 2, 1, 0]


@pytest.mark.parametrize(
    ("mask", "width", "reads"),
    [("causal", 3, "100000"), ("prefix", 2, "110000"), ("window", 4, "000000"), ("window", 5, "100000")],
)
def test_mask_gives_the_new_row_the_first_rows_mask(mask, width, reads):
    settings = Settings("a b c d e f", prompt=2, mask=mask, width=width, dtype="float64")
    wrong = with_break(settings, "mask").layers[0]
    row = 5 if mask != "window" else 4
    assert "".join("01"[cell] for cell in wrong.cached_visible[row].int().tolist()) == reads
    sums = wrong.cached_weights[:, row].sum(-1)
    assert sums.tolist() == pytest.approx([float("1" in reads)] * 2)
    assert reads != "000000" or (wrong.cached_mixed[:, row] == 0).all()


def test_stale_keeps_the_key_of_the_token_before():
    settings = Settings("a b c d e f", prompt=3, layers=2, dtype="float64")
    right, wrong = run(settings), with_break(settings, "stale")
    for before, after in zip(right.layers, wrong.layers, strict=True):
        torch.testing.assert_close(after.cached_k[:, 3], after.cached_k[:, 2])
        torch.testing.assert_close(after.cached_k[:, :3], before.cached_k[:, :3])
        assert (after.cached_k[:, 4] - after.cached_k[:, 3]).abs().max() > 0.1
    torch.testing.assert_close(wrong.layers[0].cached_v, right.layers[0].cached_v)
    assert (wrong.step_delta[3:] > 0.1).all(), "it stays so"


def test_causal_lets_old_rows_change():
    """Both paths lose the mask; with two layers the recompute's old keys leave those in the cache."""
    settings = Settings("a b c d e f", prompt=3, layers=2, dtype="float64")
    wrong = with_break(settings, "causal")
    assert wrong.layers[0].visible.all() and wrong.layers[0].cached_visible[:3, :3].all()
    assert (wrong.layers[1].k[:, :3] - wrong.layers[1].cached_k[:, :3]).abs().max() > 0.1
    torch.testing.assert_close(wrong.layers[0].k, wrong.layers[0].cached_k)
    assert (wrong.step_delta[3:] > 0.1).all() and (wrong.step_delta[:3] < 1e-10).all()


def test_with_a_break_old_rows_are_compared_too():
    """The stale row is the first decode step's; at the last step it is still in the cache and counted."""
    settings = Settings("a b c d e f", prompt=3, dtype="float64")
    layer = (wrong := with_break(settings, "stale")).layers[0]
    assert wrong.step_delta[5] >= (layer.k - layer.cached_k)[:, 3].abs().max() > 0.1
    rolled = with_break(dataclasses.replace(settings, mask="window", width=1), "stale")
    assert rolled.step_delta[3] > 0.1 and (rolled.step_delta[4:] < 1e-10).all(), "evicted, it is gone"


REASONS = [
    ({"prompt": 9}, dict.fromkeys(BREAKS, "no_decode")),
    ({"layers": 2}, {}),
    ({}, {"causal": "one_layer"}),
    ({"layers": 2, "positions": "none"}, {"position": "no_positions"}),
    ({"layers": 2, "mask": "bidirectional"}, {"mask": "same_mask", "causal": "not_causal"}),
    ({"layers": 2, "mask": "prefix", "width": 9}, {"mask": "same_mask", "causal": "not_causal"}),
    ({"layers": 2, "mask": "prefix", "width": 8}, {}),
    ({"layers": 2, "mask": "window", "width": 1, "positions": "alibi"}, {"position": "narrow_window"}),
    (
        {"layers": 2, "mask": "window", "width": 2, "positions": "alibi", "prompt": 2},
        {"position": "narrow_window"},
    ),
    ({"layers": 2, "mask": "window", "width": 2, "positions": "alibi", "prompt": 3}, {}),
    ({"layers": 2, "mask": "window", "width": 1, "positions": "rotary"}, {}),
    ({"text": "a b b c", "positions": "alibi"}, {"stale": "same_row", "causal": "one_layer"}),
    ({"text": "a b b c", "positions": "alibi", "layers": 2}, {}),
    ({"text": "a b b c", "layers": 2}, {}),
    ({"text": "b b b c", "positions": "alibi", "layers": 3}, {"stale": "same_row"}),
    ({"text": "b b b b", "positions": "alibi", "layers": 3}, {"stale": "same_row", "causal": "same_tokens"}),
    ({"text": "b b b b", "positions": "rotary", "layers": 3}, {"causal": "same_tokens"}),
    # A window that moves on by one token may hold the same tokens as before, though ALiBi still tells them apart.
    (
        {"text": "a b b c", "positions": "none", "layers": 2, "mask": "window", "width": 1},
        {"position": "no_positions", "stale": "same_row"},
    ),
    (
        {"text": "a b a a c", "positions": "none", "layers": 2, "mask": "window", "width": 3, "prompt": 3},
        {"position": "no_positions", "stale": "same_row"},
    ),
    ({"text": "a b a a c", "positions": "alibi", "layers": 2, "mask": "window", "width": 3, "prompt": 3}, {}),
]


@pytest.mark.parametrize(("changes", "reasons"), REASONS)
def test_idle_breaks_come_with_their_reason(changes, reasons):
    settings = Settings(**{"text": TEXT} | changes)
    assert idle_breaks(settings) == reasons
    everything = dataclasses.replace(settings, breaks=BREAKS)
    assert idle_breaks(everything) == reasons, "breaks that are on do not count"


def random_settings(seed):
    draw = random.Random(seed)
    n = draw.choice([1, 2, 3, 4, 5, 8])
    alphabet = draw.choice(["a", "ab", "ab", "abc"])
    sizes = {"heads": draw.choice([1, 2]), "kv_heads": 1, "layers": draw.choice([1, 2, 3])}
    names = {name: draw.choice(CHOICES[name]) for name in ("mask", "positions", "pairing")}
    more = {
        "width": draw.choice([1, 1, 2, 2, 3, 5]),
        "prompt": draw.randint(1, n),
        "seed": draw.randint(0, 99),
    }
    text = " ".join(draw.choice(alphabet) for _ in range(n))
    return Settings(text, dtype="float64", **sizes, **names, **more)


FIXED = [Settings(**{"text": TEXT, "dtype": "float64"} | changes) for changes, _ in REASONS]


@pytest.mark.parametrize("settings", FIXED + [random_settings(seed) for seed in range(150)], ids=lambda s: s.text)
def test_idle_breaks_are_exactly_those_that_change_nothing(settings):
    right, idle = run(settings), idle_breaks(settings)
    for name in BREAKS:
        wrong = with_break(settings, name)
        moved = (wrong.step_delta - right.step_delta).abs().max().item()
        changed = cached_change(right, wrong)
        if name not in idle:
            assert moved > 1e-6 and wrong.max_delta > 1e-6, (name, settings)
        elif name == "causal" and idle[name] != "not_causal":
            assert moved < 1e-10, (name, settings)
        else:
            assert changed < 1e-10, (name, settings)
