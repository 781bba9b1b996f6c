"""The case table of SciPy's functions: each case is a line, and drives the checks of `test_differentiated`."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np


class ScipyCase(NamedTuple):
    """A function of arrays, and the SciPy function.

    Attributes
    ----------
    name : str
        Chapter and function, with a suffix that identifies the case.
    function : callable
        Takes Variables, returns a Variable or a tuple of Variables.
    reference : callable or None
        Takes NumPy arrays, returns the result of SciPy.
    inputs : tuple of arrays
    rtol : float
        Of values; derivatives are compared with finite differences.
    batched : bool
        Whether the function is mapped over a batch.
    orders : int
        Orders of derivatives to check.
    libraries : bool
        Whether all libraries compute it.
    """

    name: str
    function: Callable[..., Any]
    reference: Callable[..., Any] | None
    inputs: tuple[Any, ...]
    rtol: float = 1e-9
    batched: bool = True
    orders: int = 2
    libraries: bool = True


def cases_of(chapter: str, ours: Any, reference: Any, **defaults: Any) -> Callable[..., ScipyCase]:
    """Return a function that makes a case of a chapter, whose modules are `ours` and `reference`.

    By default it calls the function of the case's name, up to a colon, with the inputs, `args` and further keywords;
    else ``call(module, *inputs)``. SciPy gets inputs without axes as numbers.
    """

    def of(name: str, *inputs: Any, call: Any = None, args: tuple[Any, ...] = (), **options: Any) -> ScipyCase:
        fields = defaults | {key: options.pop(key) for key in ScipyCase._fields[4:] if key in options}

        def function(module: Any, *xs: Any) -> Any:
            if call is not None:
                return call(module, *xs)
            return getattr(module, name.partition(":")[0])(*xs, *args, **options)

        def expected(*xs: Any) -> Any:
            return function(reference, *(x if x.ndim else x.item() for x in xs))

        return ScipyCase(f"{chapter}.{name}", partial(function, ours), expected, inputs, **fields)

    return of


RNG = np.random.default_rng(7)


def uniform(*shape: int, low: float = -1.0, high: float = 1.0) -> Any:
    """Return fixed numbers from `low` to `high`."""
    return RNG.uniform(low, high, shape)


def complex_uniform(*shape: int) -> Any:
    """Return fixed complex numbers."""
    return uniform(*shape) + 1j * uniform(*shape)


def definite(n: int) -> Any:
    """Return a symmetric positive definite matrix."""
    a = uniform(n, n)
    return a @ a.T + n * np.eye(n)
