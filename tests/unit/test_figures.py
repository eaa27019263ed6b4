"""Figures show the run they are given: the numbers, the labels, the range, and the reader's text as text."""

import base64
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attention import Settings, run
from ui import exports, figures, matrices, ranges
from ui.figures import Axis, Cells, Words

WORDS = Words("value", "masked, −∞", "−∞")
FINE = ("float64", "float32")


def decoded(packed) -> np.ndarray:
    """An array as plotly writes it into JSON: plain lists, or base64 with a dtype and a shape."""
    if not isinstance(packed, dict):
        return np.array([[np.nan if value is None else value for value in row] for row in packed], float)
    flat = np.frombuffer(base64.b64decode(packed["bdata"]), dtype=np.dtype(packed["dtype"]))
    return flat.reshape([int(part) for part in str(packed["shape"]).split(",")])


def drawn(found: matrices.Matrix, **more) -> dict:
    """The figure of a matrix, as the browser gets it."""
    square = (found.kind.rows, found.kind.columns) == ("tokens", "tokens")
    figure = figures.heatmap(
        Cells(found.values, found.hidden, square),
        Axis("rows", found.rows),
        Axis("columns", found.columns),
        found.scale,
        WORDS,
        **more,
    )
    return json.loads(figure.to_json())


@pytest.fixture(scope="module")
def made():
    return run(
        Settings("the cat saw the cat", heads=4, kv_heads=2, layers=2, d_k=6, d_v=3, mask="window", width=2)
    )


@pytest.mark.parametrize("name", matrices.KINDS)
@pytest.mark.parametrize("layer, head", [(1, 1), (2, 4)])
def test_a_figure_holds_the_numbers_of_the_run(made, name, layer, head):
    found = matrices.matrix(made, layer, head, name)
    shown = decoded(drawn(found)["data"][0]["z"])
    hidden = np.zeros(shown.shape, bool) if found.hidden is None else found.hidden
    np.testing.assert_array_equal(shown[~hidden], found.values[~hidden])
    assert np.isnan(shown[hidden]).all()


def test_each_matrix_is_the_tensor_that_it_names(made):
    layer, head = made.layers[1], 3  # the last of four query heads, the second of two K/V heads
    expect = {
        "x": layer.x,
        "w_q": layer.w_q[:, 18:24],
        "w_k": layer.w_k[:, 6:12],
        "w_v": layer.w_v[:, 3:6],
        "q": layer.q[head],
        "k": layer.k[1],
        "v": layer.v[1],
        "raw": layer.raw[head],
        "scaled": layer.scaled[head],
        "masked": layer.masked[head],
        "weights": layer.weights[head],
        "mixed": layer.mixed[head],
        "w_o": layer.w_o[9:12],
        "out": layer.out,
    }
    assert set(expect) == set(matrices.KINDS)
    for name, tensor in expect.items():
        np.testing.assert_array_equal(matrices.matrix(made, 2, 4, name).values, tensor.double().numpy())


def test_the_matrices_of_a_head_follow_from_one_another(made):
    get = {name: matrices.matrix(made, 1, 3, name).values for name in matrices.KINDS}
    np.testing.assert_allclose(get["x"] @ get["w_q"], get["q"], atol=1e-5)
    np.testing.assert_allclose(get["x"] @ get["w_k"], get["k"], atol=1e-5)
    np.testing.assert_allclose(get["q"] @ get["k"].T, get["raw"], atol=1e-5)
    np.testing.assert_allclose(get["weights"] @ get["v"], get["mixed"], atol=1e-5)


@pytest.mark.parametrize(
    "text",
    ["the cat saw the cat", "看一看", "<pad> <pad> <pad> <pad>", "1 2 10", "2024-01-01 2024-01-02", "我"],
)
def test_n_tokens_are_n_rows_and_n_columns_on_integer_axes(text):
    made = run(Settings(text))
    n, layout = len(made.tokens), drawn(matrices.matrix(made, 1, 1, "weights"))["layout"]
    for axis in (layout["xaxis"], layout["yaxis"]):
        assert axis["type"] == "linear" and axis["tickvals"] == list(range(n)) and len(axis["ticktext"]) == n
        assert len(set(axis["ticktext"])) == n
    assert layout["yaxis"]["scaleanchor"] == "x"


def test_the_first_query_is_on_top_and_the_axes_are_named_in_words():
    layout = drawn(matrices.matrix(run(Settings("a b c d")), 1, 1, "weights"))["layout"]
    assert layout["yaxis"]["range"] == [3.5, -0.5] and layout["xaxis"]["range"] == [-0.5, 3.5]
    assert layout["yaxis"]["title"]["text"] == "rows" and layout["xaxis"]["title"]["text"] == "columns"


