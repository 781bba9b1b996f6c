"""Primitives: a decorated formula becomes plain functions, specialised for one and for two inputs.

The whole budget of an operation is about a microsecond, so specialised call paths resolve everything beforehand: one
look-up for this thread's mode, one for the plan of the array type, the array library's own call, and the making of a
node. Whatever is out of the ordinary (mixed types or devices, hooks, debug mode, an exception) goes to
`application.apply`, which checks everything and explains what is wrong.
"""

import weakref
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

from xpgrad.backend.kernels import is_own, qualified_name
from xpgrad.backend.plugins import plugins
from xpgrad.chainer.parameter import Parameter
from xpgrad.config import GUARDED, WATCHED, switches
from xpgrad.errors import UnknownArray
from xpgrad.graph.application import Application, apply, guarded, plan_for
from xpgrad.graph.definition import Definition, Rule
from xpgrad.graph.node import VariableNode
from xpgrad.graph.parameterised import joined, parameterised
from xpgrad.graph.several import several
from xpgrad.graph.variable import Variable
from xpgrad.types import Array, Namespace

Function = Callable[..., Any]
P = ParamSpec("P")  # what is left of a body's arguments without `xp`: those of the public function
PLAIN_SCALARS = frozenset((bool, int, float, complex))  # what a library's scalars become, so that they come here again
new = object.__new__
ref = weakref.ref


def primitive(
    *, variadic: bool = False, label: str | None = None, extension: str | None = None, **rules: Rule
) -> Callable[[Callable[Concatenate[Namespace, P], Array]], Callable[P, Variable]]:
    """Define a differentiable function from a formula on arrays and one vjp for each input.

    Parameters
    ----------
    variadic : bool
        The one input is a sequence of arrays; its rule asks for `specs` and returns a list.
    label : str, optional
        How messages call it; the function's name by default.
    extension : str, optional
        The extension whose function it is, ``"fft"``; it is then called ``fft.ifft``.
    **rules : callable
        From an input's name to its vjp, written ``lambda xp, gy, ...: gx``. The names of the further arguments say what
        the graph keeps: an input, the output ``y``, ``x_spec`` (shape, dtype and device of input x), or a parameter.

    Returns
    -------
    callable
        Decorator for ``def f(xp, x, /, ...)``, whose body is the default kernel.

    Notes
    -----
    The function belongs to its module: it never meets another one of its name, neither xpgrad's own nor another
    module's. Its kernel is called ``module:f``. Where a cell of a notebook is run twice, or a module is reloaded, the
    new function takes the place of the old one, which whoever holds it may go on using.
    """

    def define(body: Callable[Concatenate[Namespace, P], Array]) -> Callable[P, Variable]:
        definition = Definition(
            body, rules, elementwise=False, same_dtype=False, variadic=variadic, label=label, extension=extension
        )
        return _public(definition)

    return define


def elementwise(
    *, same_dtype: bool = True, label: str | None = None, extension: str | None = None, **rules: Rule
) -> Callable[[Callable[Concatenate[Namespace, P], Array]], Callable[P, Variable]]:
    """Define an elementwise function: inputs broadcast, and cotangents are summed over broadcast axes by the sweep.

    Parameters
    ----------
    same_dtype : bool
        Floating-point inputs of one dtype give an output of that dtype.
    label, extension : str, optional
    **rules : callable
        As for `primitive`.
    """

    def define(body: Callable[Concatenate[Namespace, P], Array]) -> Callable[P, Variable]:
        definition = Definition(
            body, rules, elementwise=True, same_dtype=same_dtype, variadic=False, label=label, extension=extension
        )
        return _public(definition)

    return define


def _public(definition: Definition) -> Function:
    if definition.simple:
        function = _unary(definition) if len(definition.inputs) == 1 else _binary(definition, Variable)
    elif len(definition.inputs) == 1 and not definition.variadic:
        function = parameterised(definition)
    else:
        function = joined(definition) if definition.variadic else several(definition)
    body = definition.body
    function.__name__ = function.__qualname__ = body.__name__
    if not is_own(body):
        function.__qualname__ = qualified_name(body)
    function.__doc__, function.__module__ = body.__doc__, body.__module__
    function.__signature__ = definition.signature  # type: ignore[attr-defined]  # read by inspect.signature
    function.definition = definition  # type: ignore[attr-defined]  # read by `operators`
    definition.paths["public"] = function
    return function


def operators(function: Function) -> tuple[Function, Function]:
    """Return the operator and the reflected operator of a binary primitive; both leave foreign types to Python."""
    definition: Definition = function.definition  # type: ignore[attr-defined]  # set by `_public`
    forward, reflected = _binary(definition, NotImplemented), _reflected(definition)
    definition.paths |= {"operator": forward, "reflected": lambda x1, x2: reflected(x2, x1)}
    return forward, reflected


