"""Gradient checks under Chainer's names, for functions on arrays and Variables of any backend."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xpgrad.backend.spellings import name_of
from xpgrad.graph.backward import grad
from xpgrad.graph.variable import Variable, as_array
from xpgrad.testing.arrays import assert_allclose, inner, is_floating, like, on_host
from xpgrad.testing.differences import unit_directions
from xpgrad.testing.numerical import NondifferentiableError, numerical_grad
from xpgrad.types import Array, Dtype

__all__ = ["NondifferentiableError", "check_backward", "check_double_backward", "numerical_grad"]

Arrays = Array | Sequence[Array | None]


def check_backward(
    func: Callable[..., Any], x_data: Arrays, y_grad: Arrays | None, params: Variable | Sequence[Variable] = (),
    eps: float = 1e-3, atol: float = 1e-5, rtol: float = 1e-4, no_grads: Sequence[bool] | None = None,
    dtype: Dtype | None = None, detect_nondifferentiable: bool = False, *, seed: int = 0,
) -> None:  # fmt: skip
    """Raise AssertionError if the gradients of `func` disagree with finite differences.

    The derivative of ``sum(y_grad * func(x))`` along one random direction through all inputs and parameters is computed
    in both ways and compared. No Variable's `grad` is changed.

    Parameters
    ----------
    func : callable
        Takes one Variable for each element of `x_data`, returns a Variable or a tuple of Variables or None.
    x_data : array or tuple of arrays
        Arrays of any backend; integer and boolean ones have no gradient.
    y_grad : array, tuple of arrays or None, or None
        Gradients of the outputs. None instead of a tuple means 1, and needs a single output of one element.
    params : Variable or tuple of Variables
        Other Variables that `func` uses; their arrays are replaced for the finite differences, and then restored.
    eps : float
        Step of the finite differences.
    atol, rtol : float
        Tolerances, as in `xpgrad.testing.assert_allclose`.
    no_grads : sequence of bool, optional
        For each element of `x_data` whether it must have no gradient; by default, if it is not floating-point.
    dtype : real floating-point dtype, optional
        Dtype of real data in the finite differences.
    detect_nondifferentiable : bool
        Raise `NondifferentiableError` where `func` seems to have no derivative.
    seed : int
        Seed of the random direction.

    Raises
    ------
    AssertionError
        The gradients disagree.
    RuntimeError
        An input has a gradient that must be None.
    ValueError
        Numbers, shapes or dtypes of the arguments do not match.
    NondifferentiableError
        Only with `detect_nondifferentiable`.

    Examples
    --------
    >>> import numpy as np
    >>> from xpgrad import gradient_check
    >>> gradient_check.check_backward(lambda x: x * x, np.array([1.0, 2.0]), np.array([0.5, -1.5]))
    """
    check = _Check("check_backward", func, _as_tuple(x_data), y_grad, _as_tuple(params), no_grads, dtype, seed)
    check.run(eps, atol, rtol, detect_nondifferentiable)


def check_double_backward(
    func: Callable[..., Any], x_data: Arrays, y_grad: Arrays | None, x_grad_grad: Arrays,
    params: Variable | Sequence[Variable] = (), params_grad_grad: Arrays = (), eps: float = 1e-3, atol: float = 1e-4,
    rtol: float = 1e-3, no_grads: Sequence[bool] | None = None, dtype: Dtype | None = None,
    detect_nondifferentiable: bool = False, *, seed: int = 0,
) -> None:  # fmt: skip
    """Raise AssertionError if the second derivatives of `func` disagree with finite differences.

    The first-order gradients of `func`, as a function of `x_data`, `y_grad` and `params`, are checked as by
    `check_backward`.

    Parameters
    ----------
    func, x_data, y_grad, params, eps, atol, rtol, no_grads, dtype, detect_nondifferentiable, seed
        As for `check_backward`.
    x_grad_grad : array or tuple of arrays or None
        Gradients of the gradients of inputs with a gradient.
    params_grad_grad : array or tuple of arrays or None
        Gradients of the gradients of `params`.

    Raises
    ------
    AssertionError, RuntimeError, ValueError, NondifferentiableError
        As `check_backward`.
    """
    name = "check_double_backward"
    xs_data, parameters, gys_data = _as_tuple(x_data), _as_tuple(params), None if y_grad is None else _as_tuple(y_grad)
    flags = _flags(name, no_grads, xs_data)
    there = [gy is not None for gy in gys_data or ()]
    given = tuple(gy for gy in gys_data or () if gy is not None)
    ggxs = (*_as_tuple(x_grad_grad), *_as_tuple(params_grad_grad))
    if len(ggxs) != flags.count(False) + len(parameters):
        raise ValueError(
            f"{name}: got {len(ggxs)} arrays in x_grad_grad and params_grad_grad, expected one for each of "
            f"{flags.count(False)} inputs that have a gradient and {len(parameters)} params"
        )

    def first_order(*inputs: Variable) -> tuple[Variable | None, ...]:
        xs, rest = inputs[: len(flags)], iter(inputs[len(flags) :])
        gys = None if gys_data is None else [next(rest) if present else None for present in there]
        return tuple(_gradients(name, _as_tuple(func(*xs)), gys, xs, flags, parameters, recorded=True))

    every_flag = [*flags, *(not is_floating(gy) for gy in given)]
    check = _Check(name, first_order, (*xs_data, *given), ggxs, parameters, every_flag, dtype, seed)
    check.run(eps, atol, rtol, detect_nondifferentiable)


class _Check:
    """One comparison of the two directional derivatives of a function."""

    def __init__(
        self, name: str, func: Callable[..., Any], x_data: tuple[Array, ...], y_grad: Arrays | None,
        params: tuple[Variable, ...], no_grads: Sequence[bool] | None, dtype: Dtype | None, seed: int,
    ) -> None:  # fmt: skip
        self.name, self.func, self.params = name, func, params
        self.xs = [Variable(x) for x in x_data]
        self.y_grad = None if y_grad is None else _as_tuple(y_grad)
        self.flags = _flags(name, no_grads, x_data)
        self.dtype = _real_dtype(name, dtype)
        self.moving = [x for x, fixed in zip(self.xs, self.flags, strict=True) if not fixed] + list(params)
        self.start = [on_host(x) for x in self.moving]
        self.directions = unit_directions(self.start, np.random.default_rng(seed))

    def run(self, eps: float, atol: float, rtol: float, detect: bool) -> None:
        """Compare, and raise AssertionError with all inputs if they disagree."""
        analytic = self.analytic()
        numeric = self.numeric(eps, detect)
        try:
            assert_allclose(analytic, numeric, atol, rtol)
        except AssertionError as error:
            lines = [
                f"{self.name} failed (eps={eps} atol={atol} rtol={rtol}): the derivative along the direction is "
                f"{analytic!s} by the gradients, but {numeric!s} by finite differences",
                *(f"inputs[{i}]:\n{on_host(x)}" for i, x in enumerate(self.xs)),
                *(f"grad_outputs[{i}]:\n{None if g is None else on_host(g)}" for i, g in enumerate(self.y_grad or ())),
                *(f"directions[{i}]:\n{d}" for i, d in enumerate(self.directions)),
            ]
            raise AssertionError("\n".join(lines)) from error

    def analytic(self) -> float:
        """Return the derivative along the direction by the function's own gradients."""
        gys = None if self.y_grad is None else [None if g is None else Variable(as_array(g)) for g in self.y_grad]
        ys = _as_tuple(self.func(*self.xs))
        gxs = _gradients(self.name, ys, gys, self.xs, self.flags, self.params, recorded=False)
        return float(sum(inner(on_host(g), d) for g, d in zip(gxs, self.directions, strict=True) if g is not None))

    def numeric(self, eps: float, detect: bool) -> float:
        """Return the derivative along the direction by finite differences."""
        delta = np.zeros((), np.float64)
        originals = [x.array for x in self.moving]
        gys = self.y_grad

        def at_delta() -> tuple[Array | None, ...]:
            for x, array, start, d in zip(self.moving, originals, self.start, self.directions, strict=True):
                x.array = like(start + delta * d, array, None if np.iscomplexobj(start) else self.dtype)
            return tuple(None if y is None else as_array(y) for y in _as_tuple(self.func(*self.xs)))

        try:
            if gys is None:
                gys = tuple(np.ones(y.shape) for y in at_delta() if y is not None)
            return float(on_host(numerical_grad(at_delta, (delta,), gys, eps, detect)[0]))
        finally:
            for x, array in zip(self.moving, originals, strict=True):
                x.array = array


