"""The shipped models: their files, their numbers against torch's own modules, and the gates of a release."""

import json
from dataclasses import fields, replace

import pytest
import torch
import torch.nn.functional as F
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from attention import evaluate, trained
from attention.forward import forward, mean_nll
from attention.grammar import vocabulary_words
from attention.lexicon import LANGUAGES
from attention.measure import held_out
from attention.rank import canonical, truncated
from attention.tokeniser import encode
from attention.trained import FAMILY_WIDTHS, NAMES, WeightsError, load, load_family

SENTENCES = {
    "en": "the trophy does not fit in the suitcase because it is too large . what is large ? the",
    "zh": "小明把书放在桌子上，因为它太重了。什么太重？",
}


def ids_of(model, text):
    return torch.tensor(encode(text, model.vocabulary).ids)


@torch.inference_mode()
def with_torch_modules(model, ids):
    """Logits (T, V) by nn.Linear, nn.LayerNorm, nn.GELU and fused attention: nothing of the package."""

    def linear(w, bias=None):
        module = nn.Linear(*w.shape, bias=bias is not None)
        module.weight.copy_(w.T)
        if bias is not None:
            module.bias.copy_(bias)
        return module

    def norm(pair):
        module = nn.LayerNorm(model.d_model, eps=model.eps)
        module.weight.copy_(pair[0])
        module.bias.copy_(pair[1])
        return module

    n = len(ids)
    h = nn.Embedding.from_pretrained(model.embedding)(ids) + model.positions[:n]
    for block in model.blocks:
        x = norm(block.norm)(h)
        q, k, v = (linear(w)(x).view(n, model.heads, -1).transpose(0, 1) for w in (block.w_q, block.w_k, block.w_v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=model.kind == "decoder", scale=model.scale)
        h = h + linear(block.w_o)(mixed.transpose(0, 1).reshape(n, -1))
        if block.mlp_norm is not None:
            into, out = linear(block.mlp_in, block.mlp_in_bias), linear(block.mlp_out, block.mlp_out_bias)
            h = h + nn.Sequential(norm(block.mlp_norm), into, nn.GELU(), out)(h)
    return linear(model.embedding.T)(norm(model.final_norm)(h))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("source", NAMES)
def test_the_numbers_are_those_of_torch_modules(source, language):
    model = load(source)
    ids = ids_of(model, SENTENCES[language])
    with torch.inference_mode():
        logits = forward(model, ids[None]).logits[0]
    torch.testing.assert_close(logits, with_torch_modules(model, ids), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("source", NAMES)
def test_surprise_is_the_mean_over_the_tokens(source):
    model = load(source)
    ids = ids_of(model, SENTENCES["en"])[:9]
    rows = []
    for place in range(0 if model.kind == "encoder" else 1, len(ids)):
        given = ids[:place]
        if model.kind == "encoder":
            given = ids.clone()
            given[place] = model.vocabulary.mask
        row = place if model.kind == "encoder" else place - 1
        rows.append(-with_torch_modules(model, given)[row].log_softmax(-1)[ids[place]])
    assert mean_nll(model, ids) == pytest.approx(torch.stack(rows).mean().item(), abs=1e-4)
    assert mean_nll(model, ids[:1]) != mean_nll(model, ids[:1])  # NaN: one token surprises nobody


def test_the_vocabulary_is_the_grammar():
    assert load("trained").vocabulary.words == vocabulary_words()


def test_what_the_files_say_of_themselves():
    models = {source: load(source) for source in NAMES}
    assert [model.kind for model in models.values()] == ["decoder", "decoder", "encoder", "decoder"]
    assert models["trained"].guided and not models["unguided"].guided and not models["onelayer"].guided
    assert set(models["trained"].jobs) == {(0, 0), (0, 1), (1, 0), (1, 1)} and models["unguided"].jobs == {}
    for model in models.values():
        assert model.positions.shape[0] == 56
        assert model.figures["outside"] > model.figures["nll"]["inside"]["en"]
        assert str(model.d_k) in model.figures["rank"]
    assert set(load_family()) == {(d_k, scaled) for d_k in FAMILY_WIDTHS for scaled in (True, False)}


def test_every_gate_of_a_release_holds(tmp_path, capsys):
    code = evaluate.main(tmp_path / "card.md")
    printed = capsys.readouterr().out
    assert code == 0, printed
    text = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert "FAILS" not in text and all(file in text for file in NAMES.values())
    assert {part.strip("# ") for part in text.splitlines() if part.startswith("## ")} == {
        part.strip("# ") for part in evaluate.CARD.read_text(encoding="utf-8").splitlines() if part.startswith("## ")
    }


def test_a_gate_that_fails_is_said_and_counts():
    low, high = evaluate.Gate("m", "f", "en", 0.5, 0.9), evaluate.Gate("m", "f", "en", 0.5, 0.15, most=True)
    assert not low.passed and not high.passed
    assert evaluate.table([low, high]).count("FAILS") == 2
    assert evaluate.Gate("m", "f", "en", 0.95, 0.95).passed


# ---- rank


@pytest.mark.parametrize("source", NAMES)
def test_canonical_leaves_the_scores(source):
    model = load(source)
    batch = torch.stack([ids_of(model, SENTENCES["en"])[:12]] * 2)
    with torch.inference_mode():
        rows = [torch.randn(500, model.d_model) for _ in model.blocks]
        before, after = forward(model, batch), forward(canonical(model, rows), batch)
    for a, b in zip(before.weights, after.weights, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)


def test_the_full_rank_is_the_model_and_less_is_worse():
    model = load("trained")
    batch = ids_of(model, SENTENCES["zh"])[None]
    with torch.inference_mode():
        whole = forward(model, batch).logits
        gaps = [(forward(truncated(model, rank), batch).logits - whole).abs().max() for rank in (1, 4, 16, model.d_k)]
    assert gaps[-1] == 0 and gaps[0] > gaps[2] > gaps[3]
    for wrong in (0, model.d_k + 1):
        with pytest.raises(ValueError, match="rank"):
            truncated(model, wrong)


def test_the_first_features_are_the_best_form_of_their_rank():
    """Against Eckart and Young: the error of the scores is that of the singular values left out."""
    model, x = load("trained"), torch.randn(4000, 128, dtype=torch.float64) @ torch.randn(128, 128).double()
    block = canonical(model, [x.float()] * 2).blocks[0]
    root = torch.linalg.cholesky(x.T @ x / len(x)).T  # any root of C does
    head = slice(0, model.d_k)
    whole = root @ block.w_q[:, head].double() @ block.w_k[:, head].double().T @ root.T
    values = torch.linalg.svdvals(whole)
    for rank in (1, 5, 20):
        part = root @ block.w_q[:, :rank].double() @ block.w_k[:, :rank].double().T @ root.T
        torch.testing.assert_close((whole - part).norm(), values[rank:].norm(), rtol=1e-3, atol=1e-3)


# ---- files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the decoder's file and the vocabulary, as the folder that models are loaded from."""
    for file in (trained.VOCABULARY, f"{NAMES['trained']}.safetensors"):
        (tmp_path / file).write_bytes((trained.FOLDER / file).read_bytes())
    monkeypatch.setattr(trained, "FOLDER", tmp_path)
    load.cache_clear()
    yield tmp_path
    load.cache_clear()


def rewritten(path, change):
    with safe_open(path, "pt") as file:
        named, metadata = {key: file.get_tensor(key) for key in file.keys()}, file.metadata()  # noqa: SIM118
    change(named, metadata)
    save_file(named, path, metadata=metadata)


def test_a_model_is_what_was_written(folder):
    model = load("trained")
    trained.write(trained.path_of("decoder-guided"), [replace(model, figures={"outside": 1.0})])
    load.cache_clear()
    again = load("trained")
    assert again.figures == {"outside": 1.0} and again.jobs == model.jobs
    for name, tensor in trained.tensors(model).items():
        assert torch.equal(tensor, trained.tensors(again)[name])
    plain = {"figures", "vocabulary", "embedding", "positions", "blocks", "final_norm"}
    for field in fields(model):
        assert field.name in plain or getattr(model, field.name) == getattr(again, field.name)


@pytest.mark.parametrize("file", [trained.VOCABULARY, "decoder-guided.safetensors"])
def test_a_missing_file_says_so(folder, file):
    (folder / file).unlink()
    with pytest.raises(WeightsError) as raised:
        load("trained")
    assert raised.value.code == "missing_weights" and file in str(raised.value)


def spoil(how, path):
    data = path.read_bytes()
    if how == "cut short":
        path.write_bytes(data[: len(data) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "a text":
        path.write_text("not a model", encoding="utf-8")
    elif how == "no metadata":
        rewritten(path, lambda named, metadata: metadata.clear())
    elif how == "a tensor is missing":
        rewritten(path, lambda named, metadata: named.pop("decoder-guided/1.w_k"))
    elif how == "another shape":
        rewritten(path, lambda named, metadata: named.update({"decoder-guided/1.w_k": torch.zeros(3, 3)}))
    elif how == "not a number":
        rewritten(path, lambda named, metadata: named["decoder-guided/embedding"].fill_(float("nan")))
    elif how == "no configuration":
        rewritten(path, lambda named, metadata: metadata.update({"decoder-guided": "{}"}))


SPOILT = [
    "cut short",
    "empty",
    "a text",
    "no metadata",
    "a tensor is missing",
    "another shape",
    "not a number",
    "no configuration",
]


@pytest.mark.parametrize("how", SPOILT)
def test_a_corrupt_file_says_so(folder, how):
    spoil(how, folder / "decoder-guided.safetensors")
    with pytest.raises(WeightsError) as raised:
        load("trained")
    assert raised.value.code == "corrupt_weights" and raised.value.file == "decoder-guided.safetensors"


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", '["a", 1]'])
def test_a_corrupt_vocabulary_says_so(folder, text):
    (folder / trained.VOCABULARY).write_text(text, encoding="utf-8")
    with pytest.raises(WeightsError) as raised:
        load("trained")
    assert raised.value.code == "corrupt_weights"


def test_eval_says_which_file_is_missing(folder, capsys):
    assert evaluate.main(folder / "card.md") == 2
    assert "decoder-unguided.safetensors" in capsys.readouterr().err
    assert not (folder / "card.md").exists()


def test_a_name_that_is_none():
    with pytest.raises(ValueError, match="trained, unguided, encoder, onelayer"):
        load("gpt-5")


def test_held_out_documents_are_the_same_every_time():
    assert held_out("fit", "en", 3) == held_out("fit", "en", 3)
    assert json.dumps(load("trained").figures)
