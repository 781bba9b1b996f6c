"""Family A, aliasing: gradients, copies and new arrays have memory of their own, seen by writing to it."""

import math
from typing import Any

import numpy as np

from xpgrad.config import using_config
from xpgrad.errors import ChangedArray
from xpgrad.functions import copy
from xpgrad.graph.backward import backward, grad
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable
from xpgrad.testing.conformance.check import Check, check, checks_in
from xpgrad.testing.conformance.checks.untouched import assert_untouched, layouts
from xpgrad.testing.conformance.subject import Subject
from xpgrad.types import Array

WRITES = "in_place_update", "index_assignment"
MARK = 17.0
"""What is written over arrays that nobody else may see."""
LARGE = 4500  # elements
MOST = 2**20  # elements of an array that is large enough for sums in place


def sizes(s: Subject) -> tuple[tuple[int, int], ...]:
    """Return a small shape, and a large one, in which the sweep adds in place if the backend does so at all."""
    start = s.backend.in_place_from
    least = LARGE if math.isinf(start) or start > MOST else max(LARGE, int(start))
    return (3, 4), (67, math.ceil(least / 67) + 1)


def overwrite(array: Array) -> None:
    """Write over all of an array."""
    array[...] = MARK


@check("A10")
def sums_of_gradients(s: Subject) -> None:
    """A Variable that is used many times gets the sum of all contributions, and nothing else changes."""
    for shape in sizes(s):
        a, b, seed, values = (s.values(shape, dtype=s.wide) for _ in range(4))
        x, wa, wb = s.variable(values, s.wide), s.array(a, s.wide), s.array(b, s.wide)
        start = s.array(seed, s.wide)
        uses = [x * wa, x + wb, s.xp.positive(x), x * wb, s.xp.matrix_transpose(s.xp.matrix_transpose(x)), x - wa]
        y = uses[0]
        for each in uses[1:]:
            y = y + each
        y.grad = start
        y.backward(retain_grad=True)
        wanted = seed.astype(float) * (a.astype(float) + b + 4)
        s.expect(x.grad, wanted, f"the gradient of x, of shape {shape}, which six functions use,", dtype=s.wide)
        for i, each in enumerate(uses):
            assert each.grad is not None, f"use {i} of x has no gradient, although it was to be retained"
            s.expect(each.grad, seed, f"the gradient of use {i} of x", dtype=s.wide)
        for what, array, before in (("a factor", wa, a), ("a factor", wb, b), ("the seed", start, seed)):
            assert_untouched(s, array, before, f"the sweep of a sum of shape {shape}: {what}")


@check("A11")
def broadcast_contributions(s: Subject) -> None:
    """Contributions that are broadcast or transposed views add up in any order, and are not written to."""
    for shape in sizes(s):
        w, values = s.values(shape, dtype=s.wide), s.values(shape, dtype=s.wide)
        row, column = s.values(shape[1:], dtype=s.wide), s.values(shape[:1], dtype=s.wide)
        xp = s.xp
        weights, rows, columns = s.array(w, s.wide), s.array(row, s.wide), s.array(column, s.wide)
        orders = (0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2), (2, 0, 3, 1)
        for order in orders:
            x = s.variable(values, s.wide)
            terms = [
                lambda x=x: xp.sum(x),
                lambda x=x: xp.sum(x * weights),
                lambda x=x: xp.sum(xp.sum(x, axis=0) * rows),
                lambda x=x: xp.sum(xp.sum(xp.matrix_transpose(x), axis=0) * columns),
            ]
            parts = [terms[i]() for i in order]
            y = parts[0] + parts[1] + parts[2] + parts[3]
            y.backward()
            wanted = 1 + w.astype(float) + row + column[:, None]
            s.expect(x.grad, wanted, f"the gradient of four sums of a {shape} in the order {order}", dtype=s.wide)
        for what, array, before in (("the weights", weights, w), ("a row", rows, row), ("a column", columns, column)):
            assert_untouched(s, array, before, f"the sweep of sums of shape {shape}: {what}")


