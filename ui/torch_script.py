"""The run of one head as a short PyTorch script that needs nothing of this project; of a trained model, its file.

A test runs the scripts and compares what they print with the run.
"""

from attention import DecodeRun, Settings
from ui import torch_script_trained

START = """\
# Layer {layer}, head {head} of a run of Last Row, worked out again with torch and numpy alone.
import hashlib
import numpy as np
import torch

tokens = {tokens}
T, seed, dtype = len(tokens), {seed}, torch.{dtype}
d_model, d_k, d_v, heads, kv_heads = {d_model}, {d_k}, {d_v}, {heads}, {kv_heads}

def normal(key, *shape):  # a generator for each key: change one size and the other numbers stay
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big")).standard_normal(shape)

def columns(layer, name, n_heads, width):  # (d_model, n_heads*width)
    blocks = [normal(f"{{seed}}/{{layer}}/{{name}}/{{h}}", width, d_model) for h in range(n_heads)]
    return torch.tensor(np.concatenate(blocks).T / d_model**0.5).to(dtype)

def split(x, n_heads):  # (T, n_heads*D) -> (n_heads, T, D)
    return x.view(T, n_heads, -1).transpose(0, 1)

place = torch.arange(T, dtype=torch.float64)
behind = place[:, None] - place  # how far each key lies behind each query
x = torch.tensor(np.stack([normal(f"{{seed}}/embedding/{{token}}", 256)[:d_model] for token in tokens]))
"""

SINUSOIDAL = """\
feature = torch.arange(d_model)
angle = place[:, None] * 10000.0 ** (-(feature - feature % 2).double() / d_model)
x = x + torch.where(feature % 2 == 0, angle.sin(), angle.cos())
"""

ROTARY = """\
angle = place[:, None] * 10000.0 ** (-2 * torch.arange(d_k // 2).double() / d_k)

def turn(x):  # each pair of features, turned by the position
    a, b = {pairs}
    a, b = a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()
    return {joined}.to(dtype)
"""

PAIRINGS = {
    "interleaved": ("x[..., 0::2].double(), x[..., 1::2].double()", "torch.stack((a, b), -1).flatten(-2)"),
    "halves": ("x.double().chunk(2, -1)", "torch.cat((a, b), -1)"),
}

ALIBI = """\
power = 2 ** (heads.bit_length() - 1)
steps = [(h + 1) / power for h in range(power)] + [(2 * h + 1) / (2 * power) for h in range(heads - power)]
slopes = 2.0 ** (-8 * torch.tensor(steps, dtype=torch.float64))
bias = (-slopes[:, None, None] * behind.abs()).to(dtype)  # (heads, T, T)
"""

MASKS = {
    "causal": "behind >= 0",
    "bidirectional": "torch.ones(T, T, dtype=torch.bool)",
    "window": "(behind >= 0) & (behind < {width})",
    "prefix": "(behind >= 0) | (place < {width})",
}

LAYERS = """\
x, visible = x.to(dtype), {visible}

for layer in range({layer}):
    q = {turn}split(x @ columns(layer, "w_q", heads, d_k), heads){close}
    k = {turn}split(x @ columns(layer, "w_k", kv_heads, d_k), kv_heads){close}
    v = split(x @ columns(layer, "w_v", kv_heads, d_v), kv_heads)
    k, v = (part.repeat_interleave(heads // kv_heads, 0) for part in (k, v))
    scores = q @ k.mT * {scale}{bias}  # (heads, T, T)
    weights = torch.softmax(scores.masked_fill(~visible, float("-inf")), -1)
    mixed = weights @ v  # (heads, T, d_v)
    w_o = np.concatenate([normal(f"{{seed}}/{{layer}}/w_o/{{h}}", d_v, d_model) for h in range(heads)])
    out = mixed.transpose(0, 1).reshape(T, -1) @ torch.tensor(w_o / (heads * d_v) ** 0.5).to(dtype)
    x = x + out

for name, matrix in (("weights", weights[{place}]), ("output", mixed[{place}])):
    print(name)
    for row in matrix.tolist():
        print(*(f"{{number:.{digits}g}}" for number in row))
"""


def of_run(run: DecodeRun, layer: int, head: int) -> str:
    """The script of a run: the tokens that a trained model added are in it."""
    settings = run.settings
    if run.ids is None:
        return script(settings, layer, head)
    mask = MASKS[settings.mask_kind].format(width=settings.width)
    return torch_script_trained.script(settings, run.ids, run.tokens, layer, head, mask)


def script(settings: Settings, layer: int, head: int) -> str:
    """Python text for random weights; layer and head count from 1. It prints weights (T, T) and output (T, d_v) of
    that head, each under a line with its name, one row a line, as the full pass works them out."""
    s = settings
    sizes = {name: getattr(s, name) for name in ("seed", "dtype", "d_model", "d_k", "d_v", "heads", "kv_heads")}
    parts = [START.format(layer=layer, head=head, tokens=list(s.tokens), **sizes)]
    rotary, alibi = s.positions == "rotary", s.positions == "alibi"
    if s.positions == "sinusoidal":
        parts.append(SINUSOIDAL)
    if rotary:
        pairs, joined = PAIRINGS[s.pairing]
        parts.append(ROTARY.format(pairs=pairs, joined=joined))
    if alibi:
        parts.append(ALIBI)
    scale = f"({'d_k**-0.5' if s.scale == 'on' else '1.0'} / {s.temperature!r})"
    parts.append(
        LAYERS.format(
            visible=MASKS[s.mask_kind].format(width=s.width),
            layer=layer,
            turn="turn(" if rotary else "",
            close=")" if rotary else "",
            scale=scale,
            bias=" + bias" if alibi else "",
            place=head - 1,
            digits=17 if s.dtype == "float64" else 9,
        )
    )
    return "".join(parts)