def _gradients(
    name: str, ys: Sequence[Any], gys: Sequence[Any] | None, xs: Sequence[Variable], flags: Sequence[bool],
    params: Sequence[Variable], recorded: bool,
) -> list[Variable | None]:  # fmt: skip
    """Return the gradients of those `xs` that should have one, and of `params`."""
    if gys is None:
        if len(ys) != 1 or ys[0] is None or ys[0].size != 1:
            raise ValueError(f"{name}: y_grad may be None only for a function with one output of one element")
        gys = [None]
        pairs = [(ys[0], None)]
    else:
        if len(gys) != len(ys):
            raise ValueError(f"{name}: got {len(gys)} arrays in y_grad for {len(ys)} outputs")
        pairs = [(y, gy) for y, gy in zip(ys, gys, strict=True) if y is not None and gy is not None]
    pairs = [(y, gy) for y, gy in pairs if y.requires_grad]
    inputs = [*xs, *params]
    sought = [x for x in inputs if x.node.requires_grad]
    ys, gys = [y for y, _ in pairs], [gy for _, gy in pairs]
    found = dict(zip(sought, grad(ys, sought, gys, enable_double_backprop=recorded), strict=True))
    gxs = [found.get(x) for x in inputs]
    for i, (gx, without) in enumerate(zip(gxs, flags, strict=False)):
        if without and gx is not None:
            raise RuntimeError(
                f"{name}: gradient of int variable must be None: input {i} has one, but no_grads says none"
            )
    return [gx for gx, without in zip(gxs, [*flags, *[False] * len(params)], strict=True) if not without]


def _as_tuple(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def _flags(name: str, no_grads: Sequence[bool] | None, x_data: Sequence[Array]) -> list[bool]:
    if no_grads is None:
        return [not is_floating(x) for x in x_data]
    if len(no_grads) != len(x_data):
        raise ValueError(f"{name}: got {len(no_grads)} no_grads for {len(x_data)} inputs")
    return list(no_grads)


def _real_dtype(name: str, dtype: Dtype | None) -> str | None:
    if dtype is None:
        return None
    text = name_of(dtype)
    if text not in ("float16", "float32", "float64"):
        raise ValueError(f"{name}: dtype must be a real floating-point dtype, got {dtype}")
    return text