def _unary(definition: Definition) -> Function:
    plans, same = definition.plans, definition.same_dtype and definition.elementwise
    kept = definition.kept((True,))
    keep_a, keep_c = definition.inputs[0] in kept, "y" in kept
    differentiable, shape_is_known = bool(definition.rules), definition.elementwise

    def function(x: Any, /) -> Variable:
        try:
            node = x._node
            left = x._array
            kind = type(left)
            plan = plans.get(kind)
            if plan is None:
                plan = plan_for(definition, kind)
            mode = switches().mode
            if mode > 1:
                return apply(definition, (x,), {})
            out = plan.kernel(left)
            if type(out) is not plan.array_type:
                out = plan.restore(out)
            spec = node.spec
            if not (same and spec.differentiable):
                key = spec
                spec = plan.outcomes.get(key)
                if spec is None or not (shape_is_known or out.shape == spec.shape):  # a shape may depend on values
                    spec = plan.outcome(key, out, left)
        except Exception:  # the general path raises it again, explained
            return apply(definition, (x,), {})
        y = new(Variable)
        y._array = out
        y._grad = None
        result = y._node = new(VariableNode)
        result.variable = ref(y)
        result.spec = spec
        result.extra = None
        if mode or not node.requires_grad or not differentiable or not spec.differentiable:
            result.creator_node = None
            result.rank = 0
            result.requires_grad = False
            return y
        f = result.creator_node = Application()
        f.pullback = plan.first
        f.inputs = (node,)
        if keep_a:
            f.a = left
        if keep_c:
            f.c = out
        rank = f.rank = node.rank
        result.rank = rank + 1
        result.requires_grad = True
        return y

    return function


def _binary(definition: Definition, foreign: Any) -> Function:
    """Return the function of two inputs whose first is expected to be a Variable.

    With `foreign` NotImplemented it is an operator: it returns that for what it does not know.
    """
    plans, same = definition.plans, definition.same_dtype and definition.elementwise
    x1_name, x2_name = definition.inputs
    kept_both, kept_first, kept_second = (definition.kept(n) for n in ((True, True), (True, False), (False, True)))
    both_a, both_b, both_c = x1_name in kept_both, x2_name in kept_both, "y" in kept_both
    first_a, first_b, first_c = x1_name in kept_first, x2_name in kept_first, "y" in kept_first
    second_a, second_b, second_c = x1_name in kept_second, x2_name in kept_second, "y" in kept_second
    rule1, rule2 = x1_name in definition.rules, x2_name in definition.rules
    scalars_fit = definition.elementwise
    is_operator = foreign is NotImplemented

    def function(x1: Any, x2: Any, /) -> Any:
        try:
            n1 = x1._node
            left = x1._array
            spec = n1.spec
            kind = type(left)
            kind2 = type(x2)
            mode = switches().mode
            if mode > 1:
                return _careful(definition, x1, x2, is_operator)
            plan = plans.get(kind)
            if plan is None:
                plan = plan_for(definition, kind)
            if kind2 is Variable or kind2 is Parameter:
                n2 = x2._node
                right = x2._array
                needs2 = rule2 and n2.requires_grad
                out = plan.kernel(left, right)
                if n2.spec is not spec or not same or not spec.differentiable:
                    pair = spec, n2.spec
                    spec = plan.outcomes.get(pair)
                    if spec is None or not (scalars_fit or out.shape == spec.shape):  # a shape may depend on values
                        if type(right) is not kind or n2.spec.device != n1.spec.device:
                            return _careful(definition, x1, x2, is_operator)
                        if not plan.widen and n2.spec.dtype != n1.spec.dtype:
                            return _careful(definition, x1, x2, is_operator)
                        if type(out) is not plan.array_type:
                            out = plan.restore(out)
                        spec = plan.outcome(pair, out, left, right)
            elif (kind2 is float or kind2 is int) and scalars_fit:
                right = spec.constants.get(x2)
                if right is None:
                    if not spec.differentiable:
                        return _careful(definition, x1, x2, is_operator)
                    right = plan.backend.prepare(x2, spec)
                n2 = None
                needs2 = False
                out = plan.kernel(left, right)
            elif kind2 is kind and plan.alone:
                right = x2
                n2 = None
                needs2 = False
                out = plan.kernel(left, right)
                if out.dtype is not spec.dtype or out.shape != spec.shape:
                    spec = None
            elif scalars_fit and issubclass(kind2, plugins.scalar_types) and type(x2.item()) in PLAIN_SCALARS:
                return function(x1, x2.item())
            else:
                return _careful(definition, x1, x2, is_operator)
            if type(out) is not plan.array_type:
                out = plan.restore(out)
            if spec is None or not (n2 is not None or (same and spec.differentiable)):
                spec = plan.backend.spec(out)
        except Exception:  # the general path raises it again, explained
            return _careful(definition, x1, x2, is_operator)
        y = new(Variable)
        y._array = out
        y._grad = None
        result = y._node = new(VariableNode)
        result.variable = ref(y)
        result.spec = spec
        result.extra = None
        needs1 = rule1 and n1.requires_grad
        if mode or not (needs1 or needs2) or not spec.differentiable:
            result.creator_node = None
            result.rank = 0
            result.requires_grad = False
            return y
        f = result.creator_node = Application()
        rank = n1.rank
        if n2 is None:
            f.pullback = plan.first
            f.inputs = (n1,)
            if kind2 is not kind:
                f.d = x2
            if first_a:
                f.a = left
            if first_b:
                f.b = right
            if first_c:
                f.c = out
        else:
            f.inputs = (n1, n2)
            if needs1:
                if needs2:
                    f.pullback = plan.both
                    if both_a:
                        f.a = left
                    if both_b:
                        f.b = right
                    if both_c:
                        f.c = out
                    if n2.rank > rank:
                        rank = n2.rank
                else:
                    f.pullback = plan.first
                    if first_a:
                        f.a = left
                    if first_b:
                        f.b = right
                    if first_c:
                        f.c = out
            else:
                f.pullback = plan.second
                if second_a:
                    f.a = left
                if second_b:
                    f.b = right
                if second_c:
                    f.c = out
                rank = n2.rank
        f.rank = rank
        result.rank = rank + 1
        result.requires_grad = True
        return y

    return function


