"""One implementation of each function: all names with one meaning lead to the same primitives.

Functions are compared by names with one meaning, and by computing: functions with equal values on a sample must have
recorded the same primitives, or the primitives of one must be a subset, if the second calls the first.
"""

import functools
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest

import xpgrad.array_api as xp
import xpgrad.functions as F
import xpgrad_chx as chx
from xpgrad import Variable, ops, special
from xpgrad.array_api import array_object
from xpgrad.interop.numpy.functions import FUNCTIONS
from xpgrad.interop.numpy.ufuncs import UFUNCS
from xpgrad.testing.arrays import on_host

Function = Callable[..., Any]
Graph = tuple[Counter[str], ...]

RNG = np.random.default_rng(5)
ROWS = RNG.uniform(-1, 1, (4, 4))
SAMPLES: dict[str, tuple[Any, ...]] = {
    "from 0 to 1": (RNG.uniform(0.05, 0.95, 40),),
    "of both signs": (np.concatenate([RNG.uniform(-3, 3, 36), [np.nan, -2.0, 0.5, 17.0]]),),
    "above 1": (RNG.uniform(1.1, 6, 40),),
    "a matrix": (ROWS @ ROWS.T + 0.3 * np.eye(4) + 0.1 * ROWS,),
    "matrices": (RNG.uniform(-1, 2, (2, 3, 4)),),
    "a complex matrix": (ROWS + 1j * RNG.uniform(-1, 1, (4, 4)),),
    "two vectors": (np.append(RNG.uniform(-3, 3, 39), np.nan), np.append(RNG.uniform(0.5, 3, 39), 1.0)),
    "two matrices": (ROWS, RNG.uniform(-1, 1, (4, 4))),
    "two triples": (RNG.uniform(-1, 1, 3), RNG.uniform(0.5, 1, 3)),
}

_PLACING = """astype broadcast_to concat copy duplicate expand_dims flip getitem matrix_transpose permute_dims positive
reshape setitem squeeze stack take _cast"""
PLACING = frozenset(_PLACING.split())
"""Primitives that move elements without computing; which of them an adapter uses is its own matter."""

DIFFERENT: tuple[frozenset[str], ...] = tuple(
    frozenset(names.split())
    for names in (
        # equal for arguments that are real, positive, finite, near or distinct
        "conj conjugate real abs absolute fabs copy identity positive clip nan_to_num clipped_relu elu leaky_relu"
        " relu relu6 rrelu unwrap roll angle imag sum_to nextafter gate fmax fmin maximum minimum full_like where",
        "max nanmax amax min nanmin amin",
        "mean average nanmean",
        "std nanstd",
        "var nanvar",
        "sum nansum",
        "prod nanprod",
        "cumulative_sum cumsum nancumsum",
        "cumulative_prod cumprod nancumprod",
        "median nanmedian",
        "percentile nanpercentile",
        "quantile nanquantile",
        "partition setdiff1d sort unique_values",
        "gammaln loggamma lgamma",
        "zeta zetac polygamma",
        "inv pinv",
        "tril triu",
        # in one dimension, or for two vectors or matrices, products of several kinds are one
        "dot inner vdot vecdot matmul tensordot matvec vecmat batch_matmul linear",
        "fft fftn fft2 ifft ifftn ifft2 rfft rfftn rfft2 irfft irfftn irfft2 hfft ihfft fftshift ifftshift",
    )
)
"""Functions of several meanings that agree on a sample."""

