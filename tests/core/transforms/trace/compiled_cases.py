"""Runs a case of the table compiled and eagerly, with its derivatives, and compares the results to the bit."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import xpgrad
from xpgrad import Device, Variable, random
from xpgrad.testing.arrays import on_host
from xpgrad.transforms.trace.compiled import Compiled
from xpgrad.transforms.trees import flatten
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.scenario import Scenario
from xpgrad_conformance.table.table import NARROW, variants_for
from xpgrad_conformance.table.variants import PLAIN, Variant

RUNS = 3
"""The first two calls record, and are compared with each other; the third runs the program."""

WITHOUT_PROGRAM: dict[str, tuple[str, ...]] = {
    "the gradient asks which eigenvalues or singular values are equal": (
        *("linalg.eigh", "linalg.eigh-batch", "linalg.eigh-vectors", "linalg.eigvalsh"),
        *("linalg.eig-vectors", "linalg.eig-cube", "linalg.eigvals", "linalg.eigvals-batch"),
        *("linalg.svd", "linalg.svd-tall", "linalg.svd-wide", "linalg.svd-batch", "linalg.svd-full-tall"),
        *("linalg.svd-full-wide", "linalg.svd-vectors", "linalg.svdvals"),
        *("linalg.matrix_norm-nuc", "linalg.matrix_norm-2", "linalg.matrix_norm-minus-2"),
    ),
    "the call seeds the random numbers": (
        *("F.dropout", "F.gaussian-eps", "F.gumbel_softmax", "F.gumbel_softmax-temperature", "F.zoneout"),
        *("F.simplified_dropconnect", "F.simplified_dropconnect-one_mask"),
    ),
    "the number of samples depends on values": (
        *("F.roi_average_align_2d", "F.roi_average_align_2d-height", "F.roi_max_align_2d"),
    ),
    "the shape of a result depends on values": (
        *("nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
        *("nunique", "union1d", "setdiff1d", "bincount", "bincount-weights", "repeat-counts"),
        *("getitem-mask", "getitem-condition", "apply_where", "apply_where-fill"),
    ),
}
"""The cases that run without a program, with the reasons. All remaining cases must run with a compiled program."""
EAGER = {name: reason for reason, names in WITHOUT_PROGRAM.items() for name in names}


def differentiated(scenario: Scenario, twice: bool) -> Callable[..., Any]:
    """Return a function of inputs and cotangents: the outputs of a case, their gradients, and the gradients of these.

    Parameters
    ----------
    scenario : Scenario
    twice : bool
        Whether second derivatives are among the results.
    """
    wanted = scenario.floating if scenario.case.order else []

    def case_with_gradients(xs: Sequence[Variable], gys: Sequence[Variable]) -> Any:
        ys = scenario.call(xs)
        places = scenario.differentiable(ys) if wanted and gys else []
        if not places:
            return ys, [], []
        return ys, *derivatives([ys[i] for i in places], [xs[i] for i in wanted], [gys[i] for i in places], twice)

    return case_with_gradients


def derivatives(
    ys: Sequence[Variable], xs: Sequence[Variable], gys: Sequence[Variable], twice: bool
) -> tuple[list[Any], list[Any]]:
    """Return the gradients of `ys`, and the gradients of these."""
    first = xpgrad.grad(ys, xs, gys, enable_double_backprop=twice)
    again = [g for g in first if g is not None and g.requires_grad]
    return first, xpgrad.grad(again, xs) if twice and again else []


def reason_without_program(case: Case, device: Device, dtype: str, variant: Variant) -> str | None:
    """Run a case with three sets of numbers, compiled and eagerly; return why there is no program, or None.

    Raises
    ------
    AssertionError
        A result, or a gradient inside of the compiled function or through it, is not the eager one to the bit.
    """
    scenarios = [Scenario(case, device, dtype, variant, seed=seed) for seed in range(RUNS)]
    twice = case.order > 1 and dtype not in NARROW and variant.name in (PLAIN.name, "0-d")
    eager = differentiated(scenarios[0], twice)
    compiled = xpgrad.compile(eager, exact=True)
    for number, scenario in enumerate(scenarios):
        moved(scenario, number)
        _compare(eager, compiled, scenario, twice)
    return compiled._kinds[0].eager


def moved(scenario: Scenario, number: int) -> None:
    """Permute inputs whose values are given, so that they differ from run to run like the remaining inputs."""
    for i, x in enumerate(scenario.case.inputs):
        if x.values is not None and x.kind in ("int", "bool"):
            scenario.inputs[i] = np.roll(scenario.inputs[i], number)


def _compare(eager: Callable[..., Any], compiled: Compiled[..., Any], scenario: Scenario, twice: bool) -> None:
    seeds = [scenario.placed(gy) for gy in _cotangents(scenario)]

    def arguments() -> tuple[list[Variable], list[Variable]]:
        return scenario.variables(scenario.arrays()), [Variable(gy, requires_grad=False) for gy in seeds]

    def called(function: Callable[..., Any], *args: Any) -> Any:
        random.seed(3, scenario.device)
        return function(*args)

    expected = called(eager, *arguments())
    xs, gys = arguments()
    result = called(compiled, xs, gys)
    assert_same(result, expected, "the result")
    ys, (wanted, again) = result[0], expected[1:]
    places = scenario.differentiable(ys)
    assert places == scenario.differentiable(expected[0]), "other outputs require a gradient"
    if wanted:
        inputs = [xs[i] for i in scenario.floating]
        through = derivatives([ys[i] for i in places], inputs, [gys[i] for i in places], twice)
        assert_same(through[0], wanted, "the gradient through the call")
        assert_close(through[1], again, "the second derivative through the call")


def _cotangents(scenario: Scenario) -> list[Any]:
    ys = scenario.call(scenario.arrays())
    return scenario.cotangents(ys) if all(hasattr(y, "dtype") for y in ys) else []


def assert_same(got: Any, expected: Any, what: str) -> None:
    """Raise AssertionError unless two trees have the same leaves, to the bit."""
    (leaves, structure), (wanted, other) = flatten(got), flatten(expected)
    found, paths = [*structure.paths()], [*other.paths()]
    assert found == paths, f"{what} has leaves at {found}, expected {paths}"
    for i, (a, b) in enumerate(zip(leaves, wanted, strict=True)):
        assert same_leaf(a, b), f"{what}, leaf {i}, is {a!r}, eagerly {b!r}"


def assert_close(got: Sequence[Any], expected: Sequence[Any], what: str) -> None:
    """Raise AssertionError unless the gradients are equal to rounding.

    To differentiate gradients through a call, the function is called again as a part of the graph, and several
    contributions to an input are first added within that part.
    """
    for i, (a, b) in enumerate(zip(got, expected, strict=True)):
        if a is None or b is None:
            assert a is b, f"{what}, leaf {i}, is {a!r}, eagerly {b!r}"
            continue
        a, b = on_host(a), on_host(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape), f"{what}, leaf {i}, is {a.dtype}{a.shape}"
        with np.errstate(all="ignore"):
            size = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
        near = np.allclose(a, b, rtol=0, atol=1e-12 * size, equal_nan=True)
        assert near, f"{what}, leaf {i}, is {a!r}, eagerly {b!r}"


def same_leaf(a: Any, b: Any) -> bool:
    """Return whether two leaves are equal to the bit; NaN is equal to NaN."""
    if not hasattr(b, "dtype") or not hasattr(a, "dtype"):
        return type(a) is type(b) and repr(a) == repr(b)
    a, b = on_host(a), on_host(b)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    if a.dtype.kind == "c":
        return same_leaf(a.real, b.real) and same_leaf(a.imag, b.imag)
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    return bool(np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a)[a == 0], np.signbit(b)[b == 0]))


def programs_of(case: Case, device: Device, dtypes: Iterable[str], *, every: bool) -> None:
    """Run a case in some dtypes, on all its variants or a few; see `reason_without_program`.

    Raises
    ------
    AssertionError
        A difference, or a case that should have a program and has none, or the other way round.
    """
    reasons = []
    for dtype in dtypes:
        for variant in variants_for("value", case, dtype) if every else (PLAIN,):
            with warnings.catch_warnings(), xpgrad.using_config("detect_mutation", False):  # else it is not compiled
                warnings.simplefilter("ignore")
                try:
                    reasons.append(reason_without_program(case, device, dtype, variant))
                except Exception as error:
                    error.add_note(f"{case.name} in {dtype} on {device}, {variant.name}")
                    raise
    found = next((reason for reason in reasons if reason is not None), None)
    if case.name not in EAGER:
        assert found is None, f"{case.name} runs without a program: {found}"
    elif every:  # a few variants may have one
        assert found is not None, f"{case.name} has a program now: take it off the list"
