"""Differences of half from double precision on any device: for the case table, and for sums of many elements."""

import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import xpgrad
import xpgrad.array_api as A
import xpgrad.functions as F
import xpgrad.ops as O
from xpgrad.array_api.namespace import namespace
from xpgrad.errors import DtypeError, XpgradError
from xpgrad.testing.arrays import on_host, placed
from xpgrad_conformance.cases import CASES as ALL_CASES
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.scenario import AREAS, host_inputs

N = 70_000  # more than float16 holds, and no power of 2
ROUNDING = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
SUBNORMAL = {"float16": 2.0**-24, "bfloat16": 2.0**-133}
LARGEST = {"float16": 65504.0, "bfloat16": 3.3895e38}
DIFFERENTIABLE = ("float", "real")  # kinds of inputs
HOST = xpgrad.get_device("@numpy")
UNSUPPORTED = (DtypeError, NotImplementedError, RuntimeError, ValueError)
Spread, Ones, Positive = "normal", "ones", "positive"
Row = tuple[Callable[..., Any], float, tuple[Any, ...]]

# Name: function of the Variables and of integers `i` in their order, scale of the cotangent, shapes and kinds.
# Cotangents of means are large, so that their shares are normal numbers.
FAMILY: dict[str, Row] = {
    "sum of columns": (lambda x, i: A.sum(x, axis=0), 1.0, ((N, 2), Ones, 0.5)),
    "mean": (lambda x, i: A.mean(x), 1000.0, ((N,), Spread)),
    "mean of a picture": (lambda x, i: A.mean(x), 1000.0, ((300, 300), Spread)),
    "mean of columns": (lambda x, i: A.mean(x, axis=0, keepdims=True), 1000.0, ((N, 2), Spread)),
    "var": (lambda x, i: A.var(x), 1000.0, ((N,), Spread)),
    "var of 100 and noise": (lambda x, i: A.var(x + 100.0), 1000.0, ((N,), Spread, 8.0)),
    "var with a correction": (lambda x, i: A.var(x, correction=1), 1000.0, ((N,), Spread)),
    "std": (lambda x, i: A.std(x), 1000.0, ((N,), Spread)),
    "max of equals": (lambda x, i: A.max(x), 1000.0, ((N,), Ones)),
    "min of equal columns": (lambda x, i: A.min(x, axis=0), 1000.0, ((N, 2), Ones)),
    "average": (lambda x, i: A.average(x), 1000.0, ((N,), Spread)),
    "weighted average": (lambda x, w, i: A.average(x, weights=w), 1000.0, ((N,), Spread), ((N,), Positive)),
    "cumulative_sum": (lambda x, i: A.cumulative_sum(x), 0.01, ((N,), Ones, 0.25)),
    "largest modulus of equals": (
        lambda x, i: A.linalg.vector_norm(x, ord=float("inf")),
        1000.0,
        ((N,), Ones),
    ),
    "broadcast_to": (lambda x, i: A.broadcast_to(x, shape=(N, 2)), 0.001, ((1, 2), Spread)),
    "repeat": (lambda x, i: A.repeat(x, N), 0.001, ((2,), Spread)),
    "linspace": (lambda x, y, i: A.linspace(x, y, N), 0.001, ((), Ones), ((), Positive)),
    "take of one place": (lambda x, i: A.take(x, A.asarray(i % 2)), 0.001, ((2,), Spread)),
    "nanmean": (lambda x, i: O.nanmean(x), 1000.0, ((N,), Spread)),
    "nanvar": (lambda x, i: O.nanvar(x), 1000.0, ((N,), Spread)),
    "nanmax of equals": (lambda x, i: O.nanmax(x), 1000.0, ((N,), Ones)),
    "nanmedian": (lambda x, i: O.nanmedian(x), 1000.0, ((N,), Spread)),
    "nanquantile": (lambda x, i: O.nanquantile(x, 0.7777), 1.0, ((N,), Spread)),
    "quantile": (lambda x, i: O.quantile(x, 0.7777), 1.0, ((N,), Spread)),
    "cov": (lambda x, i: O.cov(x), 1000.0, ((3, N), Spread)),
    "corrcoef": (lambda x, i: O.corrcoef(x), 100.0, ((3, N), Spread)),
    "segment_mean": (lambda x, i: O.segment_mean(x, i % 2, 2), 1000.0, ((N,), Spread)),
    "segment_max of equals": (lambda x, i: O.segment_max(x, i % 2, 2), 1000.0, ((N,), Ones)),
    "logsumexp of equals": (lambda x, i: O.logsumexp(x, axis=0), 1000.0, ((N, 1), Ones)),
    "softmax of equals": (lambda x, i: F.softmax(x, axis=0), 1000.0, ((N, 1), Ones)),
    "log_softmax of equals": (lambda x, i: F.log_softmax(x, axis=0)[:9], 0.01, ((N, 1), Ones)),
    "accuracy": (lambda x, i: F.accuracy(x, i % 5), 1.0, ((N, 5), Spread)),
    "accuracy of some": (lambda x, i: F.accuracy(x, i % 5, ignore_label=2), 1.0, ((N, 5), Spread)),
    "embed_id": (lambda x, i: F.embed_id(i % 3, x), 0.001, ((3, 2), Spread)),
    "linear": (lambda x, W, b, i: F.linear(x, W, b), 0.001, ((N, 3), Spread), ((2, 3), Spread), ((2,), Spread)),
    "average_pooling_2d": (lambda x, i: F.average_pooling_2d(x, 300), 1000.0, ((1, 1, 300, 300), Spread)),
    "average_pooling_nd without padding": (
        lambda x, i: F.average_pooling_nd(x, (280, 280), stride=280, pad=1, pad_value=None),
        1000.0,
        ((1, 1, 280, 280), Ones),
    ),
    "max_pooling_2d of equals": (lambda x, i: F.max_pooling_2d(x, 280), 1000.0, ((1, 1, 280, 280), Ones)),
}


