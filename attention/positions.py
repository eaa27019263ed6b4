"""Three ways to tell positions apart. Positions are 0-based; angles are in radians and worked out in float64.

Axes: T tokens, D features of one head, n_q queries, n_k keys (n_q < n_k: the last n_q positions).
"""

import torch
from torch import Tensor

from .checks import broadcasts, whole
from .masks import key_distance

PAIRINGS = ("interleaved", "halves")


def sinusoidal(n: int, d_model: int, start: int = 0, base: float = 10000.0) -> Tensor:
    """(n, d_model) for n positions from start on: sin in even columns, cos in odd ones.

    Of position / base^(2i/d_model), in the default dtype. An odd d_model ends on a sine.
    Vaswani et al. 2017, "Attention Is All You Need", section 3.5.
    """
    n = whole("n", n, 0)
    return sinusoid(torch.arange(start, start + n), d_model, base).to(torch.get_default_dtype())


def sinusoid(positions: Tensor, d_model: int, base: float = 10000.0) -> Tensor:
    """Rows of the sinusoidal table for any positions (T,): (T, d_model) float64."""
    d_model = whole("d_model", d_model, 1)
    angles = _angles(positions, d_model, (d_model + 1) // 2, base)  # (T, ceil(d_model/2))
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)[..., :d_model]


def rotate(x: Tensor, positions, base: float = 10000.0, pairing: str = "interleaved") -> Tensor:
    """Rotary positions: pair i of the features of x (..., T, D) turned by position / base^(2i/D).

    `positions`: a list or tensor (T,), or anything that broadcasts to (..., T). D is even. `pairing`
    "interleaved" joins features 2i and 2i+1, "halves" joins i and i + D/2. Su et al. 2021, "RoFormer",
    section 3.4.2.
    """
    cos, sin = rotary_table(positions, x.shape[-1], base)  # each (..., T, D/2)
    if not x.is_floating_point() or not broadcasts(cos.shape[:-1], x.shape[:-1]):
        arrived = f"{x.dtype} of shape {tuple(x.shape)} with positions of shape {tuple(cos.shape[:-1])}"
        raise ValueError(f"x: {arrived} arrived; floating (..., T, D) and one position a token are needed")
    return turn(x, cos, sin, pairing)


def rotary_table(positions, d: int, base: float = 10000.0) -> tuple[Tensor, Tensor]:
    """cos and sin (..., T, d/2) float64 of the angles that `turn` takes."""
    if d % 2 or d == 0:
        raise ValueError(f"x: width {d} arrived; rotary positions turn pairs of features and need an even width")
    angles = _angles(positions, d, d // 2, base)
    return angles.cos(), angles.sin()


def turn(x: Tensor, cos: Tensor, sin: Tensor, pairing: str) -> Tensor:
    """The rotation itself, worked out in at least float32."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    cos, sin = cos.to(wide.dtype), sin.to(wide.dtype)
    if pairing == "interleaved":
        a, b = wide[..., 0::2], wide[..., 1::2]
        turned = torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)
    elif pairing == "halves":
        a, b = wide.chunk(2, dim=-1)
        turned = torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)
    else:
        raise ValueError(f"pairing: {pairing!r} arrived; needed one of {', '.join(PAIRINGS)}")
    return turned.to(x.dtype)


def alibi_slopes(n_heads: int) -> Tensor:
    """(n_heads,): 2^(-8/n), 2^(-16/n), … in the default dtype.

    For a head count that is no power of two: the slopes of the power below it, then every other one of the
    power above. Press et al. 2022, "Train Short, Test Long", section 3 and the authors' code.
    """
    return torch.tensor(slopes(n_heads), dtype=torch.get_default_dtype())


def slopes(n_heads: int) -> list[float]:
    """The slopes of `alibi_slopes` at full precision."""
    n_heads = whole("n_heads", n_heads, 1)
    power = 1 << (n_heads.bit_length() - 1)
    own = [2.0 ** (-8.0 * (i + 1) / power) for i in range(power)]
    between = [2.0 ** (-4.0 * (i + 1) / power) for i in range(0, 2 * power, 2)]
    return own + between[: n_heads - power]


def alibi_bias(n_heads: int, n_q: int, n_k: int) -> Tensor:
    """-slope * |i - j|, also ahead of the query: (n_heads, n_q, n_k) in the default dtype."""
    return linear_bias(n_heads, key_distance(n_q, n_k)).to(torch.get_default_dtype())


def linear_bias(n_heads: int, distance: Tensor) -> Tensor:
    """-slope * |distance| for distances (n_q, n_k): (n_heads, n_q, n_k) float64."""
    return torch.tensor(slopes(n_heads), dtype=torch.float64)[:, None, None] * -distance.abs()


def _angles(positions, d: int, n_pairs: int, base: float) -> Tensor:
    """position / base^(2i/d) for i below n_pairs: (..., T, n_pairs) float64."""
    if not base > 0:
        raise ValueError(f"base: {base} arrived; a number above 0 is needed")
    positions = torch.as_tensor(positions).to(torch.float64)
    rates = base ** (-2.0 * torch.arange(n_pairs, dtype=torch.float64) / d)
    return positions[..., None] * rates
