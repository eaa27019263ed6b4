"""Training: the loss falls, a run that stops and goes on is the run that never stopped, links guide their heads."""

from dataclasses import replace
from random import Random
from statistics import fmean

import pytest
import torch

from attention import batches
from attention.forward import forward
from attention.grammar import FAMILIES, vocabulary_words, write
from attention.lexicon import LANGUAGES
from attention.measure import greedy, held_out, on_antecedent, twin
from attention.recipes import FAMILY_RECIPES, ONE_LAYER, RECIPES, rows_of
from attention.shelf import gradients, shelf_documents, shelf_rows
from attention.tokeniser import Vocabulary
from attention.train import Recipe, advance, begin, finished, load_checkpoint, loss_of, rate_at, save_checkpoint
from attention.trained import tensors

WORDS = Vocabulary(vocabulary_words())
SMALL = Recipe("small", d_model=16, d_k=8, d_v=8, d_ff=32, steps=24, batch=8)
KINDS = {
    "guided": SMALL,
    "not guided": replace(SMALL, guided=False),
    "encoder": replace(SMALL, kind="encoder"),
    "one layer": replace(SMALL, guided=False, task="shelf", layers=1, heads=1, d_ff=0),
    "one layer, not scaled": replace(SMALL, guided=False, task="shelf", layers=1, heads=1, d_ff=0, scaled=False),
}


def losses(recipe, state, until):
    heard = []
    return advance(recipe, state, until, lambda step, loss: heard.append((step, loss))), heard


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_falls(kind):
    recipe = replace(KINDS[kind], rate=1e-2, steps=30, batch=24)
    _, heard = losses(recipe, begin(recipe, WORDS), recipe.steps)
    assert [step for step, _ in heard] == list(range(1, recipe.steps + 1))
    first, last = (fmean(loss for _, loss in part) for part in (heard[:6], heard[-6:]))
    assert last < first - 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_run_is_the_unbroken_one(kind, tmp_path):
    recipe = KINDS[kind]
    whole = advance(recipe, begin(recipe, WORDS), 11)
    broken = advance(recipe, begin(recipe, WORDS), 5)
    save_checkpoint(broken, tmp_path / "checkpoint.pt")
    del broken
    resumed = advance(recipe, load_checkpoint(recipe, tmp_path / "checkpoint.pt", WORDS), 11)
    assert resumed.step == whole.step == 11
    for name, tensor in tensors(whole.model).items():
        assert torch.equal(tensor, tensors(resumed.model)[name]), name


def test_another_seed_is_another_model():
    first, second = (finished(begin(replace(SMALL, seed=seed), WORDS)) for seed in (0, 1))
    assert not torch.equal(first.embedding, second.embedding)


def test_the_rate_warms_up_and_fades():
    recipe = replace(SMALL, steps=1000)
    rates = [rate_at(recipe, step) for step in range(1000)]
    peak = rates.index(max(rates))
    assert rates[:peak] == sorted(rates[:peak]) and rates[peak:] == sorted(rates[peak:], reverse=True)
    assert max(rates) == pytest.approx(recipe.rate) and rates[-1] < recipe.rate / 50


@pytest.mark.parametrize("kind", ["decoder", "encoder"])
def test_a_batch_depends_on_seed_and_step_alone(kind):
    def draw(seed, step):
        batches._pool.cache_clear()
        return batches.stream(kind, "grammar", seed, step, 100, 8, WORDS)

    assert torch.equal(draw(0, 3).ids, draw(0, 3).ids)
    assert draw(0, 3).ids.shape != draw(0, 4).ids.shape or not torch.equal(draw(0, 3).ids, draw(0, 4).ids)
    assert draw(0, 3).ids.shape != draw(1, 3).ids.shape or not torch.equal(draw(0, 3).ids, draw(1, 3).ids)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_decoder_is_asked(family, language):
    documents = [write(Random(seed), family, language) for seed in range(6)]
    batch = batches.decoder_batch(documents, WORDS)
    for number, document in enumerate(documents):
        line = [WORDS.ids[token] for token in document.tokens] + [WORDS.end]
        n = len(line)
        assert batch.ids[number, :n].tolist() == line
        assert batch.targets[number, : n - 1].tolist() == line[1:]
        assert (batch.weights[number, n - 1 :] == 0).all() and (batch.weights[number, : n - 1] > 0).all()
        assert batch.keep[number].sum() == n
    for links in batch.links.values():
        assert (links.key <= links.row).all()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("family", FAMILIES)