@check("A12", needs=WRITES)
def honest_views(s: Subject) -> None:
    """Where is_view says no, writing to the array shows in no other."""
    xp = s.backend.namespace
    for what, x, before in layouts(s):
        shape = tuple(before.shape)
        if 0 in shape:
            continue
        made: dict[str, Any] = {"reshape": lambda x=x, n=before.size: xp.reshape(x, (n,))}
        made["x[...]"] = lambda x=x: x[...]
        made["asarray"] = lambda x=x: xp.asarray(x)
        made["positive"] = lambda x=x: xp.positive(x)
        made["astype without a copy"] = lambda x=x: xp.astype(x, x.dtype, copy=False)
        made["expand_dims"] = lambda x=x: xp.expand_dims(x, axis=0)
        if len(shape) == 2:
            made["permute_dims"] = lambda x=x: xp.permute_dims(x, (1, 0))
            made["x[1:]"] = lambda x=x: x[1:, ...]
            made["broadcast_to"] = lambda x=x, to=shape: xp.broadcast_to(x, (2, *to))
            made["unstack"] = lambda x=x: xp.unstack(x, axis=1)[0]
        for name, make in made.items():
            out = s.backend.restore(make())
            if out is not x and not s.backend.is_view(out):
                overwrite(out)
                call = f"{name} of {what}: is_view says no, but writing to the result shows in the argument, which"
                assert_untouched(s, x, before, call)


@check("A13", needs=WRITES)
def copies(s: Subject) -> None:
    """Backend.copy gives memory of its own, whatever the layout."""
    for what, x, before in layouts(s):
        if 0 in before.shape:
            continue
        made = s.backend.copy(x)
        s.expect(made, before, f"Backend.copy of {what}", dtype=s.wide)
        overwrite(made)
        assert_untouched(s, x, before, f"{what}, after its Backend.copy was written to,")
        made = s.backend.copy(x)
        if "broadcast" not in what:
            overwrite(x)
            assert_untouched(s, made, before, f"a Backend.copy of {what}, after that was written to,")


@check("A14", needs=WRITES)
def new_arrays(s: Subject) -> None:
    """Functions that create arrays give new memory at each call."""
    xp, handle, dtype = s.kernels, s.device.handle, s.array(np.ones(1), s.wide).dtype
    for shape in ((3, 4), (), (1,)):
        spec = s.backend.spec_for(shape, dtype, handle)
        like = s.array(s.values(shape, dtype=s.wide), s.wide)
        made: dict[str, tuple[Any, Any]] = {
            "Backend.ones": (lambda spec=spec: s.backend.ones(spec), np.ones(shape)),
            "Backend.asarray": (lambda: s.backend.asarray(2.5, dtype=dtype, device=handle), np.asarray(2.5)),
            "zeros": (lambda shape=shape: xp.zeros(shape, dtype=dtype, device=handle), np.zeros(shape)),
            "ones": (lambda shape=shape: xp.ones(shape, dtype=dtype, device=handle), np.ones(shape)),
            "full": (lambda shape=shape: xp.full(shape, 2.5, dtype=dtype, device=handle), np.full(shape, 2.5)),
            "zeros_like": (lambda like=like: xp.zeros_like(like), np.zeros(shape)),
            "ones_like": (lambda like=like: xp.ones_like(like), np.ones(shape)),
            "full_like": (lambda like=like: xp.full_like(like, 2.5), np.full(shape, 2.5)),
            "asarray": (lambda: xp.asarray([0.5, 1.5], dtype=dtype, device=handle), np.array([0.5, 1.5])),
            "arange": (lambda: xp.arange(0.0, 3.0, dtype=dtype, device=handle), np.arange(3.0)),
            "linspace": (lambda: xp.linspace(0.0, 1.0, 5, dtype=dtype, device=handle), np.linspace(0, 1, 5)),
            "eye": (lambda: xp.eye(3, 4, dtype=dtype, device=handle), np.eye(3, 4)),
        }
        for name, (make, expected) in made.items():
            if name.startswith("Backend") or s.has(name):
                overwrite(make())
                again = make()
                s.expect(
                    again, expected, f"{name}, shape {expected.shape}, after the last such was written to", dtype=s.wide
                )


