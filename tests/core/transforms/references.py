"""`vmap` as a loop, and forward mode as double reverse mode: references for batches and tangents."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import xpgrad
from xpgrad import Variable, transforms
from xpgrad import array_api as xp
from xpgrad.testing.arrays import like
from xpgrad.transforms.trees import flatten

Axes = int | None | Sequence[int | None]
X, T = np.asarray([0.3, 0.7]), np.asarray([1.0, -2.0])
"""A point and a direction, which the fixture `point` puts on a device."""


def outputs(x: Any, p: Any) -> Any:
    """Return a tree of an array and a number, from a vector and a tree."""
    return {"y": xp.sin(x) * p["a"], "z": xp.sum(x * x)}


def looped(f: Callable[..., Any], in_axes: Axes = 0, out_axes: int = 0, **options: Any) -> Callable[..., Any]:
    """Return a function of arrays that calls `f` for each member, and stacks the leaves of the results.

    It accepts the parameters of `vmap` and ignores parameters that change no result. All results are Variables.
    """

    def each(*args: Any) -> Any:
        axes = list(in_axes) if isinstance(in_axes, Sequence) else [in_axes] * len(args)
        xs = [x if isinstance(x, Variable) else Variable(x, requires_grad=False) for x in args]
        (size,) = {x.shape[axis] for x, axis in zip(xs, axes, strict=True) if axis is not None}
        found = [f(*(member(x, axis, i) for x, axis in zip(xs, axes, strict=True))) for i in range(size)]
        leaves = [flatten(ys)[0] for ys in found]
        structure = flatten(found[0])[1]
        return structure.build([xp.stack(list(ys), axis=out_axes) for ys in zip(*leaves, strict=True)])

    return each


def orders(number: Callable[[Any], Variable], run: Callable[[], Any], leaves: Sequence[Variable]) -> list[Any]:
    """Return a number of the results of `run`, its gradients, and the gradients of the sum of their squares."""
    y = number(run())
    recorded = xpgrad.grad([number(run())], leaves, enable_double_backprop=True)
    squares = sum((xp.sum(g * g) for g in recorded if g is not None), start=0.0 * y)
    return [y, *xpgrad.grad([y], leaves), *recorded, *xpgrad.grad([squares], leaves)]


def member(x: Variable, axis: int | None, i: int) -> Variable:
    """Return the member `i` along an axis, or `x` itself where the axis is None."""
    if axis is None:
        return x
    return x[(slice(None),) * (axis % x.ndim) + (i,)]


def doubled(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Return the result of `jvp`, from the pullback of a pullback, which is linear in its cotangent."""
    y, pullback = transforms.vjp(f, *primals, allow_constant=True)
    zeros = flatten(y)[1].build([0 * each for each in flatten(y)[0]])
    _, pushforward = transforms.vjp(pullback, zeros, allow_constant=True)
    (tangent,) = pushforward(tuple(tangents))
    return y, tangent


def row_by_row(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Jacobian of a function of one array as a function, from a pullback for each element of the output."""

    def matrix(x: Any) -> Any:
        y, pullback = transforms.vjp(f, x, allow_constant=True)
        seeds = np.eye(y.size).reshape(y.size, *y.shape)
        rows = [pullback(like(seed, y.array if isinstance(y, Variable) else y))[0] for seed in seeds]
        return xp.reshape(
            xp.stack([each if isinstance(each, Variable) else Variable(each) for each in rows]), (*y.shape, *x.shape)
        )

    return matrix


def reverse_hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Return the product of a Hessian and tangents by reverse mode over reverse mode."""
    numbers = tuple(range(len(primals)))

    def slope(*xs: Any) -> Any:
        gs = transforms.grad(f, numbers, allow_constant=True)(*xs)
        return sum((xp.sum(g * t) for g, t in zip(gs, tangents, strict=True)), start=0.0 * xp.sum(xs[0]))

    return transforms.grad(slope, numbers, allow_constant=True)(*primals)
