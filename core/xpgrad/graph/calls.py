"""The call paths of primitives without parameters: one input, two inputs, an input and a constant.

The whole budget of an operation is about a microsecond, so a call path resolves everything beforehand: one look-up for
this thread's mode, one for the plan of the array type, the array library's own call, and the making of a node. What
the look-ups do not find, and what is out of the ordinary (mixed dtypes or devices, hooks, debug mode), goes to
`general.apply`, which checks everything. What the kernel raises goes to `general.after_error`.
"""

from collections.abc import Callable
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.config import switches
from xpgrad.graph.application import Application
from xpgrad.graph.definition import Definition
from xpgrad.graph.general import after_error, apply, operate
from xpgrad.graph.outputs import output
from xpgrad.graph.variable import Variable

Function = Callable[..., Any]
PLAIN_SCALARS = frozenset((bool, int, float, complex))
variable_types: set[type] = {Variable}
"""Types of Variables that take the call paths; a class that derives from `Variable` may add itself."""


def unary(definition: Definition) -> Function:
    """Return the function of one input."""
    plans, same = definition.plans, definition.same_dtype and definition.elementwise
    kept = definition.kept((True,))
    keep_first, keep_result = definition.inputs[0] in kept, "y" in kept
    differentiable, shape_is_known = bool(definition.rules), definition.elementwise

    def unary(x: Any, /) -> Variable:
        try:
            node = x._node
            array = x._array
            plan = plans[type(array)]
        except (AttributeError, KeyError):  # no Variable, or the first array of its type
            return apply(definition, (x,), {})
        mode = switches().mode
        if mode > 1:
            return apply(definition, (x,), {})
        try:
            out = plan.kernel(array)
        except Exception as error:
            return after_error(error, definition, (x,), [array], {})
        if type(out) is not plan.array_type:
            out = plan.restore(out)
        spec = node.spec
        if not (same and spec.differentiable):
            given = spec
            spec = plan.outcomes.get(given)
            if spec is None or not (shape_is_known or out.shape == spec.shape):  # a shape may depend on values
                spec = plan.outcome(given, out, array)
        if mode or not node.requires_grad or not differentiable or not spec.differentiable:
            return output(out, spec)
        f = Application()
        f.pullback = plan.by_bits[1]
        f.inputs = (node,)
        if keep_first:
            f.first = array
        if keep_result:
            f.result = out
        return output(out, spec, f, node.rank)

    return unary


def binary(definition: Definition, *, is_operator: bool) -> Function:
    """Return the function of two inputs; an operator leaves what is no operand to Python."""
    general = operate if is_operator else _applied
    constant_second = with_constant(definition, 1, general)
    plans, same, shape_is_known = (
        definition.plans,
        definition.same_dtype and definition.elementwise,
        definition.elementwise,
    )
    bit1, bit2 = (bit if x in definition.rules else 0 for bit, x in zip((1, 2), definition.inputs, strict=True))

    def binary(x1: Any, x2: Any, /) -> Any:
        kind = type(x2)
        if kind is not Variable and kind not in variable_types:
            return constant_second(x1, x2)
        try:
            node1 = x1._node
            array1 = x1._array
            plan = plans[type(array1)]
        except (AttributeError, KeyError):  # no Variable, or the first array of its type
            return general(definition, x1, x2)
        mode = switches().mode
        if mode > 1:
            return general(definition, x1, x2)
        node2 = x2._node
        array2 = x2._array
        spec = node1.spec
        if node2.spec is not spec or not same or not spec.differentiable:
            given = spec, node2.spec
            spec = plan.outcomes.get(given)
            if spec is None and not (type(array1) is type(array2) and plan.takes(*given)):
                return general(definition, x1, x2)
        try:
            out = plan.kernel(array1, array2)
        except Exception as error:
            return after_error(error, definition, (x1, x2), [array1, array2], {})
        if type(out) is not plan.array_type:
            out = plan.restore(out)
        if spec is None or not (shape_is_known or out.shape == spec.shape):  # a shape may depend on values
            spec = plan.outcome(given, out, array1, array2)
        needed = (bit1 if node1.requires_grad else 0) | (bit2 if node2.requires_grad else 0)
        if mode or not needed or not spec.differentiable:
            return output(out, spec)
        f = Application()
        pullback = f.pullback = plan.by_bits[needed]
        f.inputs = (node1, node2)
        kept = pullback.retention
        if kept.first:
            f.first = array1
        if kept.second:
            f.second = array2
        if kept.result:
            f.result = out
        rank = node2.rank if needed == 2 or (needed == 3 and node2.rank > node1.rank) else node1.rank
        return output(out, spec, f, rank)

    return binary


def with_constant(definition: Definition, place: int, general: Function) -> Function:
    """Return the function of a Variable and a scalar or an array, the latter as input 0 or 1: `place`."""
    plans, scalars_fit, same = (
        definition.plans,
        definition.elementwise,
        definition.same_dtype and definition.elementwise,
    )
    bit, x = 2 - place, definition.inputs[1 - place]
    kept = definition.kept((place == 1, place == 0))
    keep_first, keep_second, keep_result = (name in kept for name in (*definition.inputs, "y"))
    differentiable = x in definition.rules

    def otherwise(x: Any, constant: Any) -> Any:
        return general(definition, *((x, constant) if place else (constant, x)))

    def with_constant(x: Any, constant: Any, /) -> Any:
        kind = type(constant)
        try:
            node = x._node
            array = x._array
            plan = plans[type(array)]
        except (AttributeError, KeyError):  # no Variable, or the first array of its type
            return otherwise(x, constant)
        mode = switches().mode
        if mode > 1:
            return otherwise(x, constant)
        spec = node.spec
        if (kind is float or kind is int) and scalars_fit and spec.differentiable:
            value = spec.constants.get(constant)
            if value is None:
                value = plan.backend.prepare(constant, spec)
        elif kind is type(array) and plan.takes_any_array:
            value = constant
        elif scalars_fit and kind not in PLAIN_SCALARS and issubclass(kind, plugins.scalar_types):
            scalar = constant.item()
            return with_constant(x, scalar) if type(scalar) in PLAIN_SCALARS else otherwise(x, constant)
        else:
            return otherwise(x, constant)
        if place:
            array1, array2 = array, value
        else:
            array1, array2 = value, array
        try:
            out = plan.kernel(array1, array2)
        except Exception as error:
            operands = (x, constant) if place else (constant, x)
            return after_error(error, definition, operands, [array1, array2], {})
        if type(out) is not plan.array_type:
            out = plan.restore(out)
        if not (same and spec.differentiable) or (
            kind is not float and kind is not int and (out.dtype is not spec.dtype or out.shape != spec.shape)
        ):
            spec = plan.backend.spec(out)
        if mode or not node.requires_grad or not differentiable or not spec.differentiable:
            return output(out, spec)
        f = Application()
        f.pullback = plan.by_bits[bit]
        f.inputs = (node,) if place else (None, node)
        if kind is float or kind is int:
            f.rest = constant  # for the label
        if keep_first:
            f.first = array1
        if keep_second:
            f.second = array2
        if keep_result:
            f.result = out
        return output(out, spec, f, node.rank)

    return with_constant


def _applied(definition: Definition, x1: Any, x2: Any) -> Variable:
    return apply(definition, (x1, x2), {})
