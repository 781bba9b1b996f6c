"""NumPy's mathematical functions that are not ufuncs, with its argument names, for Variables."""
# ruff: noqa: D103 - documented by NumPy's functions with the same names

import math
from typing import Any

from xpgrad import array_api as xp
from xpgrad import ops, special
from xpgrad.array_api.data_types import to_floating
from xpgrad.array_api.shared import copying
from xpgrad.backend.spellings import dtype_of
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.interop.numpy.arguments import (
    REFUSED,
    Function,
    alike,
    cast,
    delegated,
    flat,
    given,
    like,
    numpy_function,
    numpy_functions,
    standard,
)
from xpgrad.types import WHOLE

ROWS: dict[str, Function] = {
    "polyval": lambda p, x: ops.polyval(*alike(p, x)),
    "ediff1d": lambda ary, to_end=REFUSED, to_begin=REFUSED: xp.diff(flat(ary)),
    "isclose": lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: ops.isclose(
        *alike(a, b), rtol=rtol, atol=atol, equal_nan=equal_nan
    ),
    "allclose": lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: bool(
        ops.allclose(*alike(a, b), rtol=rtol, atol=atol, equal_nan=equal_nan)
    ),
    "nan_to_num": lambda x, copy=True, nan=0.0, posinf=None, neginf=None: ops.nan_to_num(
        x, nan=nan, posinf=posinf, neginf=neginf
    ),
    "round around": lambda a, decimals=0, out=REFUSED: as_variable(a).round(decimals),
    "fix": lambda x, out=REFUSED: xp.trunc(x),
    "angle": lambda z, deg=False: ops.angle(z, deg=deg),
    "real": lambda val: xp.real(val),
    "imag": lambda val: xp.imag(val),
    "sinc": lambda x: ops.sinc(x),
    "i0": lambda x: special.i0(x),
    "union1d": lambda ar1, ar2: ops.union1d(*alike(ar1, ar2)),
    "setdiff1d": lambda ar1, ar2, assume_unique=False: ops.setdiff1d(*alike(ar1, ar2), assume_unique=assume_unique),
    "unravel_index": lambda indices, shape, order=REFUSED: ops.unravel_index(indices, shape),
}
numpy_functions(ROWS)


@numpy_function("convolve")
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    a, v = alike(a, v)
    return ops.convolve(a, v, mode)


@numpy_function("correlate")
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = alike(a, v)
    return ops.convolve(a, xp.flip(xp.conj(v) if v.node.spec.complex else v), mode)


@numpy_function("interp")
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    x, xs, ys = alike(x, xp, fp)  # NumPy's name `xp` of the x-coordinates, not the namespace
    return ops.interp(x, xs, ys, left, right, period)


@numpy_function("trapezoid")
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y, x = (alike(y, dx)[0], None) if x is None else alike(y, x)
    return ops.trapezoid(y, x, dx=dx, axis=axis)


@numpy_function("diff")
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    a = as_variable(a)
    ends = [None if given(each) is None else like(a, each) for each in (prepend, append)]
    shape = tuple(1 if i == axis % a.ndim else length for i, length in enumerate(a.shape))
    before, after = (each if each is None or each.ndim else xp.broadcast_to(each, shape=shape) for each in ends)
    return xp.diff(a, axis=axis, n=n, prepend=before, append=after)


@numpy_function("gradient")
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    f = to_floating(f)
    axes = range(f.ndim) if axis is None else [int(i) for i in ((axis,) if isinstance(axis, WHOLE) else axis)]
    steps = list(varargs or [1.0]) * (1 if len(varargs) == len(axes) else len(axes))
    found = [
        xp.moveaxis(_slopes(xp.moveaxis(f, i, 0), step, edge_order), 0, i) for i, step in zip(axes, steps, strict=True)
    ]
    return found[0] if len(found) == 1 else tuple(found)


