"""Linear filters with rational transfer functions, in one direction or both."""

import math
from collections.abc import Sequence
from typing import Any, Literal

from xpgrad import array_api as xpa
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.linalg.decomposition import Arrays, Decomposition, Targets
from xpgrad.backend.indexing import at_axis
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.scipy.operands import beside, inexact, known, one_axis, real_part_of, reference, resized, zeros_beside
from xpgrad.scipy.signal.smoothing import continued
from xpgrad.types import AnyArray, Array, Namespace

BLOCK = 128
"""Elements of a signal that are computed together, by a triangular matrix."""


class Filter(Decomposition):
    """A linear filter along the last axis, a class because one filtered cotangent gives the gradients of coefficients.

    ``a[0] * y[n] = b[0] * x[n] + b[1] * x[n - 1] + ... - a[1] * y[n - 1] - a[2] * y[n - 2] - ...``.
    """

    name = "lfilter"
    of_square = False
    keeps_inputs = (0, 1, 2)
    keeps_outputs = (0,)

    def compute(self, xp: Namespace, *xs: Array) -> Sequence[Array]:
        """Return the output."""
        return (filtered(xp, *xs),)

    def rule(self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets) -> Arrays:
        """Return ``gx``, the cotangent filtered backwards, and correlations with ``u``, filtered without `b`."""
        (gy,), (b, a, x), (y,) = gys, xs, ys
        specs = [each.spec for each in self.inputs]
        b, a = (xp.conj(c) if spec.complex else c for c, spec in zip((b, a), specs, strict=False))
        back: Any = xp.flip(gy, axis=-1)
        one = xp.ones_like(a[..., :1])
        u = filtered(xp, b if targets == (2,) else one, a, back)
        forward = xp.concat([xp.flip(u, axis=-1)], axis=-1)  # contiguous
        gxs = []
        for i in targets:
            if i == 2:
                g = forward if targets == (2,) else xp.flip(filtered(xp, b, one, u), axis=-1)
            else:
                signal, n = (x, y)[i], x.shape[-1]
                shifts = [min(k, n) for k in range(specs[i].shape[-1])]
                sums = [xp.vecdot(signal[..., : n - k], forward[..., k:], axis=-1) for k in shifts]
                g = xp.stack(sums, axis=-1) * (1.0, -1.0)[i]
            gxs.append(g)
        return gxs


def filtered(xp: Namespace, b: Any, a: Any, x: Any) -> Any:
    """Return the output of a filter as an array, or as a Variable for Variables."""
    if any(isinstance(each, Variable) for each in (b, a, x)):
        return Filter().apply((b, a, x))[0]
    own = reference("scipy.signal", "lfilter", b, a, x)
    if own is not None and b.ndim == a.ndim == 1 and x.size:
        if x.ndim == 1 and a.shape[0] == 1:
            return xp.convolve_full(x, b / a)[: x.shape[0]]
        return own(b, a, x, axis=-1)
    b, a, n = b / a[..., :1], a[..., 1:] / a[..., :1], x.shape[-1]
    driven = b[..., :1] * x
    for k in range(1, min(b.shape[-1], n)):
        part = b[..., k : k + 1] * x[..., : n - k]
        driven = driven + xp.concat([xp.zeros_like(part[..., :1])] * k + [part], axis=-1)
    return _recursion(xp, a, driven) if a.shape[-1] else driven


def _recursion(xp: Namespace, a: Any, x: Any) -> Any:
    """Return ``y[n] = x[n] - a[0] * y[n - 1] - a[1] * y[n - 2] - ...``."""
    order, n = a.shape[-1], x.shape[-1]
    size = max(1, min(n, max(BLOCK, order)))
    impulse = _impulse(xp, a, size)
    numbers = xp.arange(size, device=xp.device_of(x))
    lag = numbers[:, None] - numbers
    inside = lag >= 0
    flat = xp.reshape(xp.where(inside, lag, 0), shape=(-1,))
    matrix = xp.reshape(xp.take(impulse, flat, axis=-1), shape=(*impulse.shape[:-1], size, size))
    matrix = xp.where(inside, matrix, xp.zeros_like(matrix))
    parts: list[Any] = []
    state = None
    for start in range(0, n, size):
        block = x[..., start : min(start + size, n)]
        m = block.shape[-1]
        if state is not None:
            block = block - _carried(xp, a, state, m)
        y = xp.matmul(matrix[..., :m, :m], block[..., None])[..., 0]
        state = y if state is None else xp.concat([state, y], axis=-1)
        state = state[..., max(0, state.shape[-1] - order) :]
        parts.append(y)
    return xp.concat(parts, axis=-1) if len(parts) > 1 else parts[0] if parts else x