CHAINS = {"F.cholesky", "F.forget", "apply_where", "arithmetic-operators"}  # of several functions, which round each
CASES = {
    case.name: case
    for case in ALL_CASES
    if any(x.kind in DIFFERENTIABLE for x in case.inputs) and case.name not in CHAINS and "complex" not in case.needs
}
MAGNITUDES: tuple[float | str | None, ...] = (None, 1e-7, 1e-3, 1.0, 300.0, 6e4, "mixed")
"""Of the elements of all inputs: None leaves their ranges, "mixed" draws one for each element."""
MAX_ROUNDINGS = 8  # the bound, in units of the dtype's rounding error
SATURATING = "softmax"  # the gradient is a difference of numbers of the size of the cotangent


def differences(name: str, device: xpgrad.Device, dtype: str) -> list[str]:
    """Return where value and gradients of a function of many numbers differ from rounded double-precision results."""
    function, scale, *inputs = FAMILY[name]  # type: ignore[misc]  # the length of a row depends on the number of inputs
    rng = np.random.default_rng(0)
    arrays = [_rounded(_array(rng, *each), device, dtype) for each in inputs]

    def call(*xs: Any) -> Any:
        return function(*xs, placed(np.arange(N), xs[0].device))

    exact, cotangents = _computed(call, arrays, HOST, "float64", scale)
    found, _ = _computed(call, arrays, device, dtype, scale, cotangents)
    return [text for what in exact for text in _compared(f"{name}: {what}", found[what], exact[what], dtype)]


def table_differences(name: str, device: xpgrad.Device, dtype: str) -> list[str]:
    """Return where a case in half precision is further than few rounding errors from double precision.

    Elements are not compared where double precision gives NaN, or single precision on the device is off as well. An
    infinity counts as the largest number.
    """
    case, found = CASES[name], []
    for magnitude in MAGNITUDES:
        try:
            inputs = list(_case_inputs(case, magnitude, device, dtype))
            exact, cotangents = _of_case(case, inputs, HOST, "float64")
        except XpgradError:  # outside of the function's domain
            continue
        try:
            half, _ = _of_case(case, inputs, device, dtype, cotangents)
        except UNSUPPORTED:
            continue
        single, _ = _of_case(case, inputs, device, "float32", cotangents)
        floor = 1.0 if SATURATING in case.name else 0.0
        for what, expected in exact.items():
            text = f"{case.name}, magnitude {magnitude}: {what}"
            found += _compared(text, half[what], expected, dtype, single[what], floor)
    return found


def _case_inputs(case: Case, magnitude: float | str | None, device: xpgrad.Device, dtype: str) -> Iterator[Any]:
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    for x, values in zip(case.inputs, host_inputs(case, "float64"), strict=True):
        if x.kind not in DIFFERENTIABLE:
            yield values
            continue
        if x.values is None and magnitude is not None:
            sizes = rng.choice(MAGNITUDES[1:-1], values.shape) if magnitude == "mixed" else magnitude
            signs = 1.0 if x.low >= 0 else rng.choice((-1.0, 1.0), values.shape)
            values = signs * sizes * rng.uniform(0.5, 1.0, values.shape)
        yield _rounded(values, device, dtype)


def _array(rng: np.random.Generator, shape: tuple[int, ...], kind: str, scale: float = 1.0) -> Any:
    if kind == Ones:
        return np.full(shape, scale)
    numbers = np.clip(rng.normal(size=shape), -2.5, 2.5) * scale
    return np.abs(numbers) / 4 + 0.25 if kind == Positive else numbers