def _slopes(f: Variable, step: Any, edge_order: int) -> Any:
    """Return slopes along axis 0 from parabolas through three points; at the ends from lines if `edge_order` is 1."""
    if f.shape[0] <= edge_order or edge_order not in (1, 2):
        raise ValueError(
            f"gradient: expected an edge_order of 1 or 2, and more points than that, got {edge_order} and {f.shape[0]}"
        )
    h = step
    share: float | Variable = 0.5
    if getattr(step, "shape", ()):  # the coordinates of the points
        h = xp.reshape(xp.diff(xp.astype(as_variable(step), f.dtype), axis=0), shape=(-1,) + (1,) * (f.ndim - 1))
        share = h[:-1] / (h[:-1] + h[1:])
    chords = (f[1:] - f[:-1]) / h
    inside = chords[:-1] + (chords[1:] - chords[:-1]) * share
    first, last = chords[:1], chords[-1:]
    if edge_order == 2:
        first, last = 2 * first - inside[:1], 2 * last - inside[-1:]
    return xp.concat([first, inside, last], axis=0)


@numpy_function("unwrap")
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Any:
    """Return `p` with multiples of the period added, so that it has no jumps; its derivative by `p` is 1."""
    p = as_variable(p)
    p = p if p.node.spec.differentiable or isinstance(period, int) else xp.astype(p, alike(p, period)[1].dtype)
    if p.shape[axis] < 2:
        return copying.copy(p)
    half = period / 2
    steps = xp.diff(p.detach(), axis=axis)
    within = xp.remainder(steps + half, period) - half
    within = xp.where((within == -half) & (steps > 0), half, within)  # a jump of half a period keeps its sign
    whole = xp.round((within - steps) / period)
    whole = xp.where(xp.abs(steps) < (half if discont is None else discont), 0, whole)
    counts = xp.cumulative_sum(whole, axis=axis % p.ndim, include_initial=True)
    return xp.astype(p + counts * period, p.dtype, copy=False)


@numpy_function("array_equal")
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    a1, a2 = alike(a1, a2)
    if a1.shape != a2.shape:
        return False
    same = a1 == a2
    return bool(xp.all(same | (xp.isnan(a1) & xp.isnan(a2)) if equal_nan else same))


@numpy_function("vander")
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    x = as_variable(x)
    powers = range(x.size if N is None else N)
    columns = [x**i for i in (powers if increasing else reversed(powers))]
    return xp.stack(columns, axis=-1) if columns else x[:, None][:, :0]


@numpy_function("meshgrid")
def meshgrid(*xi: Any, copy: Any = True, sparse: bool = False, indexing: str = "xy") -> Any:
    xs = alike(*xi)
    order = [1, 0, *range(2, len(xs))] if indexing == "xy" and len(xs) > 1 else list(range(len(xs)))
    shaped = [
        xp.reshape(x, shape=tuple(-1 if axis == order[i] else 1 for axis in range(len(xs)))) for i, x in enumerate(xs)
    ]
    return tuple(shaped) if sparse else xp.broadcast_arrays(*shaped)


for _name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
    delegated(_name)


@numpy_function("isin")
def isin(
    element: Any, test_elements: Any, assume_unique: Any = False, invert: bool = False, *, kind: Any = None
) -> Any:
    x1, x2 = alike(element, test_elements)
    return standard("isin")(x1, x2, invert=invert)


@numpy_function("linspace")
def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: Any = REFUSED, dtype: Any = None,
    axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    start, stop = xp.broadcast_arrays(*map(to_floating, alike(start, stop)))
    spec = (start + stop).node.spec
    count = max(1, num - 1 if endpoint else num)
    steps = spec.backend.asarray([i / count for i in range(num)], dtype=spec.dtype, device=spec.device)
    steps = xp.reshape(steps, shape=(-1,) + (1,) * start.ndim)
    y = xp.moveaxis(start + (stop - start) * steps, 0, axis)
    whole = dtype is not None and spec.backend.is_kind(dtype_of(dtype, spec.backend, "linspace"), "integral")
    return cast(xp.floor(y) if whole else y, dtype)