SAME = tuple(
    tuple(names.split())
    for names in (
        "F.sigmoid special.expit ops.expit",
        "F.logsumexp special.logsumexp ops.logsumexp",
        "special.logit ops.logit",
        "special.sinc ops.sinc np.sinc",
        "F.lgamma special.gammaln",
        "F.digamma special.psi special.digamma",
        "F.fmod ops.fmod np.fmod",
        "ops.logaddexp2 np.logaddexp2",
        "F.arccos xp.acos np.arccos",
        "F.cumsum xp.cumulative_sum np.cumsum",
        "F.absolute xp.abs np.absolute np.fabs",
        "special.expm1 xp.expm1 F.expm1 np.expm1",
        "special.log1p xp.log1p F.log1p np.log1p",
        "F.einsum ops.einsum",
        "F.diagonal np.diagonal xp.linalg.diagonal np.linalg.diagonal",
        "np.trace xp.linalg.trace np.linalg.trace Variable.trace",
        "chx.sigmoid F.sigmoid",
        "chx.softmax F.softmax",
        "chx.logsumexp ops.logsumexp",
        "chx.erf special.erf",
        "chx.fmod ops.fmod",
        "np.cross xp.linalg.cross np.linalg.cross",
        "np.linalg.norm xp.linalg.vector_norm",
        "np.tril xp.tril",
        "np.triu xp.triu",
        "F.ndtr special.ndtr",
        "F.erf special.erf",
    )
)
"""Names of one meaning."""


@functools.cache
def public() -> dict[str, Function]:
    """Return every public function by its namespace and name."""
    spaces: dict[str, Any] = {
        "xp": xp, "xp.linalg": xp.linalg, "xp.fft": xp.fft, "special": special, "ops": ops, "F": F,
    }  # fmt: skip
    found = {f"{space}.{name}": getattr(module, name) for space, module in spaces.items() for name in module.__all__}
    found |= {f"np.{name}": function for name, function in {**FUNCTIONS, **UFUNCS}.items()}
    found |= {f"np.{name}": getattr(np, name) for name in ("cbrt", "exp2")}  # found by their names in `special`
    methods = array_object.METHODS.items()
    found |= {f"Variable.{name}": function for name, function in methods if _is_of(array_object, function)}
    found |= {f"chx.{name}": _of_chx(getattr(chx, name)) for name in chx.__all__ if _is_routine(getattr(chx, name))}
    return found


def _is_of(module: Any, function: Any) -> bool:
    return getattr(function, "__module__", None) == module.__name__ and not function.__name__.startswith("_")


def _is_routine(function: Any) -> bool:
    return callable(function) and not isinstance(function, type)


def _of_chx(routine: Function) -> Function:
    """Return a routine of chx arrays as a function of Variables, in their graph."""

    def function(*xs: Variable) -> Any:
        found = _leaves(routine(*[chx.array(x.array).require_grad() for x in xs]))
        return [y._graph.variable for y in found]

    return function


def _leaves(y: Any) -> list[Any]:
    return [leaf for part in y for leaf in _leaves(part)] if isinstance(y, (tuple, list)) else [y]


def primitives(y: Variable) -> Counter[str]:
    """Return how often each primitive that computes is in the graph of `y`."""
    found: Counter[str] = Counter()
    seen, waiting = set(), [y.node.creator_node]
    while waiting:
        function = waiting.pop()
        if function is None or id(function) in seen:
            continue
        seen.add(id(function))
        pullback = getattr(function, "pullback", None)
        name = type(function).__name__ if pullback is None else pullback.definition.name
        found[name] += name not in PLACING
        waiting += [getattr(x, "creator_node", None) for x in function.inputs if x is not None]
    return +found


def _rounded(values: Any) -> Any:
    """Return numbers rounded to six decimals, with one number for all non-finite values, and without signed zeros."""
    known = np.where(np.isfinite(values) & (np.abs(values) < 1e9), values, 7e9).astype(complex)
    return known.round(6) + 0.0


