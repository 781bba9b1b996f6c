"""Arguments and results of loops: trees as leaves, and checks."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable
from xpgrad.transforms.call import Mode
from xpgrad.transforms.leaves import as_leaf
from xpgrad.transforms.loops.forward import ALL
from xpgrad.transforms.trees import Structure, flatten, where


def leaves_of(tree: Any, what: str) -> tuple[list[Variable], Structure]:
    """Return the leaves of a tree as Variables, and its structure."""
    leaves, structure = flatten(tree)
    return [as_leaf(x, what + where(p)) for x, p in zip(leaves, structure.paths(), strict=True)], structure


def length_of(name: str, xs: Sequence[Variable], structure: Structure, length: Any) -> int:
    """Return the number of steps that the first axes of `xs`, or `length`, give.

    Raises
    ------
    TypeError
        Both are missing, or `length` is not an integer.
    ShapeError
        They differ, or an array has no axis.
    """
    found: dict[int, str] = {}
    for x, path in zip(xs, structure.paths(), strict=True):
        shape = x._node.spec.shape
        if not shape:
            raise ShapeError(
                f"{name}: xs{where(path)} is 0-d and has no steps; give arrays whose first axis is the steps"
            )
        found.setdefault(shape[0], f"xs{where(path)}")
    if len(found) > 1:
        texts = " and ".join(f"{length} of {what}" for length, what in found.items())
        raise ShapeError(f"{name}: the first axes of xs must have one length, got {texts}")
    if length is None:
        if not found:
            raise TypeError(f"{name}: xs has no arrays, so the number of steps is unknown; pass length=")
        return next(iter(found))
    given = integer(name, "length", length)
    if given < 0:
        raise ValueError(f"{name}: length must not be negative, got {given}")
    if found and given not in found:
        raise ShapeError(f"{name}: length is {given}, but the first axis of xs has {next(iter(found))}")
    return given


def integer(name: str, what: str, value: Any) -> int:
    """Return an integer, or a 0-d array of one, as an int."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: {what} must be an integer, got {value!r}") from None


def check_function(name: str, f: Any) -> Callable[..., Any]:
    """Return `f`, or raise TypeError if it cannot be called."""
    if not callable(f):
        raise TypeError(f"{name}: expected a function, got {type(f).__name__}")
    checked: Callable[..., Any] = f
    return checked


def check_checkpoints(name: str, checkpoints: Any) -> int | str | None:
    """Return `checkpoints`, or raise if it is not None, "all" or a positive integer."""
    if checkpoints is None:
        return None
    if isinstance(checkpoints, str) and checkpoints == ALL:
        return checkpoints
    count = integer(name, 'checkpoints other than "all"', checkpoints)
    if count < 1:
        raise ValueError(f"{name}: checkpoints must be at least 1, got {count}")
    return count


def handed(mode: Mode, leaves: Sequence[Variable], structure: Structure) -> Any:
    """Return a tree for the user: leaves connected to a graph are Variables in both modes."""
    return structure.build([x if mode.variables or x._node.requires_grad else x._array for x in leaves])
