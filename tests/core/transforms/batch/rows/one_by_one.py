"""Functions of batches, compared with a loop over the members."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from tests.core.transforms.batch.rows.members import Comparison, operands

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as public
from xpgrad.backend.plugins import plugins

Function = Callable[..., Any]
"""Takes a namespace and arrays: the library's namespace and arrays, or xpgrad's namespace and Variables."""


class Case:
    """A function, and its arrays: shapes with letters for dtypes, ``"f8 2 3"``.

    Parameters
    ----------
    name : str
    function : callable
    *arrays : str
        ``+`` after the dtype means indices, from -2 to 1; ``s``: sorted.
    raw : bool
        Whether it also accepts arrays of the library.
    smooth : bool
        Whether to compare gradients as well.
    batched : sequence of sequences of bool
        The batched arrays; by default all combinations.
    """

    def __init__(
        self, name: str, function: Function, *arrays: str, raw: bool = True, smooth: bool = True,
        batched: Sequence[Sequence[bool]] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.function, self.arrays = name, function, arrays
        self.raw, self.smooth = raw, smooth
        several = [flags for flags in product((True, False), repeat=len(arrays)) if any(flags)]
        self.batched = several if batched is None else batched

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(self.arrays)})"


def made(text: str, seed: int, dtype: str) -> np.ndarray[Any, Any]:
    """Return the array of one member that is described by the text of a case."""
    name, *lengths = text.split()
    rng, shape, kind = np.random.default_rng(seed), [*map(int, lengths)], name.rstrip("+s")
    if kind == "b1":
        return rng.uniform(size=shape) < 0.5
    if name.endswith("+"):
        return np.asarray(rng.integers(-2, 2, size=shape)).astype(kind)
    values = rng.normal(size=shape) * 3
    if kind.startswith("c"):
        values = values + 1j * rng.normal(size=shape)
    found = np.asarray(values).astype(kind)
    return np.sort(found, axis=-1) if name.endswith("s") else found


def leaves(result: Any) -> list[Any]:
    """Return the arrays of a result."""
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in leaves(item)]
    return [result]


def called(function: Function, raw: bool) -> Callable[..., Any]:
    """Return a function of Variables, which computes with them or with their arrays."""

    def on_variables(*xs: Any) -> Any:
        variables = [Variable(x) if not isinstance(x, Variable) else x for x in xs]
        if not raw:
            return tuple(leaves(function(public, *variables)))
        arrays = [x.array for x in variables]
        restore = plugins.backend_of(arrays[0]).restore  # the library may return scalars
        return tuple(Variable(restore(y)) for y in leaves(function(arrays[0].__array_namespace__(), *arrays)))

    return on_variables


def compare(case: Case, device: xpgrad.Device, size: int, raw: bool) -> None:
    """Raise unless a case gives the same results, and gradients, for a batch and for single members."""
    rtol = 1e-6 if any(text.startswith(("f4", "i4")) for text in case.arrays) else 1e-12
    with xpgrad.using_device(device):
        for flags in case.batched:
            arrays = operands([partial(made, text) for text in case.arrays], flags, "", size)
            comparison = Comparison(called(case.function, raw), device, flags, size, rtol)
            comparison.run(arrays, int(case.smooth and not raw and size > 0))