def _impulse(xp: Namespace, a: Array, size: int) -> Any:
    """Return the first elements of the response to an impulse."""
    one = xp.ones_like(a[..., :1])
    found = [one]
    for n in range(1, size):
        terms = [a[..., k - 1 : k] * found[n - k] for k in range(1, min(n, a.shape[-1]) + 1)]
        found.append(-sum(terms[1:], start=terms[0]) if terms else -xp.zeros_like(one))
    return xp.concat(found, axis=-1)


def _carried(xp: Namespace, a: Array, state: Array, m: int) -> Any:
    """Return the contribution of earlier outputs to the recursion in a block of `m` elements."""
    order, known = a.shape[-1], state.shape[-1]
    columns = []
    for i in range(min(m, order)):
        terms = [a[..., k - 1] * state[..., known - (k - i)] for k in range(i + 1, order + 1) if k - i <= known]
        columns.append(sum(terms, start=xp.zeros_like(state[..., 0])))
    if m > order:
        columns += [xp.zeros_like(state[..., 0])] * (m - order)
    return xp.stack(columns, axis=-1)


def _coefficients(b: Any, a: Any, x: Any, name: str) -> tuple[Variable, Variable, Variable]:
    """Return the coefficients of a filter, which may be numbers, and the signal, in one dtype."""
    x = inexact(x, name)
    like = real_part_of(x)
    b, a = (c if isinstance(c, Variable) else beside(like, c, name) for c in (b, a))
    b, a = (xpa.reshape(c, (1,)) if not c.ndim else c for c in (b, a))
    if b.ndim != 1 or a.ndim != 1 or not b.shape[0] or not a.shape[0]:
        raise ShapeError(f"{name}: expected vectors of coefficients, got shapes {b.shape} and {a.shape}")
    if not x.ndim:
        raise ShapeError(f"{name}: expected a signal with at least one axis, got shape ()")
    if b.dtype == a.dtype == x.dtype:
        return b, a, x
    namespace = x.node.spec.backend.namespace
    real = namespace.result_type(*(real_part_of(c).dtype for c in (b, a, x)))
    b, a, x = (c if c.node.spec.complex else xpa.astype(c, real, copy=False) for c in (b, a, x))
    return b, a, x


@in_single_precision
def lfilter(b: AnyArray, a: AnyArray, x: AnyArray, axis: int = -1, zi: AnyArray | None = None) -> Any:
    """Return a signal filtered along an axis by a rational transfer function.

    Parameters
    ----------
    b, a : Variable or array, shape (M,) and (N,)
        Coefficients of the numerator and the denominator, ``a[0]`` not 0.
    x : Variable or array, floating-point
    axis : int
    zi : Variable or array, optional
        The initial state, with ``max(M, N) - 1`` elements along `axis`.

    Returns
    -------
    Variable, like `x`; with `zi` a pair of it and the final state
        All arguments have gradients.
    """
    b, a, x = _coefficients(b, a, x, "lfilter")
    along = one_axis(axis, x, "lfilter")
    moved = x if along == x.ndim - 1 else xpa.moveaxis(x, along, -1)
    y: Any = filtered(xpa, b, a, moved)
    if zi is None:
        return y if moved is x else xpa.moveaxis(y, -1, along)
    order, state = max(b.shape[0], a.shape[0]) - 1, beside(x, zi, "lfilter")
    if state.ndim != x.ndim or state.shape[along] != order:
        raise ShapeError(f"lfilter: expected zi with {order} elements along axis {axis}, got shape {state.shape}")
    state = xpa.moveaxis(state, along, -1)
    y = y + filtered(xpa, a[:1], a, resized(state, state.ndim - 1, moved.shape[-1]))
    return xpa.moveaxis(y, -1, along), xpa.moveaxis(_final(b / a[0], a[1:] / a[0], moved, y, state), -1, along)


def _final(b: Variable, a: Variable, x: Variable, y: Variable, state: Variable) -> Variable:
    """Return the state after the signal."""
    n, order, columns = x.shape[-1], state.shape[-1], []
    for i in range(order):
        total: Any = state[..., i + n] if i + n < order else zeros_beside(y, y.shape[:-1])
        for k in range(i + 1, order + 1):
            if (at := n - (k - i)) >= 0:
                total = total + b[k] * x[..., at] if k < b.shape[0] else total
                total = total - a[k - 1] * y[..., at] if k <= a.shape[0] else total
        columns.append(xpa.broadcast_to(total, y.shape[:-1]))
    return xpa.stack(columns, axis=-1) if columns else zeros_beside(y, (*y.shape[:-1], 0))