def test_what_an_encoder_is_asked(family, language):
    documents = [write(Random(seed), family, language) for seed in range(6)]
    batch = batches.encoder_batch(documents, WORDS, Random(0))
    hidden = batch.ids == WORDS.mask
    assert torch.equal(hidden, batch.weights > 0) and hidden.any(1).all()
    assert torch.equal(batch.ids[~hidden], batch.targets[~hidden])
    for number, document in enumerate(documents):
        n = batch.keep[number].sum()
        assert batch.targets[number, :n].tolist() == [WORDS.ids[token] for token in document.tokens[:n]]
    for links in batch.links.values():
        assert batch.keep[links.document, links.row].all() and batch.keep[links.document, links.key].all()


@pytest.mark.parametrize("kind", ["decoder", "encoder"])
def test_every_row_of_a_head_counts_once(kind):
    batch = batches.stream(kind, "grammar", 0, 0, 3, 32, WORDS)
    for head, links in batch.links.items():
        rows = links.document * 1000 + links.row
        wholes = {1.0, batches.SIDE[kind]} if head in (batches.COPY, batches.OPENER) else {1.0}
        for row in rows.unique():
            assert round(links.share[rows == row].sum().item(), 5) in wholes


def test_padding_changes_nothing():
    documents = [write(Random(seed), "fit", "en") for seed in range(3)]
    documents.append(write(Random(1), "induction", "en"))
    recipe = replace(SMALL, kind="encoder")
    model = finished(begin(recipe, WORDS))
    batch = batches.encoder_batch(documents, WORDS, Random(0))
    together = forward(model, batch.ids, batch.keep)
    for number in range(len(documents)):
        n = int(batch.keep[number].sum())
        alone = forward(model, batch.ids[number : number + 1, :n])
        torch.testing.assert_close(together.logits[number, :n], alone.logits[0], atol=1e-5, rtol=1e-5)


def test_guidance_is_what_tells_the_recipes_apart():
    state = begin(SMALL, WORDS)
    batch = batches.stream("decoder", "grammar", 0, 0, 24, 8, WORDS)
    guided, plain = (loss_of(replace(SMALL, guided=on), state.model, batch).item() for on in (True, False))
    assert guided > plain


def test_the_row_of_it_and_its_twin():
    for language in LANGUAGES:
        for family in ("fit", "put", "chase"):
            for number, document in enumerate(held_out(family, language, 8)):
                other = twin(document, Random(number))
                assert document.ahead[0][0] == other.ahead[0][0] and document.ahead[0][1] != other.ahead[0][1]
                changed = [a != b for a, b in zip(document.tokens, other.tokens, strict=True)]
                assert sum(changed[: document.tail]) == 1
                again = twin(other, Random(0))
                assert again.ahead == document.ahead


def test_measures_are_shares():
    model = finished(begin(replace(SMALL, kind="encoder"), WORDS))
    assert 0 < on_antecedent(model, held_out("put", "zh", 4)) < 1
    one = finished(begin(KINDS["one layer"], WORDS))
    rows = shelf_rows(one, shelf_documents("en", 20))
    assert 0 < rows["link"] < 1 and 0 < rows["entropy"] < 3
    assert all(value > 0 for value in gradients(one, 8).values())


def test_greedy_stops_at_the_end_or_at_the_last_position():
    model = finished(begin(SMALL, WORDS))
    for line, prompt in zip(greedy(model, [("the",), ("小明", "把")]), (("the",), ("小明", "把")), strict=True):
        assert line[: len(prompt)] == prompt and len(line) <= 56


def test_the_gradient_of_the_scores_is_the_softmax_jacobian_at_work():
    """The closed form a (g - a.g) against autograd through the scores themselves."""
    scores = torch.randn(5, 7, dtype=torch.float64, requires_grad=True)
    a = scores.softmax(-1)
    a.retain_grad()
    (a * torch.randn(5, 7, dtype=torch.float64)).sum().backward()
    closed = a * (a.grad - (a * a.grad).sum(-1, keepdim=True))
    torch.testing.assert_close(closed, scores.grad)


def test_the_recipes_differ_where_the_card_says_so():
    guided, plain = RECIPES[0], RECIPES[1]
    assert replace(plain, name=guided.name, guided=True) == guided
    assert len({recipe.name for recipe in (*RECIPES, *FAMILY_RECIPES)}) == 16
    assert not ONE_LAYER.guided and not any(recipe.guided for recipe in FAMILY_RECIPES)


def test_rows_of_a_layer_are_those_that_enter_it():
    recipe = replace(SMALL, steps=1)
    model = finished(begin(recipe, WORDS))
    rows = rows_of(recipe, model)
    assert len(rows) == 2 and all(x.shape[1] == 16 and len(x) > 100 for x in rows)