def _careful(definition: Definition, x1: Any, x2: Any, is_operator: bool) -> Any:
    if is_operator and not (_known(x1) and _known(x2)):
        if definition.rules and any(isinstance(x, (list, tuple, str, bytes)) for x in (x1, x2)):
            return apply(definition, (x1, x2), {})  # it says what to do; Python would ask for an index, to repeat them
        return NotImplemented
    if is_operator and switches().mode & (WATCHED | GUARDED) == GUARDED:
        return guarded(definition, (x1, x2), {}, "operator" if isinstance(x1, Variable) else "reflected")
    return apply(definition, (x1, x2), {})


def _known(x: Any) -> bool:
    if isinstance(x, Variable) or type(x) in plugins.by_type or plugins.is_scalar(x):
        return True
    try:
        plugins.backend_of(x)
    except UnknownArray:
        return False
    return True


def _reflected(definition: Definition) -> Function:
    """Return the reflected operator, for a scalar or an array on the left."""
    plans, same, scalars_fit = (
        definition.plans,
        definition.same_dtype and definition.elementwise,
        definition.elementwise,
    )
    x1_name, x2_name = definition.inputs
    kept = definition.kept((False, True))
    keep_a, keep_b, keep_c = x1_name in kept, x2_name in kept, "y" in kept
    differentiable = x2_name in definition.rules

    def reflected(x2: Any, x1: Any, /) -> Any:
        kind1 = type(x1)
        try:
            mode = switches().mode
            if mode > 1:
                return _careful(definition, x1, x2, True)
            node = x2._node
            right = x2._array
            spec = node.spec
            kind = type(right)
            plan = plans.get(kind)
            if plan is None:
                plan = plan_for(definition, kind)
            if (kind1 is float or kind1 is int) and scalars_fit:
                left = spec.constants.get(x1)
                if left is None:
                    if not spec.differentiable:
                        return _careful(definition, x1, x2, True)
                    left = plan.backend.prepare(x1, spec)
            elif kind1 is kind and plan.alone:
                left = x1
            elif scalars_fit and issubclass(kind1, plugins.scalar_types) and type(x1.item()) in PLAIN_SCALARS:
                return reflected(x2, x1.item())
            else:
                return _careful(definition, x1, x2, True)
            out = plan.kernel(left, right)
            if kind1 is kind and (out.dtype is not spec.dtype or out.shape != spec.shape):
                spec = None
            if type(out) is not plan.array_type:
                out = plan.restore(out)
            if spec is None or not (same and spec.differentiable):
                spec = plan.backend.spec(out)
        except Exception:  # the general path raises it again, explained
            return _careful(definition, x1, x2, True)
        y = new(Variable)
        y._array = out
        y._grad = None
        result = y._node = new(VariableNode)
        result.variable = ref(y)
        result.spec = spec
        result.extra = None
        if mode or not node.requires_grad or not differentiable or not spec.differentiable:
            result.creator_node = None
            result.rank = 0
            result.requires_grad = False
            return y
        f = result.creator_node = Application()
        f.pullback = plan.second
        f.inputs = (None, node)
        if kind1 is not kind:
            f.d = x1
        if keep_a:
            f.a = left
        if keep_b:
            f.b = right
        if keep_c:
            f.c = out
        rank = f.rank = node.rank
        result.rank = rank + 1
        result.requires_grad = True
        return y

    return reflected
