"""Primitives: a decorated formula becomes plain functions, each of which is the call path for its number of inputs."""

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

from xpgrad.backend.kernels import is_own, qualified_name
from xpgrad.graph.calls import binary, reflected, unary
from xpgrad.graph.definition import Definition, Rule
from xpgrad.graph.n_ary import n_ary, sequence
from xpgrad.graph.parameterised import parameterised
from xpgrad.graph.variable import Variable
from xpgrad.types import Array, Namespace

Function = Callable[..., Any]
P = ParamSpec("P")  # arguments of a body without `xp`: the arguments of the public function


def primitive(
    *, variadic: bool = False, label: str | None = None, extension: str | None = None, linear: tuple[str, ...] = (),
    symmetric: tuple[str, ...] = (), reduction: bool | tuple[int, ...] = False, together: Rule | None = None,
    **rules: Rule,
) -> Callable[[Callable[Concatenate[Namespace, P], Array]], Callable[P, Variable]]:  # fmt: skip
    """Define a differentiable function from a formula on arrays and one vjp for each input.

    Parameters
    ----------
    variadic : bool
        The single input is a sequence of arrays; its rule requires `specs` and returns a list.
    label : str, optional
        How messages call it; the function's name by default.
    extension : str, optional
        The extension whose function it is, ``"fft"``; it is then called ``fft.ifft``.
    linear : tuple of str
        Inputs in which the function is linear while the other inputs are constant: forward mode applies the function to
        their tangents. A variadic one is linear in all its arrays together.
    symmetric : tuple of str
        Inputs with a symmetric Jacobian, as for softmax: forward mode applies their rules to tangents.
    reduction : bool or tuple of int
        Each element of the first input affects one element of the result, as in a maximum over the parameter `axis`, or
        over these axes: the gradient from ones has the whole Jacobian, and forward mode sums its product with the
        tangent.
    together : callable, optional
        All vjps in one, ``lambda xp, gy, ...: (gx, ...)``, to the bit the results of `rules`, for a kernel of that name
        in which a backend computes them in fewer passes over memory.
    **rules : callable
        From an input's name to its vjp, written ``lambda xp, gy, ...: gx``. The names of the further arguments
        determine the values that the graph retains: an input, the output ``y``, ``x_spec`` (shape, dtype and device of
        input x), or a parameter.

    Returns
    -------
    callable
        Decorator for ``def f(xp, x, /, ...)``, whose body is the default kernel.

    Notes
    -----
    Forward mode (`xpgrad.transforms.jvp`) needs no further rules: functions with none of these properties are
    transposed.

    The name of the function is qualified by its module, so it never conflicts with a function of xpgrad or of another
    module. Its kernel is called ``module:f``. Where a cell of a notebook is run twice, or a module is reloaded, the new
    function replaces the old one, which still works where a program holds it.
    """
    kind: dict[str, Any] = {"variadic": variadic, "label": label, "extension": extension, "linear": linear}
    kind |= {"symmetric": symmetric, "reduction": reduction, "together": together}
    return _decorator(rules, elementwise=False, same_dtype=False, **kind)


def elementwise(
    *, same_dtype: bool = True, label: str | None = None, extension: str | None = None, linear: tuple[str, ...] = (),
    **rules: Rule,
) -> Callable[[Callable[Concatenate[Namespace, P], Array]], Callable[P, Variable]]:  # fmt: skip
    """Define an elementwise function: inputs broadcast, and cotangents are summed over broadcast axes by the sweep.

    Parameters
    ----------
    same_dtype : bool
        Floating-point inputs of one dtype give an output of that dtype.
    label, extension : str, optional
    linear : tuple of str
        As for `primitive`.
    **rules : callable
        As for `primitive`.
    """
    kind = {"same_dtype": same_dtype, "label": label, "extension": extension, "linear": linear}
    return _decorator(rules, elementwise=True, **kind)


def _decorator(rules: dict[str, Rule], **kind: Any) -> Callable[[Function], Function]:
    """Return a decorator that turns a body into a primitive with the call path for its `kind`."""
    return lambda body: _public(Definition(body, rules, **kind))


def _public(definition: Definition) -> Function:
    function: Function = _path(definition)(definition)
    body = definition.body
    function.__name__ = function.__qualname__ = body.__name__
    if not is_own(body):
        function.__qualname__ = qualified_name(body)
    function.__doc__, function.__module__ = body.__doc__, body.__module__
    function.__signature__ = definition.signature  # type: ignore[attr-defined]  # read by inspect.signature
    function.definition = definition  # type: ignore[attr-defined]  # read by `operators`
    definition.paths["public"] = function
    return function


def _path(definition: Definition) -> Function:
    """Return the factory of the call path of `definition`."""
    if definition.variadic:
        return sequence
    count = len(definition.inputs)
    if definition.simple:
        return unary if count == 1 else functools.partial(binary, is_operator=False)
    return parameterised if count == 1 else n_ary


def operators(function: Function) -> tuple[Function, Function]:
    """Return the operator and the reflected operator of a binary primitive; both leave foreign types to Python."""
    definition: Definition = function.definition  # type: ignore[attr-defined]  # set by `_public`
    forward, backward = binary(definition, is_operator=True), reflected(definition)
    definition.paths |= {"operator": forward, "reflected": lambda x1, x2: backward(x2, x1)}
    return forward, backward
