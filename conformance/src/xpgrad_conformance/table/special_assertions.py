"""The assertion about special values of elementwise cases: no element's results depend on its neighbours."""

import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from xpgrad import Variable, grad
from xpgrad.backend.plugins import plugins
from xpgrad.testing.arrays import is_floating, on_host
from xpgrad.transforms.forward import jvp
from xpgrad_conformance.table.case import Case, Input
from xpgrad_conformance.table.comparisons import assert_same_bits
from xpgrad_conformance.table.scenario import Scenario

RTOL = {"float64": 1e-10, "float32": 1e-4}
"""Relative differences that are rounding: libraries compute vectors by other formulas than single elements."""
SYMMETRY = 1e-6
"""Differences between second derivatives, relative to the largest one at the same inputs."""
PAIRS = 40
"""Combinations of the values of several inputs."""


def assert_special(s: Scenario) -> None:
    """Values, gradients and second derivatives at special values, including NaN, equal the results for single elements.

    Raw and recorded sweeps and forward mode agree to the bit; mixed second derivatives do not depend on the order of
    the inputs.
    """
    hosts = _values(s)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        together = dict(_results(s, hosts))
        for k in range(hosts[0].size):
            for shape in ((1,), ()):
                alone = dict(_results(s, [host[k : k + 1].reshape(shape) for host in hosts]))
                at = ", ".join(str(host[k]) for host in hosts)
                assert together.keys() == alone.keys(), (
                    f"at {at}, separately as {shape}, they are {', '.join(alone)}, but {', '.join(together)} together"
                )
                for name, array in together.items():
                    _assert_equal(
                        s, array[k], alone[name].reshape(()), f"the {name} at {at}, separately with shape {shape}"
                    )
        _assert_symmetric(s, hosts, together)
        _assert_forward(s, hosts, together)


def applies(case: Case) -> bool:
    """Return whether a case has this assertion: an elementwise one of real numbers that has derivatives."""
    return case.elementwise and case.order > 0 and all(x.values is None for x in case.inputs)


def _values(s: Scenario) -> list[Any]:
    """Return a vector for each input: each special value, or some of their combinations."""
    given = [_of_input(s, x, host) for x, host in zip(s.case.inputs, s.inputs, strict=True)]
    rows = list(itertools.product(*given))
    if len(rows) > PAIRS and len(given) > 1:
        rows = [rows[i] for i in sorted(s.generator().permutation(len(rows))[:PAIRS])]
    return [np.asarray(column, host.dtype) for column, host in zip(zip(*rows, strict=True), s.inputs, strict=True)]


def _of_input(s: Scenario, x: Input, host: Any) -> list[Any]:
    ordinary: list[Any] = host.ravel()[:3].tolist()
    if host.dtype.kind not in "f":
        return ordinary
    found = [*ordinary, 0.0, -0.0, 1.0, -1.0, x.low, x.high, 40.0, -40.0, np.inf, -np.inf, np.nan]
    if s.device.backend is not plugins.host:  # their loops over vectors differ from those over single numbers
        return found
    info = np.finfo(host.dtype)
    tiny, root, largest = float(info.smallest_normal), float(info.max) ** 0.5, float(info.max)
    return [*found, tiny, -tiny, tiny / 4, 1e-20, float(info.eps), 2 * root, -2 * root, largest, -largest]


def _results(s: Scenario, hosts: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Yield outputs, gradients and second derivatives by name, on the host."""
    xs = [Variable(s.placed(host)) for host in hosts]
    ys = s.call(xs)
    yield from ((f"output {i}", on_host(y)) for i, y in enumerate(ys))
    outputs, wanted = [ys[i] for i in s.differentiable(ys)], [xs[i] for i in s.floating]
    raw = grad(outputs, wanted, [_ones(s, y) for y in outputs])
    ys = s.call(xs)
    outputs = [ys[i] for i in s.differentiable(ys)]
    recorded = grad(outputs, wanted, [_ones(s, y) for y in outputs], enable_double_backprop=True)
    for i, one, two in zip(s.floating, raw, recorded, strict=True):
        if one is None or two is None:
            assert one is two, f"the gradient {i} exists in one sweep only"
            continue
        yield f"gradient {i}", on_host(one)
        assert_same_bits(
            _numbers(on_host(one)), _numbers(on_host(two)), f"gradient {i} of the raw and the recorded sweep"
        )
        if s.case.order > 1 and two.requires_grad:
            again = grad([two], wanted, [_ones(s, two)])
            yield from (
                (f"second derivative {i}, {j}", on_host(g))
                for j, g in zip(s.floating, again, strict=True)
                if g is not None
            )


def _assert_forward(s: Scenario, hosts: Sequence[Any], results: dict[str, Any]) -> None:
    """Compare finite derivatives of forward mode along each input with the gradients, where the value is a number."""
    for i in s.floating:
        reverse = results.get(f"gradient {i}")
        if reverse is None:
            continue

        def call(x: Any, i: int = i) -> Any:
            ys = s.call([x if k == i else Variable(s.placed(host)) for k, host in enumerate(hosts)])
            return tuple(y for y in ys if is_floating(y.array))

        ys, tangents = jvp(call, [s.placed(hosts[i])], [s.placed(np.ones_like(hosts[i]))])
        forward = np.sum([on_host(t).real for t in tangents], axis=0)
        finite = np.isfinite(forward) & np.isfinite(reverse) & ~np.isnan(np.sum([on_host(y) for y in ys], axis=0))
        rtol = RTOL[s.dtype] * s.widened(s.dtype)
        different = np.argwhere(finite & ~np.isclose(forward, reverse, rtol, np.finfo(s.dtype).smallest_normal))
        if len(different):
            k = int(different[0][0])
            at = ", ".join(str(host[k]) for host in hosts)
            raise AssertionError(
                f"at {at} the derivative by input {i} is {forward[k]!s} in forward mode, and {reverse[k]!s} in reverse"
            )


def _numbers(host: Any) -> Any:
    """Return an array with one NaN for all: their bits have no meaning."""
    return np.where(np.isnan(host), np.asarray(np.nan, host.dtype), host)


def _ones(s: Scenario, y: Variable) -> Variable:
    return Variable(s.placed(np.ones_like(on_host(y))))


def _assert_equal(s: Scenario, got: Any, expected: Any, what: str) -> None:
    smallest = float(np.finfo(s.dtype).smallest_normal)
    assert np.isclose(got, expected, RTOL[s.dtype] * s.widened(s.dtype), smallest, equal_nan=True), (
        f"{what}, is {expected!s}, but {got!s} among other elements"
    )


def _assert_symmetric(s: Scenario, hosts: Sequence[Any], results: dict[str, Any]) -> None:
    sizes = [np.abs(results[name]) for name in results if name.startswith("second")]
    scale = 1e-6 + np.max(sizes, axis=0, initial=0.0, where=np.isfinite(sizes)) if sizes else 0.0
    for i, j in itertools.combinations(s.floating, 2):
        pair = [results.get(f"second derivative {a}, {b}") for a, b in ((i, j), (j, i))]
        if pair[0] is None or pair[1] is None:
            continue
        finite = np.isfinite(pair[0]) & np.isfinite(pair[1])
        close = ~finite | (np.abs(pair[0] - pair[1]) <= SYMMETRY * scale)
        if not close.all():
            k = int(np.argwhere(~close)[0][0])
            at = ", ".join(str(host[k]) for host in hosts)
            raise AssertionError(
                f"at {at} second derivatives are {pair[0][k]!s} by inputs {i}, {j}, and {pair[1][k]!s}"
            )
