"""Family A, aliasing: functions of whole arrays do not modify their arguments and earlier results."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad.types import Array, Namespace
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.layouts import assert_untouched, layouts
from xpgrad_conformance.checks.untouched import BINARY, UNARY, check_call
from xpgrad_conformance.subject import Subject

Call = Callable[[Namespace, Array, Array], Any]


WHOLE: dict[str, Call] = {
    "sum": lambda xp, a, b: xp.sum(a, axis=0),
    "prod": lambda xp, a, b: xp.prod(a, axis=-1),
    "mean": lambda xp, a, b: xp.mean(a, axis=(0, 1)),
    "std": lambda xp, a, b: xp.std(a, axis=0),
    "var": lambda xp, a, b: xp.var(a),
    "max": lambda xp, a, b: xp.max(a, axis=-1),
    "min": lambda xp, a, b: xp.min(a),
    "argmax": lambda xp, a, b: xp.argmax(a, axis=0),
    "argmin": lambda xp, a, b: xp.argmin(a, axis=-1),
    "all": lambda xp, a, b: xp.all(a),
    "any": lambda xp, a, b: xp.any(a, axis=0),
    "count_nonzero": lambda xp, a, b: xp.count_nonzero(a),
    "cumulative_sum": lambda xp, a, b: xp.cumulative_sum(a, axis=-1),
    "cumulative_prod": lambda xp, a, b: xp.cumulative_prod(a, axis=0),
    "sort": lambda xp, a, b: xp.sort(a, axis=-1),
    "argsort": lambda xp, a, b: xp.argsort(a, axis=0),
    "diff": lambda xp, a, b: xp.diff(a, axis=0),
    "flip": lambda xp, a, b: xp.flip(a, axis=0),
    "roll": lambda xp, a, b: xp.roll(a, 1, axis=-1),
    "clip": lambda xp, a, b: xp.clip(a, 0.3, 0.6),
    "where": lambda xp, a, b: xp.where(a > b, a, b),
    "concat": lambda xp, a, b: xp.concat([a, b], axis=-1),
    "stack": lambda xp, a, b: xp.stack([a, b], axis=1),
    "tile": lambda xp, a, b: xp.tile(a, (2, 1)),
    "repeat": lambda xp, a, b: xp.repeat(a, 2, axis=0),
    "tril": lambda xp, a, b: xp.tril(a),
    "triu": lambda xp, a, b: xp.triu(a),
    "expand_dims": lambda xp, a, b: xp.expand_dims(a, axis=1),
    "moveaxis": lambda xp, a, b: xp.moveaxis(a, 0, 1),
    "astype": lambda xp, a, b: xp.astype(a, xp.float32),
    "matmul": lambda xp, a, b: xp.matmul(a, xp.matrix_transpose(b)),
    "tensordot": lambda xp, a, b: xp.tensordot(a, b, axes=2),
    "vecdot": lambda xp, a, b: xp.vecdot(a, b),
}


SQUARE: dict[str, Call] = {
    "matmul": lambda xp, a, b: xp.matmul(a, b),
    "linalg.det": lambda xp, a, b: xp.linalg.det(a),
    "linalg.slogdet": lambda xp, a, b: xp.linalg.slogdet(a),
    "linalg.inv": lambda xp, a, b: xp.linalg.inv(a),
    "linalg.solve": lambda xp, a, b: xp.linalg.solve(a, b),
    "linalg.qr": lambda xp, a, b: xp.linalg.qr(a, mode="reduced"),
    "linalg.svd": lambda xp, a, b: xp.linalg.svd(a, full_matrices=False),
    "linalg.cholesky": lambda xp, a, b: xp.linalg.cholesky(a),
    "linalg.eigh": lambda xp, a, b: xp.linalg.eigh(a),
    "linalg.matrix_power": lambda xp, a, b: xp.linalg.matrix_power(a, 3),
}


@check("A06")
def whole_arrays(s: Subject) -> None:
    """Reductions, sorting, joining and moving do not change their arguments, in any layout."""
    host = s.values((3, 4), 0.1, 0.9)
    for what, array, before in layouts(s):
        if tuple(array.shape) == (3, 4):
            other = s.array(host)
            given = (what, array, before), ("a (3, 4) array", other, host)
            for name, call in WHOLE.items():
                if s.has(name):
                    check_call(s, functools.partial(call, s.backend.namespace, array, other), name, *given)


@check("A07")
def matrices(s: Subject) -> None:
    """Functions of square matrices do not change them, in any memory layout."""
    spread = s.values((4, 4), -1.0, 1.0)
    host = (np.matmul(spread, spread.T) + 3 * np.eye(4)).astype(s.wide)
    right = s.values((4, 4))
    plain, b = s.array(host), s.array(right)
    turned = s.kernels.matrix_transpose(s.array(np.ascontiguousarray(host.T)))
    for what, a in (("a matrix", plain), ("a transposed matrix", turned)):
        for name, call in SQUARE.items():
            if s.has(name):
                given = (what, a, host), ("a second matrix", b, right)
                check_call(s, functools.partial(call, s.backend.namespace, a, b), name, *given)


@check("A08")
def scattering(s: Subject) -> None:
    """scatter_add does not change values and positions, and each call returns separate memory."""
    places = np.array([2, 0, 2, 1])
    rows, all_of_it = s.values((4, 3)), s.values((5, 3))
    parts: list[tuple[Any, Any, Any]] = [(1, rows[0], s.array(rows[0])), (..., all_of_it, s.array(all_of_it))]
    index = s.array(places)
    if s.has("index_arrays"):
        parts.append((index, rows, s.array(rows)))
    spec = s.backend.spec(parts[1][2])
    expected, results = [], []
    for factor in (1, 2):
        total = np.zeros((5, 3))
        for where, values, _ in parts * factor:
            np.add.at(total, places if where is index else where, values)
        expected.append(total)
        results.append(s.kernels.scatter_add(spec, [(where, array) for where, _, array in parts * factor]))
    for i, (got, total) in enumerate(zip(results, expected, strict=True)):
        s.expect(got, total, f"the result of call {i + 1} of scatter_add, after call 2,")
    for where, values, array in parts:
        assert_untouched(
            s, array, values, f"scatter_add: the values for {'an index array' if where is index else where!r}"
        )
    assert_untouched(s, index, places, "scatter_add: the index array")


@check("A09")
def accumulating(s: Subject) -> None:
    """accumulate(total, g) returns the sum and does not change g, for any layout of g."""
    for what, g, host in layouts(s):
        start, more = s.values(host.shape), s.values(host.shape)
        second = s.array(more)
        once = s.kernels.accumulate(s.array(start), g)
        s.expect(once, start.astype(float) + host, f"accumulate(total, g), g being {what},")
        twice = s.kernels.accumulate(once, second)
        s.expect(twice, start.astype(float) + host + more, f"accumulate(accumulate(total, g), h), g being {what},")
        assert_untouched(s, g, host, f"accumulate(total, g): g, {what},")
        assert_untouched(s, second, more, f"accumulate(total, g): g, a contiguous array of shape {host.shape},")


@check("A22")
def second_calls(s: Subject) -> None:
    """A second call of a function does not change the result of the first call."""
    one, two = s.values((4, 4), 0.1, 0.9), s.values((4, 4), 0.1, 0.9)
    hosts = [each + 3 * np.eye(4, dtype=each.dtype) for each in (one, two)]
    hosts = [np.asarray(each + each.T) for each in hosts]
    xp = s.backend.namespace
    calls: dict[str, Call] = {name: _unary(name) for name in UNARY.split() if name != "logical_not"}
    calls |= {name: _binary(name) for name in BINARY.split()} | WHOLE | SQUARE
    with np.errstate(all="ignore"):
        for name, call in calls.items():
            if s.has(name):
                a, b = (s.array(host) for host in hosts)
                for first, second in ((a, b), (b, a)):
                    results = _parts(s, call(xp, first, second))
                    before = [s.host(each) for each in results]
                    _parts(s, call(xp, second, first))
                    for result, was in zip(results, before, strict=True):
                        assert_untouched(s, result, was, f"the result of {name}, shape (4, 4), after a second call,")


def _unary(name: str) -> Call:
    return lambda xp, a, b: getattr(xp, name)(a)


def _binary(name: str) -> Call:
    return lambda xp, a, b: getattr(xp, name)(a, b)


def _parts(s: Subject, result: Any) -> list[Array]:
    many = list(result) if isinstance(result, (tuple, list)) else [result]
    return [s.backend.restore(each) for each in many]
