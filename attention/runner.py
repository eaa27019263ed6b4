"""Settings in, a whole run out: the cached path, its twin, and how far they are apart."""

from dataclasses import fields

import torch
from torch import Tensor

from .core import NotFiniteError
from .counting import ledger
from .decode import CachedLayer, Decoded, Plan, decode, make_plan
from .recompute import FullLayer, Tables, full_pass, make_tables
from .record import DecodeRun, LayerRun
from .settings import STAGE_TOKENS, Settings, SettingsError
from .surprise import is_outside, surprise
from .weights import LayerWeights, Weights, weights_of

SAMPLES = 8  # recomputed steps between the prefill and the last one, where a text is longer than the stage


@torch.inference_mode()
def run(settings: Settings) -> DecodeRun:
    """The run that `settings` decide: the same settings give the same numbers.

    SettingsError (code "overflow") where a number leaves the range of the dtype.
    """
    s, weights = settings, weights_of(settings)
    plan = make_plan(s, weights)
    try:
        decoded = decode(s, plan, weights)
    except NotFiniteError as error:
        raise SettingsError("dtype", "overflow", culprit=error.culprit, dtype=s.dtype) from error
    embedded, n = _all_embedded(s, weights, decoded), len(s.tokens) + len(decoded.generated)
    plan, tables = plan.first(n), make_tables(s, weights, embedded)
    step_delta, compared, full = _compare(s, plan, tables, weights, decoded.layers)
    layers = tuple(_layer_run(*parts, plan, tables) for parts in zip(weights.layers, full, decoded.layers, strict=True))
    return DecodeRun(s, **_words(s, decoded), layers=layers, step_delta=step_delta, compared=compared, **ledger(s, n))


def _all_embedded(s: Settings, weights: Weights, decoded: Decoded) -> Tensor:
    """(T, d_model) float64: the embeddings of what was typed and of what was added."""
    if not decoded.generated:
        return weights.embedded
    return torch.cat((weights.embedded, s.model.embedding[list(decoded.generated)].double()))


def _words(s: Settings, decoded: Decoded) -> dict:
    """What a run says about its tokens, by the names of DecodeRun."""
    said = {"typed": len(s.tokens), "probabilities": decoded.probabilities, "stopped": _stopped(s, decoded)}
    if s.model is None:
        return said | {"tokens": s.tokens, "ids": None, "vocabulary": None, "nll": None, "outside": False}
    words = s.model.vocabulary
    shown = tuple(s.encoded.label(word, words) for word in range(len(words.words)))
    tokens, ids = s.tokens + tuple(shown[word] for word in decoded.generated), s.encoded.ids + decoded.generated
    nll = surprise(s)
    return said | {"tokens": tokens, "ids": ids, "vocabulary": shown, "nll": nll, "outside": is_outside(s, nll)}


def _stopped(s: Settings, decoded: Decoded) -> str | None:
    n = len(s.tokens) + len(decoded.generated)
    if s.generate == 0:
        return None
    if n < s.most_tokens:
        return "end"
    return "asked" if len(decoded.generated) == s.generate else "positions"


def sampled_steps(n: int, prompt: int) -> list[int]:
    """The last token of each step that is recomputed: all of them up to the stage's length, else some."""
    if n <= STAGE_TOKENS:
        return list(range(prompt - 1, n))
    between = torch.linspace(prompt - 1, n - 1, SAMPLES + 2).round().long().tolist()
    return sorted(set(between))


def _compare(s: Settings, plan: Plan, tables: Tables, weights: Weights, cached: list[CachedLayer]):
    """step_delta (T,) float64, compared (T,) bool, and the full pass over all T tokens."""
    n, prompt = len(plan.visible), s.prompt
    step_delta = torch.full((n,), torch.nan, dtype=torch.float64)
    for t in sampled_steps(n, prompt):
        full = full_pass(s, tables, weights, t + 1)
        layers = list(zip(cached, full, strict=True))
        if t == prompt - 1:
            step_delta[:prompt] = torch.stack([_prompt_gaps(*pair, prompt) for pair in layers]).amax(0)
        else:
            first = plan.present[t].int().argmax().item() if s.breaks else t
            step_delta[t] = torch.stack([_step_gap(*pair, t, first) for pair in layers]).amax()
    return step_delta, ~step_delta.isnan(), full


def _prompt_gaps(cached: CachedLayer, full: FullLayer, prompt: int) -> Tensor:
    """For each token of the prompt the largest difference of its k, v, weights and out: (P,)."""
    rows = slice(0, prompt)
    gaps = [_gap(cached.k[:, rows], full.k).amax((0, 2)), _gap(cached.v[:, rows], full.v).amax((0, 2))]
    gaps.append(_gap(cached.weights[:, rows, rows], full.weights).amax((0, 2)))
    gaps.append(_gap(cached.out[rows], full.out).amax(1))
    return torch.stack(gaps).amax(0)


def _step_gap(cached: CachedLayer, full: FullLayer, t: int, first: int) -> Tensor:
    """The largest difference of row t's weights and out, and of the keys and values of rows first to t."""
    rows = slice(first, t + 1)
    mine = (cached.k[:, rows], cached.v[:, rows], cached.weights[:, t, : t + 1], cached.out[t])
    twin = (full.k[:, rows], full.v[:, rows], full.weights[:, t], full.out[t])
    return _gap(*(torch.cat([part.flatten() for part in parts]) for parts in (mine, twin))).amax()


def _gap(a: Tensor, b: Tensor) -> Tensor:
    return (a.double() - b.double()).abs()


def _layer_run(w: LayerWeights, full: FullLayer, cached: CachedLayer, plan: Plan, tables: Tables) -> LayerRun:
    cached_parts = {f"cached_{field.name}": getattr(cached, field.name) for field in fields(cached)}
    return LayerRun(
        **{field.name: getattr(w, field.name) for field in fields(w)},
        **{name: None if part is None else part.contiguous() for name, part in vars(full).items()},
        visible=~tables.hidden,
        bias=tables.bias,
        **cached_parts,
        cached_visible=plan.visible,
        cached_present=plan.present,
        cached_bias=plan.bias,
        scale=plan.scale,
    )
