"""Numerical gradients: central differences, element by element, on arrays of any backend."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable, as_array
from xpgrad.testing.arrays import inner, is_floating, like, on_host
from xpgrad.types import Array


class NondifferentiableError(Exception):
    """A function has no derivative at the point of its numerical gradient."""


def numerical_grad(
    f: Callable[[], Sequence[Array | None]], inputs: Sequence[Array], grad_outputs: Sequence[Array | None],
    eps: float = 1e-3, detect_nondifferentiable: bool = False, diff_atol: float = 0, diff_rtol: float = 1e-2,
    center_outputs: Sequence[Array | None] | None = None,
) -> tuple[Array, ...]:  # fmt: skip
    """Return the gradients of ``sum(grad_outputs * f())`` with respect to each element of `inputs`.

    Parameters
    ----------
    f : callable
        Function without arguments that reads `inputs` and returns a tuple of arrays or None.
    inputs : tuple of arrays or Variables, floating-point
        Changed element by element for the calls of `f`, and then restored: arrays in place, Variables by replacing
        `array`. Immutable arrays must be passed as Variables.
    grad_outputs : tuple of arrays or None
        None means zeros.
    eps : float
        Step; the error of the differences is of order ``eps**2``. They are computed in float64.
    detect_nondifferentiable : bool
        Raise `NondifferentiableError` where five points are not near any parabola, as at kinks and jumps; a point of
        inflection with slope 0, as in ``x**3``, looks the same and needs `diff_atol`.
    diff_atol, diff_rtol : float
        Tolerance of the distance from the parabola, relative to the range of the outputs at the five points.
    center_outputs : tuple of arrays or None, optional
        Outputs at the unchanged inputs, if they are known.

    Returns
    -------
    tuple of arrays
        With shapes, dtypes and devices of `inputs`. A complex element's gradient is that by its real part plus i times
        that by its imaginary part.

    Raises
    ------
    RuntimeError
        An input is not floating-point.
    ValueError
        The numbers of outputs and of `grad_outputs` differ.
    """
    if not eps > 0:
        raise AssertionError(f"numerical_grad: eps must be positive, got {eps}")
    for i, x in enumerate(inputs):
        if not is_floating(as_array(x)):
            raise RuntimeError(f"numerical_grad: inputs[{i}] must be floating-point, got {as_array(x).dtype}")
    gys = [None if gy is None else on_host(gy) for gy in grad_outputs]

    def outputs() -> list[Any]:
        ys = f()
        if not isinstance(ys, (tuple, list)) or len(ys) != len(gys):
            got = f"{len(ys)} outputs" if isinstance(ys, (tuple, list)) else type(ys).__name__
            raise ValueError(
                f"numerical_grad: f must return a tuple of {len(gys)} arrays, one for each of grad_outputs; got {got}"
            )
        return [None if y is None else on_host(y) for y in ys]

    center = None if center_outputs is None else [None if y is None else on_host(y) for y in center_outputs]

    def slope(at: Callable[[float], list[Any]]) -> float:
        ends = at(-eps), at(eps)
        if detect_nondifferentiable:
            middle = center if center is not None else at(0.0)
            _check_differentiable([ends[0], at(-eps / 2), middle, at(eps / 2), ends[1]], diff_atol, diff_rtol)
        total = 0.0
        for y0, y1, gy in zip(*ends, gys, strict=True):
            if y0 is not None and y1 is not None and gy is not None:
                total += inner(gy, np.subtract(y1, y0, dtype=np.result_type(y1, np.float64)))
        return total / (2 * eps)

    return tuple(_by_element(x, slope, outputs) for x in inputs)


def _by_element(
    x: Any, slope: Callable[[Callable[[float], list[Any]]], float], outputs: Callable[[], list[Any]]
) -> Array:
    values = on_host(x)
    gx = np.zeros(values.shape, np.complex128 if np.iscomplexobj(values) else np.float64)
    original = x.array if isinstance(x, Variable) else None
    try:
        for index in np.ndindex(values.shape):
            for unit in (1.0, 1j) if np.iscomplexobj(values) else (1.0,):

                def at(delta: float, index: tuple[int, ...] = index, unit: complex = unit) -> list[Any]:
                    changed = values.copy()
                    changed[index] += delta * unit
                    _write(x, changed)
                    return outputs()

                gx[index] += unit * slope(at)
    finally:
        if isinstance(x, Variable):
            x.array = original
        else:
            _write(x, values)
    return like(gx, as_array(x))


def _write(x: Any, values: Any) -> None:
    if isinstance(x, Variable):
        x.array = like(values, x.array)
        return
    backend = plugins.backend_of(x)
    if backend.immutable:
        raise TypeError(
            f"numerical_grad: arrays of {backend.name} cannot be changed in place; pass Variables over them"
        )
    x[...] = like(values, x)


def _check_differentiable(points: list[list[Any]], atol: float, rtol: float) -> None:
    """Raise `NondifferentiableError` if the outputs at -1, -1/2, 0, 1/2 and 1 steps do not lie near a parabola."""
    steps = np.linspace(-1.0, 1.0, 5)
    basis = np.stack([np.ones(5), steps, steps**2], axis=1)
    residual = np.eye(5) - basis @ np.linalg.pinv(basis)  # maps values to their distance from the best parabola
    for number, ys in enumerate(zip(*points, strict=True)):
        if ys[0] is None or ys[0].dtype.kind not in "fc":
            continue
        values = np.stack([np.asarray(y) for y in ys]).reshape(5, -1)
        finite = np.isfinite(values)
        if (finite.any(0) != finite.all(0)).any():
            raise NondifferentiableError(f"output {number} is finite at some of five points and not at others")
        values = values[:, finite.all(0)].astype(np.result_type(values, np.float64))
        rounding = 8 * float(np.finfo(ys[0].dtype).eps) * np.abs(values).max(0, initial=0)
        spread = np.abs(values - values[2]).max(0, initial=0)
        left = np.abs(residual @ values).max(0, initial=0)
        bad = left > atol + rtol * spread + rounding
        if bad.any():
            worst = int(np.argmax(np.where(bad, left, 0)))
            raise NondifferentiableError(
                f"output {number} has no derivative: its values at five points, {values[:, worst]}, miss every "
                f"parabola by at least {left[worst]:.3g} (atol={atol} rtol={rtol})"
            )
