"""Arrays of transformations, opened for another framework, and its arrays, lifted to the transformations again."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.levels import around
from xpgrad.config import at_level, called_with
from xpgrad.errors import BatchError
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.interop.framework import Framework
from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.batch.batching import BatchRun
from xpgrad.transforms.dual.array import DualArray
from xpgrad.transforms.dual.level import DualLevel
from xpgrad.transforms.enclosing.array import TransformedArray
from xpgrad.transforms.trace.array import TracedArray
from xpgrad.transforms.trace.level import TraceLevel
from xpgrad.types import Array

Batches = tuple[BatchRun, ...]
"""The batches along the first axes of a framework's arrays, the outermost first."""


def outside(array: Array) -> Variable:
    """Return a Variable over `array` that requires no gradient and is not part of an active transformation."""
    found: Variable = called_with(at_level(None), constant_variable, array)
    return found


def batches_of(variables: Sequence[Variable]) -> Batches:
    """Return the batches in which arrays differ between the elements, the outermost first."""
    chains: list[list[BatchRun]] = []
    differing: set[BatchRun] = set()
    for x in variables:
        array, chain = x._array, []
        while isinstance(array, TransformedArray):
            if isinstance(array, BatchArray):
                chain.append(array.batching.level)
                differing.update(chain[-1:] if array.batched else ())
            array = array.primal if isinstance(array, DualArray) else array.values
        chains.append(chain[::-1])
    return tuple(level for level in max(chains, key=len, default=[]) if level in differing)


def over_axes(
    title: str, framework: Framework, f: Callable[[Any], Any], batches: Batches, axes: Sequence[int]
) -> Callable[[Any], Any]:
    """Return `f`, a function of a list of arrays and None, for each element along axes of them and of its results."""
    if not axes:
        return f

    def mapped(items: Sequence[Any]) -> Any:
        structure: list[Any] = []

        def of_one(arrays: Sequence[Any]) -> list[Any]:
            remaining = iter(arrays)
            leaves, _, build = framework.flatten(f([None if x is None else next(remaining) for x in items]))
            structure[:] = [leaf if not framework.owns(leaf) else framework for leaf in leaves], build
            return [leaf for leaf in leaves if framework.owns(leaf)]

        whole: Callable[[Any], Any] = of_one
        for count, axis in reversed([*enumerate(axes)]):
            whole = framework.mapped(whole, axis - count)
            if whole is NotImplemented:
                raise not_batched(title, batches[axis])
        found = iter(whole([x for x in items if x is not None]))
        leaves, build = structure
        return build([next(found) if leaf is framework else leaf for leaf in leaves])

    return mapped


def lifted(array: Array, batches: Batches, traced: bool = True) -> Array:
    """Return an array of a library as one of the active transformations, with `batches` along its first axes."""
    levels: list[Any] = []
    level = around()
    while level is not None:
        levels.append(level)
        level = level.outer
    for each in [*(b for b in batches if b not in levels), *reversed(levels)]:
        if isinstance(each, BatchRun):
            batch = each.over(array)
            array = batch.made(array) if each in batches else batch.same(array)
        elif isinstance(each, TraceLevel) and traced:
            array = each.enter(array)
    return array


def opened(x: Variable, title: str, batches: Batches) -> Array:
    """Return the array of a Variable without the transformations that are active, with `batches` along its first axes.

    The array of a dual number is its primal, because forward mode transposes the gradient. A traced array gives its
    values and prevents a program, because calls of another framework cannot be in a program.

    Raises
    ------
    BatchError
        Within a transformation whose arrays have no values for another framework.
    """
    level = around()
    while level is not None:
        if not isinstance(level, (TraceLevel, DualLevel, BatchRun)):
            raise not_batched(title, level)
        level = level.outer
    array, batch = x._array, None
    while isinstance(array, TransformedArray):
        if isinstance(array, TracedArray):
            array.recording.level.check()
            array.recording.fail(f"{title} was called", "call it outside of the compiled function")
            array = array.values
        elif isinstance(array, DualArray):
            if batch is not None:
                raise not_batched(title, batch, f"call {array.level.title} within {batch.title}")
            array = array.primal
        else:
            batch = array.batching.level
            array = array.batching.front(array) if batch in batches else array.values
    return array


def not_batched(title: str, level: Any, remedy: str | None = None) -> BatchError:
    """Return the error for a transformation within which another framework cannot be called."""
    remedy = remedy or f"call it outside of {level.title}, for the whole batch"
    return BatchError(
        f"{title}: arrays within {level.title} cannot be passed to another framework; {remedy}, or use the framework's "
        "own transformation within the function"
    )


def has_tangent(x: Variable) -> bool:
    """Return whether a Variable is of floating-point numbers, within forward mode."""
    spec: Any = x._node.spec
    return bool(spec.backend.carries_tangents and spec.differentiable)
