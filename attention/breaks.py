"""Which of the breaks can change anything under given settings, and why the others cannot.

`position`: decoded tokens are told positions from 0 again. `mask`: each decoded row reads what row 0 reads.
`stale`: the first decoded token's key was not written, its slot holds the key of the token before.
`causal`: both paths lose their mask, so that later tokens change what earlier rows would have been.
"""

from collections import Counter

from .settings import LEARNED, Settings, places


def idle_breaks(settings: Settings) -> dict[str, str]:
    """The breaks that cannot change anything under these settings, each judged alone (those that are on do
    not count), with the reason: no_decode, no_positions, narrow_window, same_mask, same_row, not_causal,
    one_layer, same_tokens.

    An idle break leaves every tensor of the cached run as it was; an idle `causal` leaves step_delta at
    rounding (it changes the prompt's weights, but in both paths alike).
    """
    if settings.prompt == settings.most_tokens:
        return dict.fromkeys(("position", "mask", "stale", "causal"), "no_decode")
    reasons = {name: reason(settings) for name, reason in REASONS.items()}
    return {name: reason for name, reason in reasons.items() if reason}


def _reads_everything(s: Settings) -> bool:
    return s.mask == "bidirectional" or (s.mask == "prefix" and s.width >= s.most_tokens)


def _position(s: Settings) -> str | None:
    if s.positions == "none":
        return "no_positions"
    # ALiBi knows distances alone. A window of 1 reads only distance 0; one of 2 reads a distance that a jump
    # of 2 turns from -1 into +1.
    narrow = s.width == 1 or (s.width == 2 and s.prompt == 2)
    return "narrow_window" if s.positions == "alibi" and s.mask == "window" and narrow else None


def _mask(s: Settings) -> str | None:
    return "same_mask" if _reads_everything(s) else None


def _stale(s: Settings) -> str | None:
    if s.positions in ("sinusoidal", "rotary", LEARNED):
        return None
    before, first = s.tokens[s.prompt - 1], s.tokens[s.prompt]
    if before != first:
        return None
    return "same_row" if _same_rows(s) else None


def _causal(s: Settings) -> str | None:
    if _reads_everything(s):
        return "not_causal"
    if _layers_that_mix(s) == 1:
        return "one_layer" if s.layers == 1 else "zeroed_layers"
    return "same_tokens" if s.positions not in ("sinusoidal", LEARNED) and len(set(s.tokens)) == 1 else None


def _layers_that_mix(s: Settings) -> int:
    """The last layer, and those before it whose heads are not all zeroed: only they hand on what they read."""
    off = places(s.zeroed)
    return 1 + sum(any((layer, head) not in off for head in range(s.heads)) for layer in range(s.layers - 1))


REASONS = {"position": _position, "mask": _mask, "stale": _stale, "causal": _causal}


def _same_rows(s: Settings) -> bool:
    """Whether the last token of the prompt and the first after it enter every layer as the same row.

    Without positions in the rows themselves, two rows of a layer are equal where their rows of the layer
    before are and they read the same of such rows: one kind alone, or as many of each kind (where ALiBi
    tells distances, at each distance).
    """
    n = s.prompt + 1
    kinds = list(s.tokens[:n])
    for _ in range(s.layers - 1):
        kinds = [(kinds[t], _mixture(s, kinds, t)) for t in range(n)]
        names = {kind: name for name, kind in enumerate(dict.fromkeys(kinds))}
        kinds = [names[kind] for kind in kinds]
    return kinds[s.prompt - 1] == kinds[s.prompt]


def _mixture(s: Settings, kinds: list, t: int) -> frozenset:
    """What row t of the cached run reads, as kinds of rows and how many of each."""
    last = t if t == s.prompt else s.prompt - 1
    read = [j for j in range(last + 1) if j <= t or s.mask == "bidirectional" or (s.mask == "prefix" and j < s.width)]
    if s.mask == "window":
        read = [j for j in read if j > t - s.width]
    if len({kinds[j] for j in read}) == 1:  # however many there are of it
        return frozenset([kinds[read[0]]])
    told_apart = [(kinds[j], abs(t - j) if s.positions == "alibi" else None) for j in read]
    return frozenset(Counter(told_apart).items())
