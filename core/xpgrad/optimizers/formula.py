"""Formulas of optimizers on arrays: written once, computed in place where the library can, else with Variables."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from xpgrad import array_api
from xpgrad.backend.backend import Backend
from xpgrad.backend.executors import RowKernel
from xpgrad.backend.plugins import plugins
from xpgrad.backend.programs import programs_of
from xpgrad.backend.spec import Spec
from xpgrad.config import backprop_mode, called_with
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.types import Array, Dtype, Namespace

Numbers = Mapping[str, Any]
"""Coefficients of a formula by name: numbers, or 0-d Variables; and options."""
OPTIONS = frozenset([bool, type(None)])
"""Types of the coefficients that decide which operations a step has."""


class Formula:
    """A method of optimization as formulas, which its optimizer class inherits.

    Every formula is elementwise, and takes arrays with Python numbers, or Variables. Augmented assignments
    (``w -= ...``) write into arrays, and give new Variables. Parameters of half precision and their gradients are cast
    to float32 before, and their state is float32: squares of gradients would overflow and underflow.

    Attributes
    ----------
    initial : mapping
        Names and initial values of the arrays that are kept for each parameter.
    real_states : frozenset of str
        States that are real for complex parameters: averages of squared moduli.
    """

    initial: ClassVar[Mapping[str, float]] = {}
    real_states: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def states(cls, h: Numbers) -> Mapping[str, float]:
        """Return `initial`; derived classes in which hyperparameters decide about states override this."""
        return cls.initial

    @staticmethod
    def coefficients(h: Numbers, t: Any) -> Numbers:
        """Return the coefficients of `step`, from the hyperparameters and the number of the step, counted from 1."""
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
    """Return ``1 - beta ** t`` without cancellation: the total weight in an average with decay `beta`."""
    plain = not isinstance(beta, Variable)
    if plain and beta <= 0:
        return 1.0
    power = t * (math.log(beta) if plain else array_api.log(beta))
    return -array_api.expm1(power) if isinstance(power, Variable) else -math.expm1(power)


def least(x: Any, limit: Any) -> Any:
    """Return a number or Variable, at most `limit`."""
    return array_api.minimum(x, limit) if isinstance(x, Variable) else min(x, limit)


def kept(factor: Any, rate: Any) -> Any:
    """Return ``1 - factor * rate``, the factor of decoupled weight decay; None if `rate` is a plain 0."""
    return None if not isinstance(rate, Variable) and not rate else 1.0 - factor * rate


@functools.lru_cache(256)
def writes(backend: Backend) -> bool:
    """Return whether formulas can be computed in place in the arrays of a backend."""
    if backend.base is not None or backend.immutable:
        return False
    return backend.capabilities.lacking(["index_assignment", "in_place_update", "dlpack_shares_memory"]) is None


def apart(params: Sequence[Parameter]) -> bool:
    """Return whether no two parameters share memory that an update writes to."""
    arrays: dict[Backend, list[Array]] = {}
    for param in params:
        arrays.setdefault(param._node.spec.backend, []).append(param._array)
    return all(programs_of(backend).apart(each) for backend, each in arrays.items() if writes(backend))


def squared(xp: Namespace, x: Array, weight: Any = None) -> Array:
    """Return the squared moduli of an array or Variable, times a real weight."""
    y = x if weight is None else weight * x
    mixed = x._node.spec.complex if isinstance(x, Variable) else _is_complex(xp, x.dtype)
    return xp.real(y) * xp.real(x) + xp.imag(y) * xp.imag(x) if mixed else y * x


@functools.lru_cache(256)  # `isdtype` of libraries takes longer than a product
def _is_complex(xp: Namespace, dtype: Dtype) -> bool:
    return bool(xp.isdtype(dtype, "complex floating"))


def real_spec(spec: Spec) -> Spec:
    """Return the spec of coefficients, and of real states, for parameters of `spec`."""
    if not (spec.complex or spec.half):
        return spec
    return spec.backend.spec_for(spec.shape, spec.backend.real(spec.dtype), spec.device)


def state_spec(formula: type[Formula] | None, name: str, spec: Spec) -> Spec:
    """Return the spec of a state for parameters of `spec`."""
    return real_spec(spec) if spec.half or (formula is not None and name in formula.real_states) else spec


def in_wide(spec: Spec, function: Callable[..., Array]) -> Callable[..., Array]:
    """Return a function of namespace, parameter, gradient and more that computes in float32 for half precision."""
    if not spec.half:
        return function

    def rounded(xp: Namespace, w: Array, g: Array, *rest: Any) -> Array:
        return xp.astype(function(xp, xp.astype(w, spec.wide), xp.astype(g, spec.wide), *rest), spec.dtype)

    return rounded


def prepared(numbers: Numbers, spec: Spec) -> Numbers:
    """Return coefficients as operands for parameters of `spec`."""
    spec = real_spec(spec)
    known = spec.constants
    return {name: x if type(x) in OPTIONS else known.get(x) or _operand(x, spec) for name, x in numbers.items()}


def _operand(x: Any, spec: Spec) -> Any:
    return x if isinstance(x, Variable) else spec.backend.prepare(float(x), spec)


class FormulaStep:
    """The step of a formula for parameters of `spec`, as a function for `changed`.

    It takes a namespace, the parameter, the states called `names`, and the gradient, and returns parameter and states.
    """

    def __init__(self, formula: type[Formula], names: Sequence[str], c: Numbers, spec: Spec) -> None:
        self.names, self.c, self._formula, self._spec = tuple(names), c, formula, spec

    def __call__(self, xp: Namespace, w: Array, *operands: Array) -> tuple[Array, ...]:
        """Return the parameter and its states after the step."""
        *kept, g = operands
        s = dict(zip(self.names, kept, strict=True))
        w = in_wide(self._spec, self._formula.step)(xp, w, g, s, self.c)
        return w, *s.values()

    def kernel(self) -> tuple[RowKernel | None, Sequence[Any]]:
        """Return the step as a kernel for executors, or None for users' formulas, and the numbers that it takes."""
        if not self._formula.step.__module__.startswith(
            "xpgrad.optimizers."
        ):  # others may depend on more than their arguments
            return None, ()
        numbers = {name: x for name, x in self.c.items() if type(x) not in OPTIONS}
        options = tuple([(name, x) for name, x in self.c.items() if name not in numbers])
        return _kernel(self._formula.step, self.names, tuple(numbers), options), [*numbers.values()]


