"""Family A, aliasing: gradients with contributions from several functions."""

import math
from collections.abc import Callable
from typing import Any

from xpgrad import FunctionNode, Variable, backward
from xpgrad.types import Array, Namespace
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.layouts import assert_untouched
from xpgrad_conformance.checks.sharing import overwrite
from xpgrad_conformance.generated.writing import WRITES
from xpgrad_conformance.subject import Subject

LARGE = 4500  # elements


MAX_SIZE = 2**20  # elements of an array that is large enough for sums in place


def sizes(s: Subject) -> tuple[tuple[int, int], ...]:
    """Return a small shape, and a shape large enough for the sweep to add in place if the backend supports it."""
    start = s.backend.in_place_from
    least = LARGE if math.isinf(start) or start > MAX_SIZE else max(LARGE, int(start))
    return (3, 4), (67, math.ceil(least / 67) + 1)


@check("A10")
def sums_of_gradients(s: Subject) -> None:
    """A Variable that is used many times gets the sum of all contributions; all other arrays are unchanged."""
    for shape in sizes(s):
        a, b, seed, values = (s.values(shape) for _ in range(4))
        x, wa, wb = s.variable(values), s.array(a), s.array(b)
        start = s.array(seed)
        uses = [x * wa, x + wb, s.xp.positive(x), x * wb, s.xp.matrix_transpose(s.xp.matrix_transpose(x)), x - wa]
        y = uses[0]
        for each in uses[1:]:
            y = y + each
        y.grad = start
        y.backward(retain_grad=True)
        wanted = seed.astype(float) * (a.astype(float) + b + 4)
        s.expect(x.grad, wanted, f"the gradient of x, of shape {shape}, which six functions use,")
        for i, each in enumerate(uses):
            assert each.grad is not None, f"use {i} of x has no gradient, although it was to be retained"
            s.expect(each.grad, seed, f"the gradient of use {i} of x")
        for what, array, before in (("a factor", wa, a), ("a factor", wb, b), ("the seed", start, seed)):
            assert_untouched(s, array, before, f"the sweep of a sum of shape {shape}: {what}")


@check("A11")
def broadcast_contributions(s: Subject) -> None:
    """Contributions that are broadcast or transposed views add up in any order, and are not written to."""
    for shape in sizes(s):
        w, values = s.values(shape), s.values(shape)
        row, column = s.values(shape[1:]), s.values(shape[:1])
        weights, rows, columns = s.array(w), s.array(row), s.array(column)
        orders = (0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2), (2, 0, 3, 1)
        for order in orders:
            x = s.variable(values)
            terms = _sums(s.xp, x, weights, rows, columns)
            parts = [terms[i]() for i in order]
            y = parts[0] + parts[1] + parts[2] + parts[3]
            y.backward()
            wanted = 1 + w.astype(float) + row + column[:, None]
            s.expect(x.grad, wanted, f"the gradient of four sums of a {shape} in the order {order}")
        for what, array, before in (("the weights", weights, w), ("a row", rows, row), ("a column", columns, column)):
            assert_untouched(s, array, before, f"the sweep of sums of shape {shape}: {what}")


def _sums(xp: Namespace, x: Variable, weights: Array, rows: Array, columns: Array) -> list[Callable[[], Variable]]:
    """Return functions whose cotangents for `x` are broadcast, plain, broadcast over rows, and a transposed view."""
    return [
        lambda: xp.sum(x),
        lambda: xp.sum(x * weights),
        lambda: xp.sum(xp.sum(x, axis=0) * rows),
        lambda: xp.sum(xp.sum(xp.matrix_transpose(x), axis=0) * columns),
    ]


@check("A17")
def second_sweep_adds(s: Subject) -> None:
    """A second backward adds to a gradient, and does not write to the previous gradient array."""
    for shape in sizes(s):
        values, w = s.values(shape), s.values(shape)
        x, weights = s.variable(values), s.array(w)
        y = s.xp.sum(x * weights)
        y.backward()
        first = x.grad
        y.backward()
        s.expect(x.grad, 2.0 * w, f"the gradient after two sweeps of shape {shape}")
        s.expect(first, w, f"the gradient of the first sweep of shape {shape}, after the second,")
        assert_untouched(s, weights, w, f"the factor of shape {shape}, after two sweeps,")


@check("A18")
def one_array_twice(s: Subject) -> None:
    """One array as both operands, or in two Variables, gives each its whole gradient."""
    host, gy = s.values((3, 4)), s.values((3, 4))
    programs: list[tuple[str, Callable[[Variable], Variable], Any]] = [
        ("x + x", lambda x: x + x, 2.0 + 0 * host),
        ("x * x", lambda x: x * x, 2.0 * host),
        ("x - x", lambda x: x - x, 0 * host),
        ("(x * x) * x", lambda x: x * x * x, 3.0 * host * host),
    ]
    for name, call, slope in programs:
        x = s.variable(host)
        y = call(x)
        y.grad = s.array(gy)
        y.backward()
        s.expect(x.grad, slope.astype(float) * gy, f"the gradient of {name}")
    shared = s.array(host)
    x1, x2 = Variable(shared), Variable(shared)
    seed = s.array(gy)
    backward([x1 * x2 + x1], [Variable(seed)])
    for what, got, slope in (("x1", x1.grad, host + 1.0), ("x2", x2.grad, host)):
        s.expect(got, slope.astype(float) * gy, f"x1 * x2 + x1, both over one array: the gradient of {what}")
    assert_untouched(s, shared, host, "the array of two Variables, after a sweep,")
    assert_untouched(s, seed, gy, "the seed of x1 * x2 + x1, after the sweep,")


class Handed(FunctionNode):
    """A sum whose backward returns the cotangent itself for both inputs."""

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the sum."""
        return (inputs[0] + inputs[1],)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the cotangent, twice."""
        return grad_outputs[0], grad_outputs[0]


@check("A19")
def handed_on(s: Subject) -> None:
    """Functions that hand on one cotangent to two inputs share no memory between gradients."""
    for shape in sizes(s):
        hosts, gy = [s.values(shape) for _ in range(2)], s.values(shape)
        x1, x2 = (s.variable(host) for host in hosts)
        seed = s.array(gy)
        y = Handed().apply((x1, x2))[0] + Handed().apply((x1, x1))[0] + Handed().apply((x2, x1))[0]
        y.grad = seed
        y.backward()
        s.expect(x1.grad, 4.0 * gy, f"Handed, shape {shape}: the gradient of an input that was given four times")
        s.expect(x2.grad, 2.0 * gy, f"Handed, shape {shape}: the gradient of an input that was given twice")
        assert_untouched(s, seed, gy, f"Handed, shape {shape}: the seed")
        x1, x2 = (s.variable(host) for host in hosts)
        y = Handed().apply((x1, x2))[0]
        y.grad = s.array(gy)
        y.backward()
        if s.has(*WRITES) and not s.backend.immutable:
            overwrite(x1.grad)
            assert_untouched(s, x2.grad, gy, f"Handed, shape {shape}: gradient 2, after gradient 1 was written to,")
