"""The call paths of primitives without parameters: one input, two inputs, an input and a constant.

The whole budget of an operation is about a microsecond, so a call path resolves everything beforehand.
The remaining work is a look-up of the thread's mode and of the plan for the array type, the call of the array library,
and the creation of a node. Calls whose look-ups fail, and rare ones (mixed dtypes or devices, hooks, debug mode), are
passed to `general.apply`, which checks everything; errors of the kernel to `general.after_error`. Within a
transformation, operands of the current level are not lifted again.
"""

# A spec is None only while the second operand has a node, which pyright does not follow from one `if` to the next:
# pyright: reportOptionalMemberAccess=false, reportArgumentType=false, reportPossiblyUnboundVariable=false

from collections.abc import Callable
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.backend.programs import programs_of
from xpgrad.config import LIFTED, ONLY_LIFTED, switches
from xpgrad.graph.application import Application
from xpgrad.graph.definition import Definition
from xpgrad.graph.general import after_error, apply, operate, planned, warn_of_promotion
from xpgrad.graph.lifting import is_inside
from xpgrad.graph.methods.cuts import ended, running
from xpgrad.graph.outputs import output
from xpgrad.graph.variable import Variable

Function = Callable[..., Any]
PLAIN_SCALARS = frozenset((bool, int, float, complex))
variable_types: set[type] = {Variable}
"""Types of Variables that take the call paths; a class that derives from `Variable` may add itself."""


def unary(definition: Definition) -> Function:
    """Return the function of one input."""
    plans, same = definition.plans, definition.same_dtype
    keep_first, keep_result = _kept(definition, (True,))
    differentiable, shape_is_known = bool(definition.rules), definition.elementwise

    def unary(x: Any, /) -> Variable:
        try:
            node = x._node
            array = x._array
            plan = plans[type(array)]
        except (AttributeError, KeyError):  # no Variable, or the first array of its type
            return unary(x) if planned(definition, x) else apply(definition, (x,), {})
        now = switches()
        mode = now.mode
        if mode > 1:
            if not is_inside(now, plan, array):
                return apply(definition, (x,), {})
            mode -= LIFTED
        spec = node.spec
        try:
            out = in_threads(plan, (array,), None if keep_first else x) if spec.blocked else plan.kernel(array)
        except Exception as error:
            return after_error(error, definition, (x,), [array], {})
        if type(out) is not plan.array_type:
            out = plan.restore(out)
        if not (same and spec.differentiable):
            given = spec
            spec = plan.outcomes.get(given)
            if spec is None or not (shape_is_known or out.shape == spec.shape):  # a shape may depend on values
                spec = plan.outcome(given, out, array)
        if mode or not node.requires_grad or not differentiable or not spec.differentiable:
            if not differentiable and running():
                ended(definition.name, spec, x)
            return output(out, spec, None, 0)
        f = Application()
        f.pullback = plan.by_bits[1]
        f.input, f.other = node, None
        if keep_first:
            f.first = array
        if keep_result:
            f.result = out
        return output(out, spec, f, node.rank)

    return unary


