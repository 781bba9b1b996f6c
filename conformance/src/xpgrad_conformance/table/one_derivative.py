"""The assertion that derivatives are unique: all modes, nested to order two, agree or all give no derivative."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from xpgrad import Variable, array_api, as_variable
from xpgrad import compile as compile_function
from xpgrad.errors import MissingFunction
from xpgrad.testing.arrays import on_host
from xpgrad.testing.differences import random_values
from xpgrad.transforms import grad, hvp, jvp, vmap
from xpgrad.transforms.trace.executors import wait
from xpgrad_conformance.table.scenario import REAL, Scenario

RTOL = {"float64": 1e-6, "complex128": 1e-6, "float32": 1e-2, "complex64": 1e-2}
"""By dtype, relative to the largest element; in the narrow ones second derivatives keep few digits."""
INFINITE = 1e12
"""Numbers from here on are quotients by a rounding error, where no derivative exists."""
ROUNDING = 1e-13
"""Relative errors of results next to such numbers, which consist of rounding errors."""
Arrays = Sequence[Any]
Loss = Callable[..., Any]
Way = Callable[[Loss, Arrays, Arrays], Sequence[Any]]
CONSTANT = {"allow_constant": True}


def _gradient(f: Loss) -> Callable[..., Any]:
    return lambda *xs: grad(f, tuple(range(len(xs))), **CONSTANT)(*xs)


def _along(f: Loss, ts: Arrays) -> Loss:
    """Return the derivative of `f` along `ts` as a function, in reverse mode."""

    def slope(*xs: Any) -> Any:
        total: Any = 0.0
        for g, t in zip(_gradient(f)(*xs), ts, strict=True):
            total = total + array_api.sum(array_api.real(array_api.conj(g) * t) if is_complex(t) else g * t)
        return total

    return slope


def is_complex(x: Any) -> bool:
    """Return whether an array has complex numbers."""
    return bool(np.iscomplexobj(on_host(x)))


def _pushed(f: Loss, ts: Arrays) -> Loss:
    """Return the derivative of `f` along `ts` as a function, in forward mode."""
    return lambda *xs: jvp(f, xs, ts, **CONSTANT)[1]


def _stacked(x: Any) -> Any:
    return array_api.stack([x, x])


def _batched(f: Callable[..., Any]) -> Callable[..., Any]:
    return vmap(f, randomness="same")


FIRST: dict[str, Way] = {
    "reverse": lambda f, xs, ts: [_along(f, ts)(*map(as_variable, xs))],
    "forward": lambda f, xs, ts: [_pushed(f, ts)(*xs)],
    "forward in a batch": lambda f, xs, ts: [_batched(_pushed(f, ts))(*map(_stacked, xs))[1]],
    "a batch in forward": lambda f, xs, ts: [
        jvp(_batched(f), [*map(_stacked, xs)], [*map(_stacked, ts)], **CONSTANT)[1][1]
    ],
}
"""Derivatives of order one along a direction."""
SECOND: dict[str, Way] = {
    "reverse over reverse": lambda f, xs, ts: _gradient(_along(f, ts))(*xs),
    "forward over reverse": lambda f, xs, ts: jvp(_gradient(f), xs, ts, **CONSTANT)[1],
    "hvp": lambda f, xs, ts: hvp(f, xs, ts, **CONSTANT),
    "reverse over forward": lambda f, xs, ts: _gradient(_pushed(f, ts))(*xs),
    "forward over reverse in a batch": lambda f, xs, ts: [
        g[1] for g in _batched(lambda *xs: jvp(_gradient(f), xs, ts, **CONSTANT)[1])(*map(_stacked, xs))
    ],
}
"""The products of the Hessian with a direction."""
NUMBER: dict[str, Way] = {
    "reverse over reverse": lambda f, xs, ts: [_along(_along(f, ts), ts)(*map(as_variable, xs))],
    "forward over forward": lambda f, xs, ts: [_pushed(_pushed(f, ts), ts)(*xs)],
    "forward over forward in a batch": lambda f, xs, ts: [_batched(_pushed(_pushed(f, ts), ts))(*map(_stacked, xs))[1]],
}
"""The second derivative along a direction."""
ORDERS = FIRST, SECOND, NUMBER
COMPILED = "reverse", "forward", "reverse over reverse", "forward over reverse", "reverse over forward"
"""The ways that are also compiled."""


def _compiled(way: Way, executor: str | None) -> Way:
    """Return a way whose second call runs a program, unless its control flow depends on values."""

    def run(f: Loss, xs: Arrays, ts: Arrays) -> Sequence[Any]:
        step = compile_function(lambda *given: tuple(way(f, given, ts)), executor=executor)
        step(*xs)
        wait()
        found: Sequence[Any] = step(*xs)
        return found

    return run


def disagreements(
    f: Loss,
    xs: Arrays,
    ts: Arrays,
    rtol: float,
    order: int = 2,
    *,
    defined: bool = True,
    executors: Sequence[str | None] = (),
) -> Iterator[str]:
    """Yield how ways to compute one derivative of `f`, a real number, differ from reverse mode.

    A finite number must be the same in all ways. Where the derivative does not exist, each gives NaN or an infinity; or
    an error, unless the derivative is `defined`. Some ways are also compiled by each of the `executors`; None is the
    default.
    """
    for eager in ORDERS[: 1 if order < 2 else 3]:
        ways = dict(eager)
        for executor in executors:
            for name in ways.keys() & set(COMPILED):
                ways[f"{name}, compiled by {executor or 'default'}"] = _compiled(eager[name], executor)
        found = {name: _computed(way, f, xs, ts) for name, way in ways.items()}
        (first, expected), *rest = found.items()
        if defined and isinstance(expected, str):
            yield f"{first}: {expected}"
        for name, got in rest:
            if isinstance(got, str) and got.startswith("BatchError"):  # the message contains the reason and a remedy
                continue
            if isinstance(got, str) or isinstance(expected, str):
                texts = [x if isinstance(x, str) else f"finite numbers, {x}" for x in (got, expected)]
                if not all(isinstance(x, str) or not (np.abs(x) < INFINITE).any() for x in (got, expected)):
                    yield f"{name}: {texts[0]}; {first}: {texts[1]}"
                continue
            with np.errstate(invalid="ignore"):
                finite = np.abs(expected) < INFINITE
                size = np.max(np.abs(expected), initial=0.0, where=finite)
                allowed = rtol * (size + 1e-3)
                allowed += ROUNDING * np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
                same = np.where(finite, np.abs(got - expected) <= allowed, ~(np.abs(got) < INFINITE))
            if not same.all():
                k = int(np.argmin(same))
                yield f"{name} gives {got[k]:.10g}, {first} {expected[k]:.10g}"


def _computed(way: Way, f: Loss, xs: Arrays, ts: Arrays) -> Any:
    """Return numbers as one vector, or the text of an error, except that of a function that the library lacks."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # also warnings of programs that depend on values
        try:
            found = [on_host(g) for g in way(f, xs, ts)]
        except MissingFunction:  # no statement about a derivative: the plan skips the check if the lack is declared
            raise
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    parts = [part for g in found for part in ([g.real, g.imag] if np.iscomplexobj(g) else [g])]
    return np.concatenate([np.ravel(part) for part in parts]).astype(float) if parts else np.zeros(0)


