"""The model goes on by itself: each new token by its own probabilities, through the cache."""

import numpy as np
import pytest
import torch

from attention import Settings, run, trained
from attention.__main__ import main
from attention.forward import forward
from attention.generate import drawn_from
from tests.unit.small_models import LONGEST, fond_of, shelf, small_model

TEXT = "the cat sat on the mat"
CAUSAL = ["trained", "unguided", "onelayer"]
SHELF = trained.FOLDER
SHIPPED = [source for source in CAUSAL if trained.path_of(trained.NAMES[source]).exists()]


@pytest.fixture(autouse=True)
def small(tmp_path, monkeypatch):
    yield shelf(tmp_path, monkeypatch)
    trained.load.cache_clear()


@pytest.fixture
def shipped(monkeypatch):
    monkeypatch.setattr(trained, "FOLDER", SHELF)
    trained.load.cache_clear()


def greedy_without_cache(model, ids, count):
    """The likeliest next token again and again, everything worked out anew each time."""
    ids = list(ids)
    for _ in range(count):
        token = forward(model, torch.tensor([ids])).logits[0, -1].argmax().item()
        if token == model.vocabulary.end or len(ids) == len(model.positions):
            break
        ids.append(token)
    return ids


def check_greedy(source, text, prompt):
    done = run(Settings(text, source=source, generate=12, prompt=prompt))
    typed = Settings(text, source=source).encoded.ids
    assert list(done.ids) == greedy_without_cache(trained.load(source), typed, 12)
    assert done.ids[: done.typed] == typed and len(done.tokens) == len(done.ids)
    assert done.compared.all() and done.max_delta <= 1e-5
    for place in range(done.typed, len(done.ids)):
        assert done.probabilities[place - 1].argmax() == done.ids[place]


@pytest.mark.parametrize("text", [TEXT, "小明把书放在", "the iguana sat on", "cat", "🙂 the 猫"])
@pytest.mark.parametrize("source", CAUSAL)
def test_greedy_is_the_argmax_of_a_full_recompute(source, text):
    for seed in range(3):
        check_greedy(source, text, 1 + seed % len(Settings(text, source=source).tokens))


@pytest.mark.parametrize("text", ["小明把书放在桌子上。桌子很", "the trophy does not fit", "the iguana sat on the"])
@pytest.mark.parametrize("source", SHIPPED)
def test_greedy_is_the_argmax_of_a_full_recompute_in_the_shipped_files(source, text, shipped):
    check_greedy(source, text, 2)


def test_a_generated_token_is_a_step_like_any_other():
    """The run of the whole text, typed, gives the same tensors."""
    one = run(Settings(TEXT, source="trained", generate=4, prompt=3))
    other = run(Settings(" ".join(one.tokens), source="trained", prompt=3))
    assert other.ids == one.ids and other.typed == len(one.ids) == one.typed + 4
    for left, right in zip(one.layers, other.layers, strict=True):
        for name in ("cached_k", "cached_v", "cached_weights", "cached_out", "k", "weights", "cached_mlp"):
            assert torch.equal(getattr(left, name), getattr(right, name)), name
        assert torch.equal(left.cached_visible, right.cached_visible) and torch.equal(left.visible, right.visible)
    assert torch.equal(one.probabilities, other.probabilities)
    assert torch.equal(one.step_delta, other.step_delta)
    for name in ("multiplies_cached", "multiplies_full", "cache_bytes"):
        assert torch.equal(getattr(one, name), getattr(other, name))


def test_generated_tokens_are_in_the_ledger():
    done = run(Settings(TEXT, source="trained", generate=4, prompt=5))
    projections = 16 * 3 * 16 + 16 * 16  # q, k, v of both heads, and the way out, for one row
    full = [2 * (t * projections + 2 * t * t * 16) for t in range(5, 11)]
    cached = [full[0], *(2 * (projections + 2 * t * 16) for t in range(6, 11))]
    assert done.multiplies_full.tolist() == [0] * 4 + full and done.multiplies_cached.tolist() == [0] * 4 + cached
    assert done.cache_bytes.tolist() == [0] * 4 + [2 * t * 2 * 16 * 4 for t in range(5, 11)]


def test_more_generated_tokens_keep_those_before():
    short, long = (run(Settings(TEXT, source="trained", generate=n)) for n in (2, 6))
    assert long.ids[: len(short.ids)] == short.ids
    assert (short.stopped, len(short.ids) - short.typed) == ("asked", 2)
    assert run(Settings(TEXT, source="trained")).stopped is None


def test_it_stops_before_the_end_of_the_document(small):
    small.put("trained", fond_of(small_model("decoder-guided"), "<end>", 50.0))
    done = run(Settings(TEXT, source="trained", generate=5))
    assert done.tokens == tuple(TEXT.split()) and done.stopped == "end"
    n = len(done.tokens)
    assert done.probabilities.shape[0] == n == done.layers[0].weights.shape[1] == len(done.step_delta)
    assert done.vocabulary[done.probabilities[-1].argmax()] == "<end>"
    assert done.layers[0].cached_visible.shape == done.layers[0].cached_present.shape == (n, n)


