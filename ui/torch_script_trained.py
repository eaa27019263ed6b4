"""The run of one head of a trained model as a short PyTorch script, which reads the file that the model is shipped in.

A test runs the scripts and compares what they print with the run.
"""

from attention import Settings
from attention.settings import places
from attention.trained import NAMES

START = """\
# Layer {layer}, head {head} of a run of Last Row, worked out again with torch alone.
# Run it with the file that holds the model: python head.py {file}.safetensors
import sys
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

tokens = {tokens}
ids = torch.tensor({ids})
T, dtype, eps = len(ids), torch.{dtype}, {eps!r}
d_k, heads, kv_heads = {d_k}, {heads}, {kv_heads}
exact = {{name.split("/")[1]: t for name, t in load_file(sys.argv[1]).items()}}
w = {{name: t.to(dtype) for name, t in exact.items()}}

def norm(x, name):
    return F.layer_norm(x, x.shape[-1:], w[f"{{name}}.gain"], w[f"{{name}}.shift"], eps)

def split(x, n_heads):  # (T, n_heads*D) -> (n_heads, T, D)
    return x.view(T, n_heads, -1).transpose(0, 1)

place = torch.arange(T)
behind = place[:, None] - place  # how far each key lies behind each query
visible = {visible}
x = (exact["embedding"].double()[ids] + exact["positions"].double()[:T]).to(dtype)

for layer in range({layer}):
    w_q, w_k, w_v, w_o = (w[f"{{layer}}.{{name}}"] for name in ("w_q", "w_k", "w_v", "w_o"))
"""

RANK = """\
    w_q, w_k = (m * (torch.arange(m.shape[1]) % d_k < {rank}) for m in (w_q, w_k))  # the rank, cut down
"""

HEADS = """\
    row = norm(x, f"{{layer}}.norm")  # what enters the projections
    q, k, v = split(row @ w_q, heads), split(row @ w_k, kv_heads), split(row @ w_v, kv_heads)
    k, v = (part.repeat_interleave(heads // kv_heads, 0) for part in (k, v))
"""

FLATTENED = """\
    q = torch.stack([q[h] * ((layer, h) not in {flattened}) for h in range(heads)])  # made even
"""

ATTENTION = """\
    scores = q @ k.mT * {scale}  # (heads, T, T)
    weights = torch.softmax(scores.masked_fill(~visible, float("-inf")), -1)
    mixed = weights @ v  # (heads, T, d_v)
"""

PLAIN = """\
    x = x + mixed.transpose(0, 1).reshape(T, -1) @ w_o
"""

ZEROED = """\
    on = torch.stack([mixed[h] * ((layer, h) not in {zeroed}) for h in range(heads)])  # set to zero
    x = x + on.transpose(0, 1).reshape(T, -1) @ w_o
"""

MLP = """\
    into, back = (w[f"{layer}.mlp_{name}"] for name in ("in", "out"))
    inner = F.gelu(norm(x, f"{layer}.mlp_norm") @ into + w[f"{layer}.mlp_in_bias"])
    x = x + inner @ back + w[f"{layer}.mlp_out_bias"]
"""

PRINT = """\

for name, matrix in (("weights", weights[{place}]), ("output", mixed[{place}])):
    print(name)
    for line in matrix.tolist():
        print(*(f"{{number:.{digits}g}}" for number in line))
"""


def script(settings: Settings, ids: tuple[int, ...], tokens: tuple[str, ...], layer: int, head: int, mask: str) -> str:
    """Python text; layer and head count from 1, `mask` is the expression of who sees whom. It prints what
    `torch_script.script` promises, for these ids: typed and generated ones."""
    s, model = settings, settings.model
    parts = [
        START.format(
            layer=layer,
            head=head,
            file=NAMES[s.source],
            tokens=list(tokens),
            ids=list(ids),
            visible=mask,
            eps=model.eps,
            **{name: getattr(s, name) for name in ("dtype", "d_k", "heads", "kv_heads")},
        )
    ]
    if s.rank is not None:
        parts.append(RANK.format(rank=s.rank))
    parts.append(HEADS.format())
    if s.flattened:
        parts.append(FLATTENED.format(flattened=sorted(places(s.flattened))))
    scale = "d_k**-0.5" if s.scale == "on" else "1.0"
    parts.append(ATTENTION.format(scale=f"({scale} / {s.temperature!r})"))
    parts.append(ZEROED.format(zeroed=sorted(places(s.zeroed))) if s.zeroed else PLAIN)
    if model.blocks[0].mlp_norm is not None:
        parts.append(MLP)
    return "".join((*parts, PRINT.format(place=head - 1, digits=17 if s.dtype == "float64" else 9)))