def assert_one_derivative(s: Scenario) -> None:
    """All modes give the same derivatives."""
    _assert_none(disagreements_at(s, s.inputs))


def assert_compiled_derivative(s: Scenario) -> None:
    """All modes give the same derivatives, and so do their programs, which take five times as long."""
    _assert_none(disagreements_at(s, s.inputs, executors=(None,)))


def assert_special_derivative(s: Scenario) -> None:
    """The derivatives of all modes agree, or all are undefined, where elements are 0, 1, or equal; in wide dtypes."""
    if RTOL[s.dtype] > RTOL["float64"]:  # too few digits to tell a derivative from a division by a rounding error
        return
    for what, values in special_points(s):
        _assert_none(f"{what}: {text}" for text in disagreements_at(s, values, defined=False))


def _assert_none(found: Iterator[str]) -> None:
    for text in found:
        raise AssertionError(text)


def disagreements_at(
    s: Scenario, values: Sequence[Any], *, defined: bool = True, executors: Sequence[str | None] = ()
) -> Iterator[str]:
    """Yield how the derivatives of a case at these inputs differ between modes."""
    rng = s.generator()
    given = [values[i] for i in s.floating]
    directions = [random_values(x.shape, np.iscomplexobj(x), rng).astype(x.dtype) for x in given]
    xs, ts = ([s.placed(each) for each in arrays] for arrays in (given, directions))
    rtol = RTOL[s.dtype] * s.widened(s.dtype)
    return disagreements(_loss(s, values), xs, ts, rtol, s.case.order, defined=defined, executors=executors)


def _loss(s: Scenario, values: Sequence[Any]) -> Loss:
    """Return the case as a function of its floating-point inputs: the outputs with fixed cotangents."""

    def loss(*given: Any) -> Any:
        every: list[Any] = [s.placed(x) for x in values]
        for i, x in zip(s.floating, given, strict=True):
            every[i] = x
        total: Any = 0.0 * array_api.sum(array_api.real(given[0]) if is_complex(values[s.floating[0]]) else given[0])
        for y in s.call(every):
            if isinstance(y, Variable) and s.device.backend.is_kind(y.dtype, ("real floating", "complex floating")):
                weights = random_values(y.shape, False, s.generator())
                real = array_api.real(y) if y.node.spec.complex else y
                total = total + array_api.sum(real * s.placed(weights.astype(REAL[s.dtype])))
        return total

    return loss


def special_points(s: Scenario) -> Iterator[tuple[str, list[Any]]]:
    """Yield values of all inputs, with special values for inputs that have a gradient."""
    for what, special in SPECIAL.items():
        if not any(s.case.name.startswith(name) and what in places for name, places in WITHOUT.items()):
            yield what, [special(x).astype(x.dtype) if i in s.floating else x for i, x in enumerate(s.inputs)]


def _identity(x: Any) -> Any:
    return np.ones_like(x) if x.ndim < 2 else np.zeros_like(x) + np.eye(*x.shape[-2:])


SPECIAL: dict[str, Callable[[Any], Any]] = {
    "at 0": np.zeros_like,
    "at -0": lambda x: -np.zeros_like(x),
    "at 1": np.ones_like,
    "at identity matrices": _identity,
    "where one element is 0": lambda x: np.where(np.arange(x.size).reshape(x.shape) == 0, 0, x),
}
"""Special values of an input: with them come ties, equal eigenvalues, singular matrices, and exponents 0 and 1."""
WITHOUT = {
    "linalg.pinv": ("at 1",),  # of matrices of a lower rank: it jumps there
    "linalg.eig-vectors": ("at 1",),  # the moduli of vectors, which depend on their choice where values are equal
    "linalg.svd-full": ("at 0", "at -0"),  # the same
}
"""Cases without a derivative at special values, by the beginnings of their names."""
