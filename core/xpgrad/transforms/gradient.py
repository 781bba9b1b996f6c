"""`grad` and `value_and_grad`: the gradient of a function as a function."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.graph.variable import Variable, leaf_variable
from xpgrad.transforms.call import Evaluation
from xpgrad.transforms.leaves import derivatives, or_zeros


def value_and_grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False, *,
    allow_constant: bool = False,
) -> Callable[..., tuple[Any, Any]]:  # fmt: skip
    """Return a function that returns the value of `f` and its gradient.

    Parameters
    ----------
    f : callable
        Returns one real number: a Variable with one element.
    argnums : int or sequence of int
        The positional arguments to differentiate by: trees (nested dicts, lists, tuples, named tuples, dataclasses) of
        Variables, arrays or scalars. Their floating-point leaves are passed as Variables; all other leaves are
        unchanged.
    has_aux : bool
        `f` returns ``(number, aux)``; `aux` is returned as well.
    holomorphic : bool
        Whether `f` is holomorphic and may return a complex number; the gradient is then its complex derivative, as for
        `jacobian`.
    allow_constant : bool
        Zeros instead of an error if the number does not depend on an argument, although `f` took another number out of
        a Variable that does (``float(x)``, ``math.sin(x)``, an element written into an array), or the graph ended.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns ``(value, gradient)`` or ``((value, aux), gradient)``. The gradient has the
        structure of the argument; for a sequence of `argnums` it is a tuple of gradients. A leaf that the value does
        not depend on gets zeros; an integer leaf gets None.

    Raises
    ------
    GradientError
        `f` returns more than one number, or a number that does not depend on an argument because it was computed from
        numbers taken out of Variables, by functions without derivative only (`floor`, comparisons), or in
        `no_backprop_mode`.
    DtypeError
        `f` returns a complex number without `holomorphic`, an integer or a boolean, or an argument has no
        floating-point leaf.

    Notes
    -----
    Arrays give arrays. If one of the arguments is a Variable, or the call is made inside another transform, the
    results are Variables, connected to the graph of the arguments, so that they can be differentiated again. The
    gradient of a complex leaf is ``∂/∂x + i ∂/∂y``. No Variable's `grad` is changed.
    """

    @documented(f, "value_and_grad")
    def value_and_gradient(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        call, gradient = _run("value_and_grad", f, argnums, has_aux, holomorphic, args, kwargs, allow_constant)
        value = call.output()
        return ((value, call.aux_for_user()) if has_aux else value), gradient

    return value_and_gradient


def grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False, *,
    allow_constant: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """Return the gradient of `f` as a function; with `has_aux` it returns ``(gradient, aux)``.

    Parameters, results, errors and types are the same as for `value_and_grad`; ``grad(grad(f))`` works to any order.
    """
    return gradient_of("grad", f, argnums, has_aux, holomorphic, allow_constant=allow_constant)


def gradient_of(
    name: str, f: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool = False,
    holomorphic: bool | None = None, *, allow_constant: bool,
) -> Callable[..., Any]:  # fmt: skip
    """Return what `grad` returns, for the transform `name` in errors; None if it has no argument `holomorphic`."""

    @documented(f, name)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        call, found = _run(name, f, argnums, has_aux, holomorphic, args, kwargs, allow_constant)
        return (found, call.aux_for_user()) if has_aux else found

    return gradient


def _run(
    name: str, f: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool, holomorphic: bool | None,
    args: tuple[Any, ...], kwargs: dict[str, Any], allow_constant: bool,
) -> tuple[Evaluation, Any]:  # fmt: skip
    call = Evaluation(name, f, argnums, has_aux, args, kwargs, allow_constant=allow_constant)
    y = call.number(holomorphic)

    def pull(seed: Variable) -> list[Variable]:
        return or_zeros(call.gradients([seed], recorded=call.mode.recorded), call.roots)

    found = derivatives(pull, ones_like(y), y, call.roots)
    return call, call.over_arguments(map(call.mode.leaf_for_user, found))


def ones_like(y: Variable) -> Variable:
    """Return ones of the shape, dtype and device of `y`, the cotangent that a sweep starts with."""
    spec = y._node.spec
    return leaf_variable(spec.backend.ones(spec), spec, False)


def documented(f: Callable[..., Any], transform: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a function the name and signature of `f`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(f):
            raise TypeError(f"{transform}: expected a function, got {type(f).__name__}")
        functools.update_wrapper(function, f, ("__module__", "__name__", "__qualname__"), ())
        function.__doc__ = f"`{transform}` of {getattr(f, '__name__', type(f).__name__)}."
        return function

    return decorate