def lfilter_zi(b: AnyArray, a: AnyArray) -> Variable:
    """Return the steady state of a filter for the constant signal 1.

    Parameters
    ----------
    b, a : Variable or array, shape (M,) and (N,)
        Zeros at the beginning of `a` are left out, if they can be read.

    Returns
    -------
    Variable, shape (max(M, N) - 1,)
    """
    b, a = as_variables("lfilter_zi", b, a)
    if b.ndim != 1 or a.ndim != 1:
        raise ShapeError(f"lfilter_zi: expected vectors of coefficients, got shapes {b.shape} and {a.shape}")
    while a.shape[0] > 1 and known(a) and not a[0]:
        a = a[1:]
    b, a, count = b / a[0], a / a[0], max(b.shape[0], a.shape[0])
    b, a = resized(b, 0, count), resized(a, 0, count)
    # The state satisfies z[i] = b[i + 1] - a[i + 1] * y + z[i + 1] with y = b[0] + z[0].
    right = b[1:] - a[1:] * b[0]
    first = xpa.sum(right) / xpa.sum(a)
    sums = xpa.flip(xpa.cumulative_sum(xpa.flip(right - a[1:] * first)))
    return sums


@in_single_precision
def sosfilt(sos: AnyArray, x: AnyArray, axis: int = -1, zi: AnyArray | None = None) -> Any:
    """Return a signal filtered along an axis by second-order sections, one after the other.

    Parameters
    ----------
    sos : Variable or array, shape (K, 6)
        Coefficients of numerator and denominator of each section.
    x : Variable or array, floating-point
    axis : int
    zi : Variable or array, optional
        The initial states, with K in front of the axes of `x`, and 2 elements along `axis`.

    Returns
    -------
    Variable, like `x`; with `zi` a pair of it and the final states
    """
    sos, x = as_variables("sosfilt", sos, x)
    sos = sos[None, :] if sos.ndim == 1 else sos
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ShapeError(f"sosfilt: expected sections of shape (K, 6), got {sos.shape}")
    states = None if zi is None else as_variable(zi)
    if states is not None and (not states.ndim or states.shape[0] != sos.shape[0]):
        raise ShapeError(f"sosfilt: expected zi for {sos.shape[0]} sections, got shape {states.shape}")
    finals = []
    for i in range(sos.shape[0]):
        if states is None:
            x = lfilter(sos[i, :3], sos[i, 3:], x, axis)
        else:
            x, final = lfilter(sos[i, :3], sos[i, 3:], x, axis, states[i])
            finals.append(final)
    return x if states is None else (x, xpa.stack(finals, axis=0))


@in_single_precision
def filtfilt(
    b: AnyArray, a: AnyArray, x: AnyArray, axis: int = -1, padtype: Literal["odd", "even", "constant"] | None = "odd",
    padlen: int | None = None, method: str = "pad", irlen: int | None = None,
) -> Variable:  # fmt: skip
    """Return a signal filtered forwards and backwards, without a change of phase.

    Parameters
    ----------
    b, a, x, axis
        As for `lfilter`.
    padtype : {"odd", "even", "constant", None}
        How the signal is continued at its ends.
    padlen : int, optional
        Number of elements of each continuation; by default three times the larger number of coefficients.
    method : {"pad"}
        SciPy's method "gust" and its parameter `irlen` are not implemented.
    """
    if method != "pad" or irlen is not None:
        raise ValueError(f"filtfilt: expected the method 'pad' without irlen, got {method!r}, {irlen!r}")
    if padtype not in ("odd", "even", "constant", None):
        raise ValueError(f"filtfilt: expected padtype 'odd', 'even', 'constant' or None, got {padtype!r}")
    b, a, x = as_variables("filtfilt", b, a, x)
    along = one_axis(axis, x, "filtfilt")
    x = xpa.moveaxis(x, along, -1)
    edge = 3 * max(math.prod(b.shape), math.prod(a.shape)) if padlen is None else padlen
    edge, n = 0 if padtype is None else edge, x.shape[-1]
    if not 0 <= edge < n:
        raise ShapeError(f"filtfilt: expected more than padlen={edge} elements along axis {axis}, got {n}")
    x = continued(x, edge, padtype)
    zi = lfilter_zi(b, a)
    for _ in range(2):
        x = xpa.flip(lfilter(b, a, x, -1, zi * x[..., :1])[0], axis=-1)
    return xpa.moveaxis(x[at_axis(x.ndim - 1, slice(edge, edge + n))], -1, along)
