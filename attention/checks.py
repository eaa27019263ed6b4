"""Small checks of what others pass in."""

import operator


def whole(name: str, value, low: int) -> int:
    """`value` as an int >= low, or a ValueError that names `name`."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}: {value!r} arrived; a whole number >= {low} is needed") from None
    if number < low:
        raise ValueError(f"{name}: {number} arrived; a whole number >= {low} is needed")
    return number


def broadcasts(shape, target) -> bool:
    """Whether a tensor of `shape` spreads over one of `target` without making it larger."""
    fits = len(shape) <= len(target)
    return fits and all(a in (1, b) for a, b in zip(reversed(shape), reversed(target), strict=False))