def test_a_causal_mask_hides_the_upper_triangle_with_a_look_and_a_hover_of_its_own():
    figure = drawn(matrices.matrix(run(Settings("a b c d")), 1, 1, "masked"))
    shown, gaps = figure["data"]
    above = np.triu(np.ones((4, 4), bool), 1)
    np.testing.assert_array_equal(np.isnan(decoded(shown["z"])), above)
    np.testing.assert_array_equal(~np.isnan(decoded(gaps["z"])), above)
    assert "masked, −∞" in gaps["hovertemplate"] and "masked" not in shown["hovertemplate"]
    np.testing.assert_array_equal(np.array(gaps["text"]) == "−∞", above)


def test_a_tie_to_the_reader_text_is_cut_everywhere():
    text = "<b>x</b> $a$ &amp; %{z} <br>"
    figure = drawn(matrices.matrix(run(Settings(text)), 1, 1, "weights"))
    ticks = figure["layout"]["xaxis"]["ticktext"]
    assert ticks[0] == "1 &lt;b&gt;x&lt;/b&gt;" and ticks[1] == "2 &#36;a&#36;" and ticks[2] == "3 &amp;amp"
    assert not any(re.search(r"[<>$]", tick) for tick in ticks)


def test_colours_are_fixed_for_the_whole_run(made):
    limit = ranges.scores(made)
    for layer in (1, 2):
        for head in (1, 2, 3, 4):
            for name in ("raw", "scaled", "masked"):
                shown = drawn(matrices.matrix(made, layer, head, name))["data"][0]
                assert (shown["zmin"], shown["zmax"]) == (-limit, limit)
            shown = drawn(matrices.matrix(made, layer, head, "weights"))["data"][0]
            assert (shown["zmin"], shown["zmax"]) == (0, 1)
    largest = max(one.raw.abs().max().item() for one in made.layers)
    assert largest <= limit <= 1.5 * max(largest, *(one.scaled.abs().max().item() for one in made.layers))


def test_the_inspector_colours_as_the_stage_does():
    script = (Path(figures.__file__).parent / "stage" / "03-colour.js").read_text(encoding="utf-8")
    for ramp in figures.RAMPS.values():
        for stops in ramp.values():
            assert ", ".join(f'"{stop}"' for stop in stops) in script
    assert f"const CURVE = {figures.CURVE};" in script


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_positive_is_blue_negative_is_red_and_zero_is_neither(theme):
    scale = figures.colours(ranges.Scale(-1, 1, True), theme)
    rgb = [tuple(map(int, re.findall(r"\d+", colour))) for _, colour in scale]
    (low_red, _, low_blue), (zero_red, _, zero_blue), (high_red, _, high_blue) = (
        rgb[0],
        rgb[len(rgb) // 2],
        rgb[-1],
    )
    assert low_red > low_blue and high_blue > high_red and abs(zero_red - zero_blue) < 16
    assert [place for place, _ in scale] == sorted(place for place, _ in scale)


def test_zoom_survives_another_head_and_goes_with_another_shape(made):
    first, second = (drawn(matrices.matrix(made, 1, head, "raw"), keep="5×5")["layout"] for head in (1, 2))
    assert first["uirevision"] == second["uirevision"] == "5×5"


def test_many_tokens_get_labels_that_fit_and_all_of_them_in_the_hover():
    made = run(Settings("the <b> " * 60))
    axis = drawn(matrices.matrix(made, 1, 1, "raw"))["layout"]["xaxis"]
    assert axis["labelalias"]["0"] == "1 the" and axis["labelalias"]["119"] == "120 &lt;b&gt;"
    assert "ticktext" not in axis and axis["type"] == "linear"


@pytest.mark.parametrize(
    "number, limit", [(0, 1), (1, 1), (4.9, 5), (5.1, 6), (0.031, 0.04), (999, 1000), (11, 12)]
)
def test_a_range_is_rounded_up_to_a_number_that_reads_well(number, limit):
    assert ranges.round_up(number) == pytest.approx(limit)


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", ["weights", "masked", "w_o", "x"])
def test_a_csv_comes_back_as_the_numbers(tmp_path, name, dtype):
    made = run(Settings('say "hi", =1+1 <b> 我', dtype=dtype))
    found = matrices.matrix(made, 1, 2, name)
    written = exports.csv(found, dtype, "masked")
    assert not re.search(rb"(?i)nan|inf", written)
    (tmp_path / "m.csv").write_bytes(written)
    frame = pd.read_csv(tmp_path / "m.csv", index_col=0, na_values=["masked"])
    back, hidden = (
        frame.to_numpy(),
        np.zeros(found.values.shape, bool) if found.hidden is None else found.hidden,
    )
    np.testing.assert_allclose(
        back[~hidden], found.values[~hidden], rtol=1e-15 if dtype == "float64" else 1e-8
    )
    assert np.isnan(back[hidden]).all()
    if found.kind.rows == "tokens":
        assert [label.split(" ", 1)[1] for label in frame.index] == list(made.tokens)


def test_no_cell_of_a_csv_can_pass_for_a_formula():
    found = matrices.matrix(run(Settings("=1+1 @x -y +z")), 1, 1, "weights")
    assert all(label[0].isdigit() for label in found.rows + found.columns)
