"""Compares a function of a batch with a Python loop over its members: values, gradients, and gradients of these."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import grad
from xpgrad.transforms.batch.vmap import vmap

SIZE = 3


def numbers(shape: Sequence[int], seed: int, dtype: str = "float64") -> Any:
    """Return numbers without a pattern, from -2 to 2; with an imaginary part for a complex dtype."""
    steps = np.arange(1, int(np.prod(shape)) + 1)
    x: Any = 2 * np.sin(steps**2 * (1.37 + 0.11 * seed) + seed)
    if dtype.startswith("complex"):
        x = x + 2j * np.cos(steps**2 * (0.93 + 0.07 * seed))
    return x.reshape(shape).astype(dtype)


def choices(count: int) -> Iterator[tuple[bool, ...]]:
    """Yield the batched operands: all operands, and each single operand."""
    yield (True,) * count
    if count > 1:
        yield from (tuple(i == j for j in range(count)) for i in range(count))


def check(
    call: Callable[..., Any], shapes: Sequence[Any], device: xpgrad.Device, dtype: str = "float64", order: int = 2,
    size: int = SIZE, rtol: float = 1e-9,
) -> None:  # fmt: skip
    """Compare ``vmap(call)`` with the loop, for all operands batched and for each single operand.

    Parameters
    ----------
    call : callable
        Takes Variables, and returns one or several.
    shapes : sequence
        For each operand its shape, or a function that returns a member from a seed and a dtype.
    """
    for batched in choices(len(shapes)):
        try:
            Comparison(call, device, batched, size, rtol).run(operands(shapes, batched, dtype, size), order)
        except Exception as error:
            error.add_note(f"batched: {batched}, {dtype}, {size} members on {device}")
            raise


def operands(shapes: Sequence[Any], batched: Sequence[bool], dtype: str, size: int) -> list[Any]:
    """Return arrays of these shapes, with an axis for the batch where they are batched."""
    made = []
    for i, (shape, several) in enumerate(zip(shapes, batched, strict=True)):
        make = shape if callable(shape) else lambda seed, dtype, shape=shape: numbers(shape, seed, dtype)
        members = [make(7 * i + k, dtype) for k in range((size or 1) if several else 1)]
        made.append(np.stack(members)[:size] if several else members[0])
    return made


@dataclass
class Comparison:
    """Comparison of one function with one choice of batched operands."""

    call: Callable[..., Any]
    device: xpgrad.Device
    batched: Sequence[bool]
    size: int
    rtol: float

    def run(self, arrays: Sequence[Any], order: int) -> None:
        """Compare values, the gradients of the whole up to `order`, and the gradients of members."""
        found, expected = (self.orders(function, arrays, order) for function in (self.at_once, self.looped))
        for k, (a, e) in enumerate(itertools.zip_longest(found, expected)):
            self.equal(a, e, f"number {k} of {len(expected)}")
        if order and self.smooth(arrays):
            self.members(arrays)

    def smooth(self, arrays: Sequence[Any]) -> bool:
        """Return whether the function has a gradient."""
        xs = [Variable(placed(x, self.device), requires_grad=x.dtype.kind in "fc") for x in self.member(arrays, 0)]
        return any(y.requires_grad for y in listed(self.call(*xs)))

    def equal(self, a: Any, e: Any, what: str) -> None:
        """Compare two arrays, or None and zeros."""
        if a is None or e is None:
            assert a is e or not np.any(e if a is None else a), f"{what} is missing in one"
            return
        assert (a.shape, a.dtype) == (e.shape, e.dtype), what
        scale = max(1.0, float(np.max(np.abs(e), initial=0.0)))
        np.testing.assert_allclose(a, e, rtol=self.rtol, atol=self.rtol * scale, err_msg=what)

    @property
    def in_axes(self) -> tuple[int | None, ...]:
        """The axes of the operands."""
        return tuple(0 if several else None for several in self.batched)

    def at_once(self, *xs: Any) -> list[Any]:
        """Return the results of `vmap`."""
        return listed(vmap(lambda *xs: self.call(*xs), in_axes=self.in_axes)(*xs))

    def looped(self, *xs: Any) -> list[Any]:
        """Return the results of a loop."""
        rows = [listed(self.call(*self.member(xs, k))) for k in range(self.size or 1)]
        return [xp.stack(parts, axis=0)[: self.size, ...] for parts in zip(*rows, strict=True)]

    def member(self, xs: Sequence[Any], k: int) -> list[Any]:
        """Return the operands of one member; zeros for the member of an empty batch, whose results have its shapes."""
        pairs = zip(xs, self.batched, strict=True)
        if self.size:
            return [x[k] if several else x for x, several in pairs]
        return [xp.zeros(x.shape[1:], dtype=x.dtype) if several else x for x, several in pairs]

    def orders(self, function: Callable[..., Any], arrays: Sequence[Any], order: int) -> list[Any]:
        """Return the values, the gradients of their sum, and the gradients of the sum of squared gradients."""
        xs = [Variable(placed(x, self.device), requires_grad=x.dtype.kind in "fc") for x in arrays]
        ys = function(*xs)
        found: list[Any] = [on_host(y.array) for y in ys]
        inputs = [x for x in xs if x.requires_grad]
        if order and any(y.requires_grad for y in ys):
            first = xpgrad.grad([self.total(ys)], inputs, enable_double_backprop=order > 1)
            found += [None if g is None else on_host(g.array) for g in first]
            again = [g * g for g in first if g is not None and g.requires_grad]
            if order > 1 and again:
                second = xpgrad.grad([self.total(again)], inputs)
                found += [None if g is None else on_host(g.array) for g in second]
        return found

    def members(self, arrays: Sequence[Any]) -> None:
        """Compare the gradients of each member separately."""
        argnums = tuple(i for i, x in enumerate(arrays) if x.dtype.kind in "fc")
        gradient = grad(lambda *xs: self.total(listed(self.call(*xs))), argnums)
        found = vmap(gradient, in_axes=self.in_axes)(*[placed(x, self.device) for x in arrays])
        for k in range(self.size):
            expected = gradient(*[placed(x, self.device) for x in self.member(arrays, k)])
            for a, e in zip(found, expected, strict=True):
                self.equal(on_host(a)[k], on_host(e), f"the gradient of member {k}")

    def total(self, ys: Sequence[Any]) -> Any:
        """Return a real number that depends on all elements, each with another weight."""
        total: Any = 0.0
        for y in ys:
            if y.node.spec.differentiable:
                y = xp.real(y) + 0.5 * xp.imag(y) if y.node.spec.complex else y
                name = y.node.spec.backend.dtype_name(y.dtype)
                total = total + xp.sum(y * placed(numbers(y.shape, 5, name), self.device))
        return total


def listed(y: Any) -> list[Any]:
    """Return one output or several as a list."""
    return [*y] if isinstance(y, (tuple, list)) else [y]