@functools.lru_cache(256)
def _kernel(
    formula: Callable[..., Array], names: tuple[str, ...], numbers: tuple[str, ...], options: tuple[Any, ...]
) -> RowKernel:
    def step(xp: Namespace, w: Array, *operands: Array) -> tuple[Array, ...]:
        s, g = dict(zip(names, operands, strict=False)), operands[len(names)]
        c = dict(zip(numbers, operands[len(names) + 1 :], strict=True), **dict(options))
        w = formula(xp, w, g, s, c)
        return w, *s.values()

    levels = ("point",) * (2 + len(names)) + ("one",) * len(numbers)
    return RowKernel("step", levels, step)


def changed(
    function: Callable[..., Sequence[Any]], arrays: Sequence[Array], *, in_place: bool = True
) -> Sequence[Array]:
    """Return `arrays` after a formula has changed them: the same arrays if the library can write to arrays.

    Parameters
    ----------
    function : callable
        ``function(xp, *operands)``, elementwise, returns the replacements of the first operands.
    arrays : sequence of array, of one shape
    in_place : bool
        Whether they may be written to.
    """
    backend = plugins.backend_of(arrays[0])
    if in_place and writes(backend):
        backend.follow(_in_place)(backend, function, *arrays)
        return arrays
    variables = [constant_variable(array) for array in arrays]
    made = [x.array for x in called_with(backprop_mode(False), function, array_api, *variables)]
    return [*made, *arrays[len(made) :]]


def _in_place(backend: Backend, function: Callable[..., Sequence[Any]], *arrays: Array) -> None:
    programs_of(backend).in_cache(functools.partial(_write, function, backend.xp), arrays)


def _write(function: Callable[..., Sequence[Any]], xp: Namespace, *arrays: Array) -> None:
    for array, made in zip(arrays, function(xp, *arrays), strict=False):
        if made is not array:
            array[...] = made


def change_gradient(param: Parameter, function: Callable[[Namespace, Array, Array], Array]) -> None:
    """Let a formula change the gradient of a parameter.

    Parameters
    ----------
    param : Parameter, with a gradient
    function : callable
        ``function(xp, w, g)`` returns the new gradient; it may change `g` by augmented assignments. Both
        are float32 for half precision.
    """
    function = in_wide(param._node.spec, function)
    grad, variable = param.grad, param.grad_var
    recorded = variable is not None and variable.creator_node is not None

    def of_gradient(xp: Namespace, g: Array, w: Array) -> tuple[Array]:
        return (function(xp, w, g),)

    made, _ = changed(of_gradient, [grad, param.array], in_place=not recorded)
    if made is not grad:
        param.grad = made
