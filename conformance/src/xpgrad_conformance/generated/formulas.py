"""Host arrays that one line of Python makes, so that programs can show them whole, of any size."""

from typing import Any

import numpy as np

from xpgrad.types import Shape

FORMULAS = "ones", "integers", "uniform"
"""What `formula` makes, the simplest first."""


def formula(kind: str, shape: Shape, dtype: str, *, seed: int = 0, low: float = -2.0, high: float = 2.0) -> Any:
    """Return a host array and the line that makes it.

    Parameters
    ----------
    kind : str
        "ones"; "integers": from -4 to 4, of which sums and products are exact; "uniform": between `low` and `high`.
        Complex numbers have such real and imaginary parts.
    shape : tuple of int
    dtype : str
        A floating-point dtype.
    seed : int

    Returns
    -------
    host array, str
    """
    is_complex = dtype.startswith("complex")
    drawn = (*shape, 2) if is_complex else shape
    rng = np.random.default_rng(seed)
    made: Any
    if kind == "ones":
        return np.ones(shape, dtype), f"np.ones({shape}, {dtype!r})"
    if kind == "integers":
        made, text = rng.integers(-4, 5, drawn), f"np.random.default_rng({seed}).integers(-4, 5, {drawn})"
    elif kind == "uniform":
        made, text = rng.uniform(low, high, drawn), f"np.random.default_rng({seed}).uniform({low}, {high}, {drawn})"
    else:
        raise ValueError(f"formula: expected a kind among {', '.join(FORMULAS)}, got {kind!r}")
    if is_complex:
        made, text = made @ [1, 1j], f"({text} @ [1, 1j])"
    return np.asarray(made).astype(dtype), f"np.asarray({text}).astype({dtype!r})"
