"""Twin sentences: what differs where, and what cannot."""

import numpy as np
import pytest
import torch

from attention import Settings, run
from ui import twins

ONE, OTHER = "the cat sat on the mat .", "the cat sat on the book ."


def made(**settings) -> twins.Twins:
    return twins.pair(*(run(Settings(sentence, **settings)) for sentence in (ONE, OTHER)))


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_rows_before_the_changed_word_cannot_differ_under_a_causal_mask(layers):
    found = made(layers=layers)
    assert found.changed == [5]
    assert found.blind.tolist() == [True] * 5 + [False] * 2
    values = twins.differences(found, 1)
    assert values.shape == (7, 8 * layers) and (values[:5] == 0).all() and (values[5:] > 0).any()


def test_they_can_where_every_row_reads_every_row():
    found = made(layers=2, mask="bidirectional")
    assert not found.blind.any()
    values = twins.differences(found, 2)
    assert (values[:5, :4] == 0).all()  # x, q, k, v of layer 1: nothing has been read yet
    assert (values[:5, 5:] > 0).any(axis=1).all()


@pytest.mark.parametrize("layers, last", [(1, 6), (2, 7), (3, 8)])
def test_a_window_hides_the_changed_word_again(layers, last):
    one, other = "a b c d e f g h i j", "a b c d e X g h i j"
    runs = [run(Settings(sentence, layers=layers, mask="window", width=2)) for sentence in (one, other)]
    blind = twins.pair(*runs).blind
    assert [place for place in range(10) if not blind[place]] == list(range(5, last + 1))
    assert (twins.differences(twins.pair(*runs), 1)[blind] == 0).all()


def test_a_difference_is_a_share():
    a = torch.tensor([[1.0, 0.0], [0.5, 0.5], [0.0, 0.0], [3.0, -1.0]])
    b = torch.tensor([[0.0, 1.0], [0.2, 0.8], [0.0, 0.0], [3.0, -1.0]])
    np.testing.assert_allclose(twins.apart(a, b), [1, 0.3, 0, 0], atol=1e-7)


def test_hidden_scores_do_not_count():
    found = made()
    column = twins.stages(found).index((1, "scaled"))
    raw = twins.apart(found.one.layers[0].scaled[0], found.other.layers[0].scaled[0])
    assert raw[0] > 0 and twins.differences(found, 1)[0, column] == 0


def test_both_words_stand_where_they_differ():
    assert made().labels == ["1 the", "2 cat", "3 sat", "4 on", "5 the", "6 mat / book", "7 ."]


def test_the_telling_row_reads_differently_before_the_changed_word():
    found = made(layers=2, mask="bidirectional")
    row = twins.telling_row(found, 1)
    moved = twins.apart(*(each.layers[-1].weights[0] for each in (found.one, found.other)))
    assert row < 5 and moved[row] == moved[:5].max()
    assert twins.telling_row(made(layers=2), 1) == 5
