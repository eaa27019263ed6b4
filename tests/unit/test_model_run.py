"""A trained source through the same run: against other implementations, through the cache, with heads altered."""

import dataclasses
import io
import json
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attention import Settings, SettingsError, idle_breaks, run, trained
from attention.__main__ import main
from attention.choices import CHOICES
from attention.export import as_bytes
from attention.rank import truncated
from tests.unit import reference
from tests.unit.small_models import LONGEST, fond_of, shelf, small_model

ROOT = Path(__file__).parents[2]
SHELF = trained.FOLDER
SHIPPED = [source for source, file in trained.NAMES.items() if trained.path_of(file).exists()]
CAUSAL = ["trained", "unguided", "onelayer"]
EN, ZH = "the cat sat on the red mat .", "小明把书放在桌子上。"
TEXTS = {
    "English": EN,
    "Chinese": ZH,
    "mixed": "the cat 把 书 放 在 mat 。",
    "unknown words": "the iguana sat on 榴莲 , the iguana 重",
    "more unknown words than slots": " ".join(f"w{i}x" for i in range(20)),
    "emoji": "the \U0001f469\u200d\U0001f469\u200d\U0001f467 sat 🇨🇳 on 👍🏽",
    "markup": '<b>x</b> "the" \\ <end> <1> \u200b x',
    "one token": "cat",
    "one letter": "书",
    "one emoji": "🙂",
    "as long as positions go": "the cat sat on the mat . " * 8,
}


@pytest.fixture(autouse=True)
def small(tmp_path, monkeypatch):
    """Every source is a small model with random weights, except in tests of the shipped files."""
    yield shelf(tmp_path, monkeypatch)
    trained.load.cache_clear()


@pytest.fixture
def shipped(monkeypatch):
    monkeypatch.setattr(trained, "FOLDER", SHELF)
    trained.load.cache_clear()


def model_of(source):
    return trained.load(source)


# other implementations, with the same weights


def as_torch(model):
    """The blocks as torch's own pre-norm encoder layers."""
    layers = []
    for block in model.blocks:
        layer = nn.TransformerEncoderLayer(
            model.d_model, model.heads, block.mlp_in.shape[1], 0.0, "gelu", model.eps, batch_first=True, norm_first=True
        ).eval()
        state = {
            "self_attn.in_proj_weight": torch.cat((block.w_q, block.w_k, block.w_v), 1).T,
            "self_attn.in_proj_bias": torch.zeros(3 * model.d_model),
            "self_attn.out_proj.weight": block.w_o.T,
            "self_attn.out_proj.bias": torch.zeros(model.d_model),
            "linear1.weight": block.mlp_in.T,
            "linear1.bias": block.mlp_in_bias,
            "linear2.weight": block.mlp_out.T,
            "linear2.bias": block.mlp_out_bias,
        }
        state |= {f"norm1.{name}": part for name, part in zip(("weight", "bias"), block.norm, strict=True)}
        state |= {f"norm2.{name}": part for name, part in zip(("weight", "bias"), block.mlp_norm, strict=True)}
        layer.load_state_dict(state)
        layers.append(layer)
    return layers