def test_it_stops_where_positions_end(small):
    small.put("trained", fond_of(small_model("decoder-guided"), "cat", 50.0))
    done = run(Settings("the " * (LONGEST - 3), source="trained", generate=9))
    assert len(done.tokens) == LONGEST and done.tokens[-3:] == ("cat",) * 3 and done.stopped == "positions"


def test_a_generated_slot_is_shown_as_the_word_that_took_it(small):
    small.put("trained", fond_of(small_model("decoder-guided"), "<2>", 50.0))
    done = run(Settings("the iguana ate 榴莲", source="trained", generate=2))
    assert done.tokens[-2:] == ("ate", "ate") and done.vocabulary[done.ids[-1]] == "ate"


@pytest.mark.parametrize("breaks", ["stale", "position", "mask"])
def test_a_broken_cache_is_what_the_choice_is_made_from(breaks):
    done = run(Settings(TEXT, source="trained", generate=6, breaks=breaks))
    assert done.max_delta > 1e-2
    for place in range(done.typed, len(done.ids)):
        assert done.probabilities[place - 1].argmax() == done.ids[place]


# sampling


def sampled(**names):
    names = {"generate": 20, "sampling": "sample", "sampling_temperature": 3.0} | names
    return run(Settings(TEXT, source="trained", **names))


def test_the_seed_decides_a_sample():
    again = [sampled(sampling_seed=seed).ids for seed in (0, 0, 1, 2)]
    assert again[0] == again[1] and len(set(again)) == 3


def test_greedy_does_not_read_the_seed():
    one, other = (run(Settings(TEXT, source="trained", generate=9, sampling_seed=seed)).ids for seed in (0, 1))
    assert one == other == sampled(top_k=1, generate=9).ids, "nor does a sample of the likeliest alone"


@pytest.mark.parametrize("top_k", [2, 3, 5])
def test_a_sample_is_one_of_the_top_k(top_k):
    ranks = set()
    for seed in range(5):
        done = sampled(top_k=top_k, sampling_seed=seed)
        for place in range(done.typed, len(done.ids)):
            row = done.probabilities[place - 1]
            ranks.add((row > row[done.ids[place]]).sum().item())
    assert ranks == set(range(top_k))


def test_the_probabilities_are_the_model_s_own_whatever_is_drawn_from_them():
    done = sampled(sampling_seed=3)
    logits = forward(trained.load("trained"), torch.tensor([done.ids])).logits[0]
    torch.testing.assert_close(done.probabilities, logits.softmax(-1), atol=2e-6, rtol=1e-3)


def test_a_cold_sample_is_greedy():
    assert sampled(sampling_temperature=0.01, generate=9).ids == run(Settings(TEXT, source="trained", generate=9)).ids


@pytest.mark.parametrize("temperature", [0.01, 0.5, 1.0, 2.0, 100.0])
@pytest.mark.parametrize("top_k", [0, 1, 3, 10, 11, 1000])
def test_what_is_drawn_from(temperature, top_k):
    logits = torch.randn(10, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    shares = drawn_from(logits.softmax(0), temperature, top_k)
    kept = np.argsort(-logits.numpy())[: top_k if 0 < top_k < 10 else 10]
    powers = np.exp((logits.numpy()[kept] - logits.max().item()) / temperature)
    wanted = np.zeros(10)
    wanted[kept] = powers / powers.sum()
    np.testing.assert_allclose(shares, wanted, atol=1e-12)


def test_a_word_that_cannot_be_is_never_drawn():
    probabilities = torch.tensor([0.0, 1.0, 0.0])
    assert drawn_from(probabilities, 100.0, 0).tolist() == [0.0, 1.0, 0.0]


def test_samples_follow_the_probabilities():
    """Of 400 first words, each as often as the model says, within four standard deviations."""
    shares = drawn_from(sampled(generate=1).probabilities[len(TEXT.split()) - 1], 3.0, 0).numpy()
    counts = np.zeros(len(shares))
    for seed in range(400):
        done = sampled(generate=1, sampling_seed=seed)
        counts[done.ids[-1] if len(done.ids) > done.typed else trained.load("trained").vocabulary.end] += 1
    assert (abs(counts / 400 - shares) < 4 * np.sqrt(shares * (1 - shares) / 400) + 0.005).all()


def test_on_the_command_line(tmp_path, capsys):
    out = tmp_path / "run.npz"
    flags = ["--source", "trained", "--generate", "3", "--sampling", "sample", "--top-k", "5", "--sampling-seed", "4"]
    assert main(["run", TEXT, *flags, "--rank", "full", "--out", str(out)]) == 0
    done = run(Settings(TEXT, source="trained", generate=3, sampling="sample", top_k=5, sampling_seed=4))
    assert np.load(out)["ids"].tolist() == list(done.ids)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[1 : 2 + len(done.tokens) - 3]] == [*done.tokens[2:]]
    assert f"The model added {len(done.tokens) - done.typed} tokens: as asked." in lines
    assert f"Mean negative log-likelihood of the text: {done.nll:.2f} nats a token." in lines