@check("A15", needs=WRITES)
def seeds(s: Subject) -> None:
    """A gradient that is written to changes no later sweep, and not the seed of its own."""
    for shape in ((), (1,), (1, 1)):
        host = s.values(shape, dtype=s.wide)
        for name, function in (("positive", s.xp.positive), ("reshape", lambda x: s.xp.reshape(x, (1, 1, 1)))):
            for attempt in (1, 2):
                x = s.variable(host, s.wide)
                y = function(x)
                y.backward(retain_grad=True)
                what = f"sweep {attempt} of {name} of one element, shape {shape}, without a seed:"
                s.expect(x.grad, np.ones(shape), f"{what} the gradient of x", dtype=s.wide)
                overwrite(x.grad)
                s.expect(
                    y.grad, np.ones(y.shape), f"{what} the gradient of y, after that of x was written to", dtype=s.wide
                )
    host, start = s.values((3, 4), dtype=s.wide), s.values((3, 4), dtype=s.wide)
    x, seed = s.variable(host, s.wide), s.array(start, s.wide)
    y = s.xp.positive(x)
    y.grad = seed
    y.backward()
    overwrite(x.grad)
    assert_untouched(s, seed, start, "a seed, after the gradient was written to,")


@check("A16", needs=WRITES)
def independent_gradients(s: Subject) -> None:
    """Writing to one gradient shows in no other, for functions that hand on their cotangent."""
    xp = s.xp
    hosts = [s.values((3, 4), dtype=s.wide) for _ in range(2)]
    programs: dict[str, Any] = {
        "x1 + x2": lambda x1, x2: x1 + x2,
        "x1 + reshape(x2)": lambda x1, x2: xp.reshape(x1, (4, 3)) + xp.reshape(x2, (4, 3)),
        "transposes": lambda x1, x2: xp.permute_dims(x1, (1, 0)) + xp.permute_dims(x2, (1, 0)),
        "concat": lambda x1, x2: xp.concat([x1, x2], axis=1),
        "stack": lambda x1, x2: xp.stack([x1, x2]),
        "where": lambda x1, x2: xp.where(s.array(hosts[0] > 0), x1, x2),
        "broadcast_to": lambda x1, x2: xp.broadcast_to(x1, (2, 3, 4)) + xp.broadcast_to(x2, (2, 3, 4)),
        "sums": lambda x1, x2: xp.sum(x1) + xp.sum(x2),
        "sums and a copy": lambda x1, x2: xp.sum(copy(x1, s.device)) + xp.sum(x2, axis=0),
    }
    for name, program in programs.items():
        for recorded in (False, True):
            xs = [s.variable(host, s.wide) for host in hosts]
            y = program(*xs)
            gy = s.cotangent(y)
            y.grad = s.array(gy, s.wide)
            held = y.grad
            y.backward(retain_grad=True, enable_double_backprop=recorded)
            kinds = "recorded" if recorded else "raw"
            second = s.host(xs[1].grad)
            overwrite(xs[0].grad)
            assert_untouched(
                s, xs[1].grad, second, f"{name}, {kinds} sweep: gradient 2, after gradient 1 was written to,"
            )
            assert_untouched(s, held, gy, f"{name}, {kinds} sweep: the seed, after gradient 1 was written to,")
            if y.grad is not None:
                assert_untouched(
                    s, y.grad, gy, f"{name}, {kinds} sweep: the gradient of y, after gradient 1 was written to,"
                )
            for i, (x, host) in enumerate(zip(xs, hosts, strict=True)):
                assert_untouched(s, x.array, host, f"{name}, {kinds} sweep: x{i + 1}, after gradient 1 was written to,")


@check("A17")
def second_sweep_adds(s: Subject) -> None:
    """A second backward adds to a gradient, and leaves alone the array that was there."""
    for shape in sizes(s):
        values, w = s.values(shape, dtype=s.wide), s.values(shape, dtype=s.wide)
        x, weights = s.variable(values, s.wide), s.array(w, s.wide)
        y = s.xp.sum(x * weights)
        y.backward()
        first = x.grad
        y.backward()
        s.expect(x.grad, 2.0 * w, f"the gradient after two sweeps of shape {shape}", dtype=s.wide)
        s.expect(first, w, f"the gradient of the first sweep of shape {shape}, after the second,", dtype=s.wide)
        assert_untouched(s, weights, w, f"the factor of shape {shape}, after two sweeps,")