def cast(values: Any, device: xpgrad.Device, dtype: str) -> Any:
    """Return host numbers as an array of a dtype that NumPy need not know."""
    backend = device.backend
    wide = placed(np.asarray(values, "float64" if dtype == "float64" else "float32"), device)
    return backend.xp.astype(wide, getattr(backend.namespace, dtype))


def _rounded(values: Any, device: xpgrad.Device, dtype: str) -> Any:
    array = cast(values, device, dtype)
    return np.asarray(on_host(device.backend.xp.astype(array, device.backend.namespace.float32)), "float64")


def _of_case(
    case: Case, inputs: Sequence[Any], device: xpgrad.Device, dtype: str, cotangents: Sequence[Any] = ()
) -> tuple[dict[str, Any], list[Any]]:
    xp = AREAS.get(case.area) or namespace(device.backend)
    kinds = [x.kind in DIFFERENTIABLE for x in case.inputs]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _computed(lambda *xs: case.call(xp, *xs), inputs, device, dtype, 1.0, cotangents, kinds)


def _computed(
    function: Callable[..., Any], arrays: Sequence[Any], device: xpgrad.Device, dtype: str, scale: float,
    cotangents: Sequence[Any] = (), kinds: Sequence[bool] = (),
) -> tuple[dict[str, Any], list[Any]]:  # fmt: skip
    """Return outputs and gradients on the host, by name, and the cotangents, which are drawn unless given."""
    backend = device.backend
    floating = kinds or [True] * len(arrays)
    pairs = zip(arrays, floating, strict=True)
    xs = [xpgrad.Variable(cast(a, device, dtype) if real else placed(a, device)) for a, real in pairs]
    with xpgrad.using_device(device):
        outputs = function(*xs)
        ys = [y for y in (outputs if isinstance(outputs, (tuple, list)) else [outputs]) if _is_real(y)]
        wanted = [y for y in ys if y.requires_grad]
        given = list(cotangents)
        if [g.shape for g in given] != [y.shape for y in wanted]:
            given = [_cotangent(y.shape, scale, k) for k, y in enumerate(wanted)]
        seeds = [cast(g, device, backend.dtype_name(y.dtype)) for g, y in zip(given, wanted, strict=True)]
        if wanted:
            xpgrad.backward(wanted, list(map(xpgrad.Variable, seeds)))
    host = {f"value {k}": _on_host(y.array, dtype) for k, y in enumerate(ys)}
    for k, (x, real) in enumerate(zip(xs, floating, strict=True)):
        assert x.grad is None or x.grad.dtype == x.dtype
        if real:
            host[f"gradient {k}"] = None if x.grad is None else _on_host(x.grad, dtype)
    return host, given


def _is_real(y: Any) -> bool:
    return isinstance(y, xpgrad.Variable) and bool(y.node.spec.backend.is_kind(y.dtype, "real floating"))


def _on_host(array: Any, dtype: str) -> Any:
    xp = xpgrad.as_variable(array).node.spec.backend.xp
    return np.asarray(on_host(xp.astype(array, xp.float64 if dtype == "float64" else xp.float32)), "float64")


def _cotangent(shape: tuple[int, ...], scale: float, seed: int) -> Any:
    """Return random numbers that every dtype can represent."""
    made = np.asarray(np.random.default_rng(1 + seed).uniform(0.5, 1.0, shape) * scale, np.float32)
    return np.asarray(made.view(np.uint32) & 0xFFFF0000, np.uint32).view(np.float32).reshape(shape)


def _compared(what: str, actual: Any, expected: Any, dtype: str, single: Any = None, floor: float = 0.0) -> list[str]:
    """Return the error as text; a result may be as far away as in single precision."""
    if actual is None or expected is None:
        return [] if actual is expected else [f"{what}: one has a gradient, the other has none"]
    limit = LARGEST[dtype]
    known, exact = ~np.isnan(expected), np.clip(expected, -limit, limit)
    largest = np.max(np.abs(exact), where=known, initial=floor)
    allowed = MAX_ROUNDINGS * (ROUNDING[dtype] * (np.abs(exact) + largest) + SUBNORMAL[dtype])
    if single is not None and single.shape == exact.shape:
        known &= ~np.isnan(single)
        allowed = allowed + MAX_ROUNDINGS * np.abs(np.clip(single, -limit, limit) - exact)
    if actual.shape != exact.shape:
        return [f"{what}: shape {actual.shape} for {exact.shape}"]
    right = np.abs(np.clip(actual, -limit, limit) - exact) <= allowed  # False for NaN
    wrong = known & ~(right | ((np.abs(expected) > limit) & ~np.isfinite(actual)))
    if not wrong.any():
        return []
    first = tuple(np.argwhere(wrong)[0])
    return [f"{what}: {wrong.sum()} of {wrong.size}, first {actual[first]} for {expected[first]}"]