@pytest.mark.parametrize("source", ["trained", "unguided", "encoder"])
@pytest.mark.parametrize("text", [EN, ZH, TEXTS["unknown words"]])
def test_torch_s_own_modules_give_the_same(source, text):
    model, done = model_of(source), run(Settings(text, source=source))
    n = len(done.tokens)
    h = (model.embedding[list(done.ids)] + model.positions[:n])[None]
    hidden = None if source == "encoder" else nn.Transformer.generate_square_subsequent_mask(n)
    for layer, made in zip(as_torch(model), done.layers, strict=True):
        torch.testing.assert_close(made.residual, h[0], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(made.x, layer.norm1(h)[0], atol=1e-5, rtol=1e-5)
        x = layer.norm1(h)
        out, weights = layer.self_attn(x, x, x, attn_mask=hidden, average_attn_weights=False)
        torch.testing.assert_close(made.weights, weights[0], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(made.out, out[0], atol=1e-5, rtol=1e-5)
        h = layer(h, src_mask=hidden)
        torch.testing.assert_close(made.residual + made.out + made.mlp, h[0], atol=1e-5, rtol=1e-5)
    logits = F.layer_norm(h, (model.d_model,), *model.final_norm, model.eps) @ model.embedding.T
    torch.testing.assert_close(done.probabilities, logits.softmax(-1)[0], atol=1e-6, rtol=1e-4)


class Plain(nn.Module):
    """A pre-norm decoder or encoder written for this test: one fused attention call, no cache."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        m = self.model
        h = m.embedding[ids] + m.positions[: len(ids)]
        for b in m.blocks:
            x = self.norm(h, b.norm)
            q, k, v = ((x @ w).view(len(x), m.heads, -1).transpose(0, 1) for w in (b.w_q, b.w_k, b.w_v))
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=m.kind == "decoder", scale=m.d_k**-0.5)
            h = h + mixed.transpose(0, 1).reshape(len(x), -1) @ b.w_o
            if b.mlp_in is not None:
                inner = self.norm(h, b.mlp_norm) @ b.mlp_in + b.mlp_in_bias
                h = h + inner * (1 + torch.erf(inner / 2**0.5)) / 2 @ b.mlp_out + b.mlp_out_bias
        return h, (self.norm(h, m.final_norm) @ m.embedding.T).log_softmax(-1)

    def norm(self, h, parts):
        spread = h.var(-1, unbiased=False, keepdim=True) + self.model.eps
        return (h - h.mean(-1, keepdim=True)) * spread.rsqrt() * parts[0] + parts[1]


def check_against_plain(source, text, atol):
    done, plain = run(Settings(text, source=source)), Plain(model_of(source))
    h, log_p = plain(torch.tensor(done.ids))
    last = done.layers[-1]
    left = last.cached_residual + last.cached_out + (0.0 if last.mlp is None else last.cached_mlp)
    torch.testing.assert_close(left, h, atol=atol, rtol=1e-4)
    torch.testing.assert_close(done.probabilities, log_p.exp(), atol=atol, rtol=1e-3)
    if source != "encoder" and len(done.ids) > 1:
        surprise = -log_p[:-1].gather(1, torch.tensor(done.ids)[1:, None]).mean().item()
        assert done.nll == pytest.approx(surprise, rel=1e-4)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("source", trained.NAMES)
def test_a_plain_module_gives_the_same(source, text):
    check_against_plain(source, text, 2e-5)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("source", SHIPPED)
def test_a_plain_module_gives_the_same_as_the_shipped_files(source, text, shipped):
    check_against_plain(source, text, 2e-5)


# through the cache


def check_cached_equals_full(done, bound=1e-5, by_size=False):
    """Every array of the cached run and the full pass, to `bound`; `by_size`: to `bound` of its largest number."""
    largest = max(part.abs().max().item() for layer in done.layers for part in (layer.k, layer.v, layer.out))
    assert done.compared.all() and done.max_delta <= bound * (max(1.0, largest) if by_size else 1)
    for layer in done.layers:
        pairs = [(layer.cached_weights, layer.weights), (layer.cached_out, layer.out), (layer.cached_x, layer.x)]
        pairs += [(layer.cached_k, layer.k), (layer.cached_v, layer.v), (layer.cached_residual, layer.residual)]
        for cached, full in pairs + ([] if layer.mlp is None else [(layer.cached_mlp, layer.mlp)]):
            assert (cached - full).abs().max() <= bound * (max(1.0, full.abs().max()) if by_size else 1)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("source", CAUSAL)
def test_cached_equals_full(source, text):
    for prompt in {1, max(1, len(Settings(text, source=source).tokens) // 2)}:
        check_cached_equals_full(run(Settings(text, source=source, prompt=prompt)))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("source", [source for source in SHIPPED if source != "encoder"])
def test_cached_equals_full_in_the_shipped_files(source, text, shipped):
    """The guided decoder alone is asked by the size of its numbers, which go to 38: 2.1e-5 was measured in it."""
    settings = Settings(text, source=source, prompt=1, generate=8)
    check_cached_equals_full(run(settings), by_size=source == "trained")
    check_cached_equals_full(run(replace(settings, dtype="float64")), bound=1e-10)  # so it is rounding, and no more


@pytest.mark.parametrize("dtype", CHOICES["dtype"])
def test_every_dtype_runs(dtype):
    done = run(Settings(EN, source="trained", generate=3, dtype=dtype))
    assert done.max_delta < {"float64": 1e-12, "float32": 1e-5}.get(dtype, 0.2)
    assert done.probabilities.dtype == torch.float32 and done.layers[0].mlp.dtype == getattr(torch, dtype)
    torch.testing.assert_close(done.probabilities.sum(-1), torch.ones(len(done.tokens)))


@pytest.mark.parametrize("mask", ["window", "prefix", "bidirectional"])
def test_other_masks_stay_live(mask):
    done = run(Settings(EN, source="trained", mask=mask, width=2, prompt=3))
    rule = reference.mask(mask, len(done.tokens), 2)
    assert (done.layers[0].visible.numpy() == rule).all()
    assert (done.max_delta <= 1e-5) == (mask != "bidirectional")


def test_scale_and_temperature_stay_live():
    assert run(Settings(EN, source="trained")).layers[0].scale == 1 / 8**0.5
    assert run(Settings(EN, source="trained", scale="off", temperature=0.5)).layers[1].scale == 2.0


def test_the_encoder_takes_one_step_and_reads_ahead():
    done = run(Settings("the <mask> sat on _ .", source="encoder", prompt=2))
    n = len(done.tokens)
    assert done.settings.prompt == n and done.settings.mask == "bidirectional" and done.max_delta <= 1e-5
    assert all((layer.weights > 0).all() and layer.cached_present.all() for layer in done.layers)
    mask = model_of("encoder").vocabulary.mask
    assert [place for place, word in enumerate(done.ids) if word == mask] == [1, 4]
    assert done.multiplies_cached.count_nonzero() == 1
    assert set(idle_breaks(done.settings).values()) == {"no_decode"}
    other = run(Settings("the <mask> sat on _ 。", source="encoder"))
    assert (done.layers[1].weights[:, 0] - other.layers[1].weights[:, 0]).abs().max() > 1e-4, "the future counts"


def test_a_changed_future_leaves_the_past_alone():
    one, other = (run(Settings(f"the cat sat on {end}", source="trained")) for end in ("the mat", "red book"))
    for before, after in zip(one.layers, other.layers, strict=True):
        for name in ("x", "weights", "out", "mlp"):
            torch.testing.assert_close(getattr(before, name)[..., :4, :4], getattr(after, name)[..., :4, :4])
    torch.testing.assert_close(one.probabilities[:4], other.probabilities[:4])


def test_unknown_words_are_shown_as_they_were_typed():
    done = run(Settings("the iguana sat on 榴莲 the iguana", source="trained"))
    assert done.tokens == ("the", "iguana", "sat", "on", "榴莲", "the", "iguana")
    assert done.ids[1] == done.ids[6] != done.ids[4]
    assert done.vocabulary[done.ids[1]] == "iguana" and done.vocabulary[done.ids[4]] == "榴莲"
    assert done.vocabulary[done.ids[0]] == "the" and not done.settings.encoded.reused
    assert run(Settings(TEXTS["more unknown words than slots"], source="trained")).settings.encoded.reused


# breaks


@pytest.mark.parametrize("name", CHOICES["breaks"])
@pytest.mark.parametrize("source", CAUSAL)
def test_every_break_shows_or_is_idle(source, name):
    settings = Settings(EN, source=source, prompt=3)
    idle = idle_breaks(settings)
    assert idle == ({"causal": "one_layer"} if source == "onelayer" else {})
    done = run(dataclasses.replace(settings, breaks=name))
    assert (done.max_delta > 1e-2) == (name not in idle)
    assert done.step_delta[:3].max() < 1e-5


def drawn_settings(seed):
    draw = random.Random(seed)
    text = " ".join(draw.choice(["the cat sat", "the the the", "书"]) for _ in range(draw.randint(1, 3)))
    source = draw.choice(CAUSAL)
    plain = Settings(text, source=source)
    heads = [f"{layer}.{head}" for layer in range(1, plain.layers + 1) for head in range(1, plain.heads + 1)]
    some = {name: draw.sample(heads, draw.randint(0, len(heads))) for name in ("zeroed", "flattened")}
    more = {"mask": draw.choice(CHOICES["mask"]), "width": draw.choice([1, 2, 3, 9]), "dtype": "float64"}
    return Settings(text, source=source, prompt=draw.randint(1, len(plain.tokens)), **some, **more)


@pytest.mark.parametrize("seed", range(60))
def test_idle_breaks_are_exactly_those_that_change_nothing(seed):
    settings = drawn_settings(seed)
    right, idle = run(settings), idle_breaks(settings)
    for name in CHOICES["breaks"]:
        wrong = run(dataclasses.replace(settings, breaks=name))
        moved = (wrong.step_delta - right.step_delta).abs().max().item()
        if name not in idle:
            assert moved > 1e-6 and wrong.max_delta > 1e-6, (name, settings)
        elif name == "causal" and idle[name] != "not_causal":
            assert moved < 1e-10, "both paths lose the mask alike"
        else:
            assert cached_change(right, wrong) < 1e-10, (name, settings)


def cached_change(one, other):
    names = ("cached_x", "cached_k", "cached_v", "cached_weights", "cached_out")
    pairs = zip(one.layers, other.layers, strict=True)
    return max((getattr(a, name) - getattr(b, name)).abs().max().item() for a, b in pairs for name in names)


def test_position_tells_decoded_tokens_learned_positions_from_0():
    done, model = run(Settings(EN, source="trained", prompt=3, breaks="position")), model_of("trained")
    told = done.layers[0].cached_residual - model.embedding[list(done.ids)]
    torch.testing.assert_close(told, torch.cat((model.positions[:3], model.positions[:5])))


def test_a_break_of_generated_steps_is_not_idle_where_the_prompt_is_the_whole_text():
    n = len(Settings(EN, source="trained").tokens)
    assert idle_breaks(Settings(EN, source="trained", prompt=n)).keys() == set(CHOICES["breaks"])
    assert idle_breaks(Settings(EN, source="trained", prompt=n, generate=2)) == {}


def test_a_lower_layer_whose_heads_are_all_zeroed_hides_the_causal_break():
    settings = Settings(EN, source="trained", prompt=3, zeroed="1.1,1.2")
    assert idle_breaks(settings) == {"causal": "zeroed_layers"}
    assert run(dataclasses.replace(settings, breaks="causal")).max_delta < 1e-5


# heads altered


def test_a_zeroed_head_does_not_reach_out():
    right, wrong = run(Settings(EN, source="trained")), run(Settings(EN, source="trained", zeroed="1.2"))
    one, other = right.layers[0], wrong.layers[0]
    torch.testing.assert_close(one.mixed, other.mixed)
    torch.testing.assert_close(one.weights, other.weights)
    kept = one.mixed[0] @ one.w_o[:8]  # what head 1 adds by itself
    torch.testing.assert_close(other.out, kept, atol=1e-6, rtol=1e-5)
    assert (other.w_o[8:] == 0).all() and torch.equal(other.w_o[:8], one.w_o[:8])
    assert (right.layers[1].x - wrong.layers[1].x).abs().max() > 1e-3
    both = run(Settings(EN, source="trained", zeroed="1.2,1.1")).layers[0]
    assert (both.out == 0).all() and wrong.max_delta <= 1e-5


@pytest.mark.parametrize("mask", ["causal", "window"])
def test_a_flattened_head_weighs_evenly_what_it_may_read(mask):
    plain = run(Settings(EN, source="trained", mask=mask)).layers[1]
    done = run(Settings(EN, source="trained", mask=mask, flattened="2.1"))
    layer = done.layers[1]
    even = layer.visible / layer.visible.sum(-1, keepdim=True)
    torch.testing.assert_close(layer.weights[0], even)
    torch.testing.assert_close(layer.cached_weights[0], even)
    torch.testing.assert_close(layer.weights[1], plain.weights[1])
    torch.testing.assert_close(layer.v, plain.v)
    assert done.max_delta <= 1e-5


def test_full_rank_changes_nothing_and_less_does():
    plain = run(Settings(EN, source="trained"))
    full = run(Settings(EN, source="trained", rank=8))
    assert full.settings == plain.settings and plain.settings.to_dict()["rank"] == "full"
    for rank in (1, 3, 7):
        done = run(Settings(EN, source="trained", rank=rank))
        for layer in done.layers:
            for w in (layer.w_q, layer.w_k):
                heads = w.unflatten(1, (2, 8))
                assert (heads[..., rank:] == 0).all() and (heads[..., :rank] != 0).all()
            product = layer.w_q[:, :8] @ layer.w_k[:, :8].T
            assert torch.linalg.matrix_rank(product, atol=1e-5).item() == rank
        assert done.max_delta <= 1e-5 and (done.probabilities - plain.probabilities).abs().max() > 1e-4
        _, log_p = Cut(truncated(model_of("trained"), rank))(torch.tensor(done.ids))
        torch.testing.assert_close(done.probabilities, log_p.exp(), atol=2e-5, rtol=1e-3)


class Cut(Plain):
    """A model with fewer features of q and k at the scale of the whole one."""

    def __init__(self, model):
        stretch = (model.d_k / 8) ** 0.5
        blocks = tuple(dataclasses.replace(block, w_q=block.w_q * stretch) for block in model.blocks)
        super().__init__(dataclasses.replace(model, blocks=blocks))


# the file


def stored(done):
    return dict(np.load(io.BytesIO(as_bytes(done)), allow_pickle=False))


def norm_by_numpy(h, file, name):
    spread = np.sqrt(h.var(-1, keepdims=True) + file[f"{name}_eps"])
    return (h - h.mean(-1, keepdims=True)) / spread * file[f"{name}_gain"] + file[f"{name}_shift"]


def check_layer_by_numpy(file, number, heads, kind):
    got = {name.split(".")[1]: part for name, part in file.items() if name.startswith(f"{number}.")}
    n, d_k = len(got["x"]), got["q"].shape[-1]
    q, k, v = (
        (got["x"] @ got[w]).reshape(n, heads, -1).swapaxes(0, 1) for w in ("w_q", "w_k", "w_v")
    )
    raw = q @ k.swapaxes(1, 2)
    weights = reference.softmax(raw / np.sqrt(d_k), reference.mask(kind, n, 0))
    mixed = weights @ v
    out = mixed.swapaxes(0, 1).reshape(n, -1) @ got["w_o"]
    made = {"q": q, "k": k, "v": v, "raw": raw, "weights": weights, "mixed": mixed, "out": out}
    made["x"] = norm_by_numpy(got["residual"], got, "norm")
    if "mlp" in got:
        inner = torch.from_numpy(norm_by_numpy(got["residual"] + got["out"], got, "mlp_norm") @ got["mlp_w_in"])
        inner = inner.numpy() + got["mlp_b_in"]
        made["mlp"] = inner * torch.special.ndtr(torch.from_numpy(inner)).numpy() @ got["mlp_w_out"] + got["mlp_b_out"]
    for name, wanted in made.items():
        np.testing.assert_allclose(got[name], wanted, atol=1e-10, err_msg=name)
    return got["residual"] + got["out"] + got.get("mlp", 0.0)


@pytest.mark.parametrize("altered", [{}, {"rank": 3}, {"zeroed": "1.1", "flattened": "1.2"}], ids=str)
@pytest.mark.parametrize("source", [*CAUSAL, "encoder"])
def test_numpy_makes_every_array_again(source, altered):
    heads = model_of(source).heads
    altered = altered if heads > 1 or "zeroed" not in altered else {"zeroed": "1.1", "flattened": "1.1"}
    done = run(Settings(EN, source=source, dtype="float64", **altered))
    file, kind = stored(done), done.settings.mask
    for number in range(len(done.layers)):
        left = check_layer_by_numpy(file, number, heads, kind)
        if number + 1 < len(done.layers):
            np.testing.assert_allclose(file[f"{number + 1}.residual"], left, atol=1e-12)


def test_the_file_says_what_it_holds():
    done = run(Settings("the iguana sat", source="trained", generate=2, zeroed="2.1", rank=3))
    file = stored(done)
    meta = json.loads(str(file["meta"]))
    assert Settings(**meta["settings"]) == done.settings and meta["settings"]["zeroed"] == "2.1"
    assert meta["tokens"] == list(done.tokens) and meta["typed"] == 3 and meta["vocabulary"] == list(done.vocabulary)
    assert meta["model"]["guided"] == {"1.1": "previous token"} and meta["nll"] == done.nll
    np.testing.assert_array_equal(file["probabilities"], done.probabilities)
    assert file["ids"].tolist() == list(done.ids)
    for name in file:
        assert name == "meta" or name in meta["axes"] or f"L.{name.split('.')[1]}" in meta["axes"], name


# settings of trained sources


def test_a_model_s_own_sizes_replace_what_was_asked():
    plain = Settings(EN, source="trained")
    sizes = {"d_model": 16, "d_k": 8, "d_v": 8, "heads": 2, "kv_heads": 2, "layers": 2}
    assert {name: getattr(plain, name) for name in sizes} == sizes and plain.positions == "learned"
    assert plain == Settings(EN, source="trained", d_k=64, heads=7, layers=4, positions="rotary", split="characters")
    assert Settings(**plain.to_dict()) == plain


ERRORS = [
    ({"text": "the " * (LONGEST + 1)}, "text", "positions_end", f"{LONGEST + 1} tokens arrived"),
    ({"text": "the " * 300}, "text", "positions_end", f"end at {LONGEST}"),
    ({"text": " \n"}, "text", "empty_text", "arrived"),
    ({"rank": 0}, "rank", "out_of_range", "from 1 to 8"),
    ({"rank": 9}, "rank", "out_of_range", "from 1 to 8"),
    ({"rank": "some"}, "rank", "not_a_number", "'some'"),
    ({"zeroed": "3.1"}, "zeroed", "unknown_head", "'3.1' arrived; needed layer.head, any of 1.1, 1.2, 2.1, 2.2"),
    ({"zeroed": "1.1,x"}, "zeroed", "unknown_head", "'x'"),
    ({"zeroed": 1.1}, "zeroed", "unknown_head", "1.1"),
    ({"flattened": ["0.1"]}, "flattened", "unknown_head", "'0.1'"),
    ({"source": "encoder", "generate": 1}, "generate", "generate_encoder", "1 arrived"),
    ({"prompt": 9}, "prompt", "prompt_range", "9 arrived"),
]


@pytest.mark.parametrize(("changes", "field", "code", "says"), ERRORS, ids=str)
def test_errors(changes, field, code, says):
    with pytest.raises(SettingsError, match=rf"^{field}: ") as error:
        Settings(**{"text": EN, "source": "trained"} | changes)
    assert (error.value.field, error.value.code) == (field, code) and says in str(error.value)


def test_a_text_up_to_the_last_position_runs():
    done = run(Settings("the " * LONGEST, source="trained", generate=5))
    assert len(done.tokens) == LONGEST and done.stopped == "positions"


@pytest.mark.parametrize("value", ["2.1, 1.2", ["2.1", "1.2"], ("1.2", "2.1", "2.1")])
def test_heads_come_in_one_order(value):
    assert Settings(EN, source="trained", zeroed=value).zeroed == ("1.2", "2.1")


# weights that are not there


def spoil_text(path):
    path.write_text("no weights", encoding="utf-8")


def spoil_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize(
    ("spoil", "code"),
    [(Path.unlink, "missing_weights"), (spoil_text, "corrupt_weights"), (spoil_half, "corrupt_weights")],
)
@pytest.mark.parametrize("file", ["decoder-guided.safetensors", "vocabulary.json"])
def test_a_file_that_cannot_be_used_is_named(file, spoil, code, tmp_path, capsys):
    spoil(tmp_path / file)
    with pytest.raises(SettingsError, match=r"^source: trained arrived; its file") as error:
        Settings(EN, source="trained")
    assert (error.value.code, error.value.values["file"]) == (code, file) and file in str(error.value)
    assert isinstance(error.value.__cause__, trained.WeightsError)
    assert main(["run", EN, "--source", "trained"]) == 2
    assert file in capsys.readouterr().err.splitlines()[-1]
    assert run(Settings(EN)).max_delta < 1e-5, "random weights need no file"


def test_the_import_and_a_random_run_touch_no_file_of_weights():
    script = (
        "import sys, builtins, attention; attention.run(attention.Settings('a b'));"
        "from attention import trained; print(trained.load.cache_info().currsize,"
        "*[m for m in sys.modules if m.split('.')[0] == 'safetensors'])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0"]


# outside the grammar


def test_the_notice_goes_by_the_model_s_own_limit(small):
    model = small_model("decoder-guided")
    assert not run(Settings(EN, source="trained")).outside, "without a limit there is no notice"
    nll = run(Settings(EN, source="trained")).nll
    for limit, outside in ((nll - 0.1, True), (nll + 0.1, False)):
        small.put("trained", dataclasses.replace(model, figures={"outside": limit}))
        done = run(Settings(EN, source="trained", breaks="stale", zeroed="1.1", temperature=5.0))
        assert done.outside == outside and done.nll == nll, "the text counts, not what was broken"
    assert run(Settings("cat", source="trained")).nll is None


def test_the_encoder_is_asked_for_each_word_in_its_turn_but_not_for_those_left_open():
    done, plain = run(Settings("the cat <mask> on mat", source="encoder")), Plain(model_of("encoder"))
    found = []
    for place in (0, 1, 3, 4):
        ids = torch.tensor(done.ids)
        ids[place] = 1
        found.append(-plain(ids)[1][place, done.ids[place]].item())
    assert done.ids[2] == 1 and done.nll == pytest.approx(sum(found) / 4, rel=1e-4)
    assert run(Settings("<mask> <mask>", source="encoder")).nll is None


def test_a_model_that_knows_the_text_is_not_surprised(small):
    small.put("trained", fond_of(small_model("decoder-guided"), "cat", 50.0))
    assert run(Settings("the cat cat cat", source="trained")).nll < 0.1
    assert run(Settings("the mat mat mat", source="trained")).nll > 5