def binary(definition: Definition, *, is_operator: bool) -> Function:  # noqa: C901 - see its docstring
    """Return the function of two inputs; an operator returns NotImplemented for foreign types.

    It has more branches than functions should have: a separate function for constants slows a chain of them by 8 %.
    """
    general = operate if is_operator else lambda definition, x1, x2: apply(definition, (x1, x2), {})
    plans, scalars_fit, same = definition.plans, definition.elementwise, definition.same_dtype
    rule1, rule2 = (x in definition.rules for x in definition.inputs)
    differentiable = rule1 or rule2
    kept_by_bits = [_kept(definition, (bool(bits & 1), bits > 1)) for bits in range(4)]
    keep_first, keep_second, keep_result = kept_by_bits[1]

    def binary(x1: Any, x2: Any, /) -> Any:  # noqa: C901 - as above
        try:
            node1 = x1._node
            array1 = x1._array
            plan = plans[type(array1)]
        except (AttributeError, KeyError):  # as above
            return binary(x1, x2) if planned(definition, x1) else general(definition, x1, x2)
        now = switches()
        mode = now.mode
        if mode > 1:
            x = x2._array if isinstance(x2, Variable) else x2
            fits = mode in ONLY_LIFTED and plan.transformed and array1.level is now.level  # in no frame of its own
            if not (fits and (x.level is now.level if type(x) is type(array1) else type(x) in PLAIN_SCALARS)):
                return general(definition, x1, x2)
            mode -= LIFTED
        spec: Any = node1.spec
        kind = type(x2)
        if kind is Variable or (kind is not float and kind is not int and kind in variable_types):
            node2 = x2._node
            array2 = x2._array
            if node2.spec is not spec or not same or not spec.differentiable:
                given = spec, node2.spec
                spec = plan.outcomes.get(given)
                if spec is None and not (type(array1) is type(array2) and plan.takes(*given)):
                    return general(definition, x1, x2)
        elif (kind is float or kind is int) and scalars_fit:
            array2 = spec.constants.get(x2)
            if array2 is None:
                if not spec.differentiable:
                    return general(definition, x1, x2)
                try:
                    array2 = plan.backend.prepare(x2, spec)
                except Exception as error:
                    return after_error(error, definition, (x1, x2), [array1, x2], {})
            node2 = None
        elif kind is type(array1) and plan.takes_any_array:
            node2 = None
            array2 = x2
        else:
            scalar = plain_scalar(x2, kind) if scalars_fit else x2
            return general(definition, x1, x2) if scalar is x2 else binary(x1, scalar)
        try:
            if spec is None or not spec.blocked:
                out = plan.kernel(array1, array2)
            else:
                first, second, _ = kept_by_bits[0 if mode else 1 if node2 is None else 3]
                out = in_threads(plan, (array1, array2), None if first else x1, None if second else node2 and x2)
        except Exception as error:
            return after_error(error, definition, (x1, x2), [array1, array2], {})
        if type(out) is not plan.array_type:
            out = plan.restore(out)
        if node2 is None:
            if kind is not float and kind is not int:
                same_spec = same and out.dtype is spec.dtype and out.shape == spec.shape
            else:
                same_spec = same
            if not same_spec or not spec.differentiable:
                try:
                    spec = plan.backend.spec(out)
                except Exception as error:
                    return after_error(error, definition, (x1, x2), [array1, array2], {})
            if mode or not rule1 or not node1.requires_grad or not spec.differentiable:
                if not differentiable and running():
                    ended(definition.name, spec, x1)
                return output(out, spec, None, 0)
            if spec is not node1.spec and spec.dtype is not node1.spec.dtype:
                warn_of_promotion(definition.name, (x1, x2), spec)
            f = Application()
            f.pullback = plan.by_bits[1]
            f.input, f.other = node1, None
            if kind is float or kind is int:
                f.rest = x2  # for the label
            if keep_first:
                f.first = array1
            if keep_second:
                f.second = array2
            if keep_result:
                f.result = out
            return output(out, spec, f, node1.rank)
        if spec is None or not (scalars_fit or out.shape == spec.shape):  # a shape may depend on values
            spec = plan.outcome(given, out, array1, array2)
        needed = (1 if rule1 and node1.requires_grad else 0) | (2 if rule2 and node2.requires_grad else 0)
        if mode or not needed or not spec.differentiable:
            if not differentiable and running():
                ended(definition.name, spec, x1, x2)
            return output(out, spec, None, 0)
        f = Application()
        f.pullback = plan.by_bits[needed]
        f.input, f.other = node1, node2
        first, second, result = kept_by_bits[needed]
        if first:
            f.first = array1
        if second:
            f.second = array2
        if result:
            f.result = out
        rank = node1.rank
        if needed != 1 and (needed == 2 or node2.rank > rank):
            rank = node2.rank
        return output(out, spec, f, rank)

    return binary