@check("A18")
def one_array_twice(s: Subject) -> None:
    """One array as both operands, or in two Variables, gives each its whole gradient."""
    host, gy = s.values((3, 4), dtype=s.wide), s.values((3, 4), dtype=s.wide)
    for name, call, slope in (
        ("x + x", lambda x: x + x, 2.0 + 0 * host),
        ("x * x", lambda x: x * x, 2.0 * host),
        ("x - x", lambda x: x - x, 0 * host),
        ("(x * x) * x", lambda x: x * x * x, 3.0 * host * host),
    ):
        x = s.variable(host, s.wide)
        y = call(x)
        y.grad = s.array(gy, s.wide)
        y.backward()
        s.expect(x.grad, slope.astype(float) * gy, f"the gradient of {name}", dtype=s.wide)
    shared = s.array(host, s.wide)
    x1, x2 = Variable(shared), Variable(shared)
    seed = s.array(gy, s.wide)
    backward([x1 * x2 + x1], [Variable(seed)])
    for what, got, slope in (("x1", x1.grad, host + 1.0), ("x2", x2.grad, host)):
        s.expect(
            got, slope.astype(float) * gy, f"x1 * x2 + x1, both over one array: the gradient of {what}", dtype=s.wide
        )
    assert_untouched(s, shared, host, "the array of two Variables, after a sweep,")
    assert_untouched(s, seed, gy, "the seed of x1 * x2 + x1, after the sweep,")


class Handed(FunctionNode):
    """A sum whose author hands on the cotangent itself, for both inputs."""

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
        hosts, gy = [s.values(shape, dtype=s.wide) for _ in range(2)], s.values(shape, dtype=s.wide)
        x1, x2 = (s.variable(host, s.wide) for host in hosts)
        seed = s.array(gy, s.wide)
        y = Handed().apply((x1, x2))[0] + Handed().apply((x1, x1))[0] + Handed().apply((x2, x1))[0]
        y.grad = seed
        y.backward()
        s.expect(
            x1.grad,
            4.0 * gy,
            f"Handed, shape {shape}: the gradient of an input that was given four times",
            dtype=s.wide,
        )
        s.expect(
            x2.grad, 2.0 * gy, f"Handed, shape {shape}: the gradient of an input that was given twice", dtype=s.wide
        )
        assert_untouched(s, seed, gy, f"Handed, shape {shape}: the seed")
        x1, x2 = (s.variable(host, s.wide) for host in hosts)
        y = Handed().apply((x1, x2))[0]
        y.grad = s.array(gy, s.wide)
        y.backward()
        if s.has(*WRITES) and not s.backend.immutable:
            overwrite(x1.grad)
            assert_untouched(s, x2.grad, gy, f"Handed, shape {shape}: gradient 2, after gradient 1 was written to,")


@check("A20", needs=WRITES)
def scalars(s: Subject) -> None:
    """A Python number means the same after results of it have been written to."""
    numbers = 2.5, 3, -0.75
    for shape in ((), (1,), (3, 4)):
        host = s.values(shape, 0.5, 1.5, s.wide)
        for attempt in (1, 2):
            for number in numbers:
                x = s.variable(host, s.wide)
                results = {"x * c": x * number, "x + c": x + number, "c - x": number - x, "x / c": x / number}
                wide = host.astype(float)
                expected = wide * number, wide + number, number - wide, wide / number
                slopes = number, 1.0, -1.0, 1.0 / number
                for (name, y), value, slope in zip(results.items(), expected, slopes, strict=True):
                    what = f"{name}, c = {number}, shape {shape}, attempt {attempt}"
                    s.expect(y, value, what, dtype=s.wide)
                    start = s.array(np.full(shape, 1.25), s.wide)
                    g = grad([y], [x], [Variable(start)])[0]
                    s.expect(g, np.full(shape, 1.25 * slope), f"the gradient of {what}", dtype=s.wide)
                    assert g is not None
                    overwrite(y.array)
                    overwrite(g.array)
                    assert_untouched(s, x.array, host, f"x, after {what} was written to,")


@check("A21", needs=WRITES)
def changed_in_debug_mode(s: Subject) -> None:
    """In debug mode a kept array that was changed in place is an error, and one that was not is none."""
    host = s.values((3, 4), 0.5, 1.5, s.wide)
    for changed in (False, True):
        with using_config("debug", True):
            x = s.variable(host, s.wide)
            y = s.xp.sum(x * x)
            if changed:
                overwrite(x.array)
                s.raises(ChangedArray, y.backward, "x was written to between x * x and its backward, in debug mode")
            else:
                y.backward()
                s.expect(x.grad, 2.0 * host, "the gradient of x * x in debug mode", dtype=s.wide)


CHECKS: tuple[Check, ...] = checks_in(globals())
