"""Formulas of optimizers on arrays: written once, computed in place where the library can, else with Variables."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xpgrad import array_api
from xpgrad.backend.backend import Backend
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.chainer.parameter import Parameter
from xpgrad.config import backprop_mode, called_with
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.types import Array, Dtype, Namespace

Numbers = Mapping[str, Any]
"""Coefficients of a formula by name: numbers, or 0-d Variables; and options, which are bool or None."""


class Formula:
    """A method of optimization as formulas, which its optimizer class inherits.

    Every formula is elementwise, and takes arrays with Python numbers, or Variables. Augmented assignments
    (``w -= ...``) write into arrays, and give new Variables.
    """

    @staticmethod
    def states(h: Numbers) -> Mapping[str, float]:
        """Return the names of the arrays that are kept for each parameter, and what they are filled with at first."""
        return {}

    @staticmethod
    def coefficients(h: Numbers, t: Any) -> Numbers:
        """Return what `step` computes with, from the hyperparameters and the number of the step, counted from 1."""
        return h

    @staticmethod
    def step(xp: Namespace, w: Array, g: Array, s: dict[str, Array], c: Numbers) -> Array:
        """Return the parameter `w` after a step along the gradient `g`, and replace its state in `s`.

        Parameters
        ----------
        xp : namespace
            Of the arrays, or `xpgrad.array_api` for Variables.
        w, g : array or Variable
        s : dict of arrays or Variables of the shape of `w`
        c : mapping
            What `coefficients` returned.
        """
        raise NotImplementedError("Formula.step: a method of optimization defines it")


def unbiased(beta: Any, t: Any) -> Any:
    """Return ``1 - beta ** t`` without cancellation: the weight of what an average with decay `beta` has seen."""
    plain = not isinstance(beta, Variable)
    if plain and beta <= 0:
        return 1.0
    power = t * (math.log(beta) if plain else array_api.log(beta))
    return -array_api.expm1(power) if isinstance(power, Variable) else -math.expm1(power)


def least(x: Any, limit: float) -> Any:
    """Return a number or Variable, at most `limit`."""
    return array_api.minimum(x, limit) if isinstance(x, Variable) else min(x, limit)


def kept(factor: Any, rate: Any) -> Any:
    """Return ``1 - factor * rate``, what decoupled weight decay leaves of a parameter; None if `rate` is a plain 0."""
    return None if not isinstance(rate, Variable) and not rate else 1.0 - factor * rate


@functools.lru_cache(256)
def writes(backend: Backend) -> bool:
    """Return whether formulas can be computed in place in the arrays of a backend."""
    if backend.base is not None or backend.immutable:
        return False
    return backend.capabilities.lacking(["index_assignment", "in_place_update", "dlpack_shares_memory"]) is None


def prepared(numbers: Numbers, backend: Backend, spec: Spec) -> Numbers:
    """Return coefficients as operands for arrays of `spec`.

    Raises
    ------
    ValueError
        A number that is not 0 is 0 in the dtype of the arrays: ``eps=1e-8`` in float16.
    """
    known = spec.constants
    return {name: known.get(x) or _operand(name, x, backend, spec) for name, x in numbers.items()}


def _operand(name: str, x: Any, backend: Backend, spec: Spec) -> Any:
    if x is None or isinstance(x, (bool, Variable)):
        return x
    return backend.prepare(check_kept(name, float(x), spec), spec)


def check_kept(name: str, x: float, spec: Spec) -> float:
    """Return a coefficient, if it is not rounded to 0 in the dtype of `spec`."""
    if x and spec.half and abs(x) <= _smallest(spec.backend, spec.dtype) / 2:
        dtype = spec.backend.dtype_name(spec.dtype)
        raise ValueError(
            f"optimizer: {name} is {x}, which is 0 in {dtype}; set a larger one, or call use_fp32_update()"
        )
    return x


def _smallest(backend: Backend, dtype: Dtype) -> float:
    limits = backend.finfo(dtype)
    return float(limits.smallest_normal) * float(limits.eps)


def changed(
    function: Callable[..., Sequence[Any]], arrays: Sequence[Array], *, in_place: bool = True
) -> Sequence[Array]:
    """Return `arrays` after a formula has changed them: the same arrays where the library can write to them.

    Parameters
    ----------
    function : callable
        ``function(xp, *operands)``, elementwise, returns what replaces each of them.
    arrays : sequence of array, of one shape
    in_place : bool
        Whether they may be written to.
    """
    backend = plugins.backend_of(arrays[0])
    if in_place and writes(backend):
        backend.follow(_in_place)(backend, function, *arrays)
        return arrays
    variables = [constant_variable(array) for array in arrays]
    return [x.array for x in called_with(backprop_mode(False), function, array_api, *variables)]


def _in_place(backend: Backend, function: Callable[..., Sequence[Any]], *arrays: Array) -> None:
    backend.in_cache(functools.partial(_write, function, backend.xp), arrays)


def _write(function: Callable[..., Sequence[Any]], xp: Namespace, *arrays: Array) -> None:
    for array, made in zip(arrays, function(xp, *arrays), strict=True):
        if made is not array:
            array[...] = made


def change_gradient(param: Parameter, function: Callable[[Namespace, Array, Array], Array]) -> None:
    """Let a formula change the gradient of a parameter.

    Parameters
    ----------
    param : Parameter, with a gradient
    function : callable
        ``function(xp, w, g)`` returns what replaces the gradient `g`; it may change `g` by augmented assignments.
    """
    grad, variable = param.grad, param.grad_var
    recorded = variable is not None and variable.creator_node is not None

    def both(xp: Namespace, w: Array, g: Array) -> tuple[Array, Array]:
        return w, function(xp, w, g)

    _, made = changed(both, [param.array, grad], in_place=not recorded)
    if made is not grad:
        param.grad = made