def reflected(definition: Definition) -> Function:
    """Return the reflected operator, for a scalar or an array on the left."""
    plans, scalars_fit, same = definition.plans, definition.elementwise, definition.same_dtype
    keeps_constant, keeps_own, keeps_result = _kept(definition, (False, True))
    differentiable, lent = definition.inputs[1] in definition.rules, not keeps_own or None  # whether it may take x2

    def reflected(x2: Any, x1: Any, /) -> Any:
        try:
            node = x2._node
            own = x2._array
            plan = plans[type(own)]
        except (AttributeError, KeyError):  # as above
            return reflected(x2, x1) if planned(definition, x2) else operate(definition, x1, x2)
        now = switches()
        mode = now.mode
        if mode > 1:
            if type(x1) not in PLAIN_SCALARS or not is_inside(now, plan, own):
                return operate(definition, x1, x2)
            mode -= LIFTED
        spec = node.spec
        kind = type(x1)
        is_scalar = kind is float or kind is int
        if is_scalar and scalars_fit:
            constant = spec.constants.get(x1)
            if constant is None:
                if not spec.differentiable:
                    return operate(definition, x1, x2)
                try:
                    constant = plan.backend.prepare(x1, spec)
                except Exception as error:
                    return after_error(error, definition, (x1, x2), [x1, own], {})
        elif kind is type(own) and plan.takes_any_array:
            constant = x1
        else:
            scalar = plain_scalar(x1, kind) if scalars_fit else x1
            return operate(definition, x1, x2) if scalar is x1 else reflected(x2, scalar)
        try:
            out = in_threads(plan, (constant, own), None, lent and x2) if spec.blocked else plan.kernel(constant, own)
            if type(out) is not plan.array_type:
                out = plan.restore(out)
            if not is_scalar or not same or not spec.differentiable:
                spec = plan.backend.spec(out)
        except Exception as error:
            return after_error(error, definition, (x1, x2), [constant, own], {})
        if mode or not differentiable or not node.requires_grad or not spec.differentiable:
            if not definition.rules and running():
                ended(definition.name, spec, x2)
            return output(out, spec, None, 0)
        if spec is not node.spec and spec.dtype is not node.spec.dtype:
            warn_of_promotion(definition.name, (x1, x2), spec)
        f = Application()
        f.pullback = plan.by_bits[2]
        f.input, f.other = None, node
        if is_scalar:
            f.rest = x1  # for the label
        if keeps_constant:
            f.first = constant
        if keeps_own:
            f.second = own
        if keeps_result:
            f.result = out
        return output(out, spec, f, node.rank)

    return reflected


def in_threads(plan: Any, arrays: tuple[Any, ...], *holders: Any) -> Any:
    """Return the result of a plan's kernel for large arrays, see `Programs.in_threads`."""
    return programs_of(plan.backend).in_threads(plan.kernel, arrays, holders)


def _kept(definition: Definition, needed: tuple[bool, ...]) -> tuple[bool, ...]:
    """Return for each input, and for the output, whether it is kept."""
    kept = definition.kept(needed)
    return tuple([name in kept for name in (*definition.inputs, "y")])


def plain_scalar(x: Any, kind: type) -> Any:
    """Convert a scalar of an array library, or of a user's subclass, to a Python scalar; other objects stay."""
    if kind in PLAIN_SCALARS or not issubclass(kind, plugins.scalar_types):
        return x
    kinds: tuple[Callable[[Any], Any], ...] = (int, float, complex)
    scalar = x.item() if hasattr(x, "item") else next(base(x) for base in kinds if isinstance(x, base))  # type: ignore[arg-type]  # classes
    return scalar if type(scalar) in PLAIN_SCALARS else x
