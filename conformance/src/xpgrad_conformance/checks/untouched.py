"""Family A, aliasing: kernels and functions do not modify their arguments."""

from typing import Any

import numpy as np

from xpgrad import Variable, grad
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.layouts import assert_untouched, layouts
from xpgrad_conformance.generated.sequences import bits, in_turn, pairs_of
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.comparisons import assert_near
from xpgrad_conformance.table.scenario import Scenario, dtypes_of
from xpgrad_conformance.table.table import variants_for

MAX_POINT_SIZE = 2
"""The most elements in the arguments of samples without axes."""


def _applies(case: Case, dtype: str, quick: bool) -> bool:
    return dtype == dtypes_of(case)[0]


@check("A02", scope="case", applies=_applies, quick=False)
def cases(s: Subject) -> None:
    """Inputs, outputs and cotangents of every function do not change in two sweeps, which give equal gradients."""
    assert s.case is not None
    for variant in variants_for("aliasing", s.case, s.dtype):
        scenario = Scenario(s.case, s.device, s.dtype, variant, seed=s.seed, capabilities=s.capabilities)
        arrays = scenario.arrays()
        xs = scenario.variables(arrays)
        ys = scenario.call(xs)
        wanted = [ys[i] for i in scenario.differentiable(ys)]
        hosts = scenario.cotangents(wanted)
        seeds = [scenario.placed(each) for each in hosts]
        held = [(f"output {i}", y, s.host(y)) for i, y in enumerate(ys)]
        inputs = [scenario.inputs[0]] * len(arrays) if variant.same else scenario.inputs
        held += [(f"input {i}", *pair) for i, pair in enumerate(zip(arrays, inputs, strict=True))]
        held += [(f"cotangent {i}", *pair) for i, pair in enumerate(zip(seeds, hosts, strict=True))]
        swept = []
        for _ in range(2 if wanted else 0):
            found = grad(wanted, [xs[i] for i in scenario.floating], [Variable(g) for g in seeds])
            swept.append([None if g is None else s.host(g) for g in found])
        for what, array, before in held:
            assert_untouched(s, array, before, f"{scenario.title}: {what}")
        for i, (one, two) in enumerate(zip(*swept, strict=True) if swept else ()):
            if one is not None:
                rtol = 16 * float(np.finfo(one.dtype).eps)
                assert_near(two, one, rtol, f"{scenario.title}: gradient {i} of a second sweep through one graph")


@check("A03", scope="operation", applies=in_turn)
def arguments(s: Subject) -> None:
    """Functions change neither their arguments, in any layout, nor the results of earlier calls."""
    assert s.operation is not None
    for one, other in (*pairs_of(s, s.operation, most=MAX_POINT_SIZE), *pairs_of(s, s.operation)):
        arrays, again = one.arrays(s), other.arrays(s)
        first = one.applied(s.xp, *arrays)
        before = bits(first)
        other.applied(s.xp, *again)
        assert bits(first) == before, f"{one.written}: a second call has changed the result of the first"
        for sample, given in (one, arrays), (other, again):
            for i, (array, host) in enumerate(zip(given, sample.hosts, strict=True)):
                assert_untouched(s, array, host, f"{sample.written}: its argument x{i}")


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
