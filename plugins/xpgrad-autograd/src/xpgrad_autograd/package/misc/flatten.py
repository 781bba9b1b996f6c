"""Nested containers of arrays as one vector."""

from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad_autograd.boxes import functions
from xpgrad_autograd.derivatives import make_vjp


def flatten(value: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return the elements of nested tuples, lists and dictionaries as a vector, and the inverse function.

    Entries of dictionaries are in the order of the sorted keys.
    """
    unflatten, vector = make_vjp(_flattened, value) if not _is_empty(value) else (lambda g: value, np.array([]))
    return vector, unflatten


def _is_empty(value: Any) -> bool:
    values = value.values() if isinstance(value, dict) else value
    return isinstance(value, (tuple, list, dict)) and all(map(_is_empty, values))


def _flattened(value: Any) -> Any:
    xp = functions()
    if isinstance(value, (tuple, list, dict)):
        values = [value[key] for key in sorted(value)] if isinstance(value, dict) else value
        parts = [_flattened(each) for each in values]
        return xp["concatenate"](parts) if parts else np.array([])
    return xp["ravel"](value)


def flatten_func(func: Callable[..., Any], example: Any) -> tuple[Callable[..., Any], Callable[[Any], Any], Any]:
    """Return a function of vectors for one of trees like `example`, the inverse of `flatten`, and the flat example."""
    vector, unflatten = flatten(example)

    def of_vector(x: Any, *args: Any) -> Any:
        return flatten(func(unflatten(x), *args))[0]

    return of_vector, unflatten, vector