def outcome(function: Function, arrays: tuple[Any, ...]) -> tuple[Any, Graph] | None:
    """Return values to six digits and the primitives that made them; None of a function that does not take these."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            ys = _leaves(function(*[Variable(x, requires_grad=True) for x in arrays]))
    except Exception:
        return None
    if not ys or not all(isinstance(y, Variable) and y.node.spec.differentiable for y in ys):
        return None
    arrays = [np.asarray(on_host(y)) for y in ys]
    if sum(np.isfinite(array).sum() for array in arrays) * 2 < sum(y.size for y in ys):
        return None  # too small a part of a function's domain
    values = tuple((y.shape, _rounded(array).tobytes()) for y, array in zip(ys, arrays, strict=True))
    graph = tuple(map(primitives, ys))
    return (values, graph) if any(graph) else None


def _calls(one: Graph, other: Graph) -> bool:
    """Return whether `one` contains all calls of `other`."""
    return len(one) == len(other) and all(a >= b > Counter() for a, b in zip(one, other, strict=True))


def _short(title: str) -> str:
    return title.rpartition(".")[2]


def duplicates(functions: Mapping[str, Function], arrays: tuple[Any, ...]) -> Iterable[tuple[str, str]]:
    """Yield pairs of functions with equal values and different code."""
    groups: dict[Any, list[tuple[str, Graph]]] = defaultdict(list)
    for title, function in functions.items():
        if (found := outcome(function, arrays)) is not None:
            groups[found[0]].append((title, found[1]))
    for members in groups.values():
        for i, (one, graph) in enumerate(members):
            for other, its in members[:i]:
                meanings = {_short(one), _short(other)}
                if len(meanings) > 1 and any(meanings <= group for group in DIFFERENT):
                    continue
                if not _calls(graph, its) and not _calls(its, graph):
                    yield other, one


@pytest.mark.parametrize("sample", SAMPLES)
def test_functions_of_equal_values_share_an_implementation(sample: str) -> None:
    assert not list(duplicates(public(), SAMPLES[sample]))


@pytest.mark.parametrize("names", SAME, ids=lambda names: names[0])
def test_names_of_one_meaning_lead_to_one_primitive(names: tuple[str, ...]) -> None:
    functions = [public()[name] for name in names]
    if len({getattr(function, "definition", function) for function in functions}) == 1:
        return
    for arrays in SAMPLES.values():
        found = [each for each in (outcome(function, arrays) for function in functions) if each is not None]
        if len(found) == len(names):
            assert len({values for values, _ in found}) == 1
            assert all(set(graph[0]) == set(found[0][1][0]) for _, graph in found)
            return
    pytest.fail("no sample is for all of them")


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_along_an_axis_is_one_primitive(name: str) -> None:
    x = Variable(ROWS, requires_grad=True)
    ours, theirs = getattr(F, name)(x), getattr(special, name)(x, axis=1)
    assert primitives(ours) == primitives(theirs) == {name: 1}
    np.testing.assert_array_equal(ours.array, theirs.array)


@pytest.mark.parametrize(
    ("title", "planted", "sample"),
    [
        ("F.logistic", lambda x: 1 / (1 + xp.exp(-x)), "of both signs"),
        ("np.cbrt", lambda x: xp.sign(x) * xp.abs(x) ** (1 / 3), "of both signs"),
        ("ops.softmax", lambda x: xp.exp(x) / xp.sum(xp.exp(x)), "from 0 to 1"),
        ("ops.trace", lambda x: xp.sum(xp.einsum("ii->i", x)), "a matrix"),
        ("ops.length", lambda x: xp.sqrt(xp.sum(x * x)), "from 0 to 1"),
    ],
)
def test_a_second_way_is_found(title: str, planted: Function, sample: str) -> None:
    assert list(duplicates({**public(), title: planted}, SAMPLES[sample]))


def test_the_logistic_function_has_its_gradient_in_both_tails() -> None:
    for function in (F.sigmoid, special.expit, ops.expit):
        x = Variable(np.asarray([-40.0, 0.0, 6.0, 40.0]), requires_grad=True)
        xp.sum(function(x)).backward()
        np.testing.assert_allclose(x.grad, [np.exp(-40), 0.25, 2.466509291360048e-03, np.exp(-40)], rtol=3e-14)


def test_values_are_those_of_the_library_by_every_name() -> None:
    x = np.asarray(27.0)
    assert np.cbrt(Variable(x)).array == special.cbrt(x).array == np.cbrt(x)
    assert np.exp2(Variable(np.asarray(10.0))).array == special.exp2(np.asarray(10.0)).array == 1024.0
    for fmod in (np.fmod, F.fmod, ops.fmod):
        assert fmod(Variable(np.asarray(1e17)), Variable(np.asarray(3.0))).array == np.fmod(1e17, 3.0)
    assert ops.sinc(np.arange(1.0, 4)).array.tolist() == [0.0, 0.0, 0.0]
