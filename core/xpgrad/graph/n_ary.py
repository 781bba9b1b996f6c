"""The call paths of primitives with several array inputs, some of which may be None, and of primitives of a sequence.

They have the same time budget as the call paths in `calls`.
"""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.config import LIFTED, ONLY_LIFTED, switches
from xpgrad.graph.application import Application
from xpgrad.graph.calls import variable_types
from xpgrad.graph.definition import Definition
from xpgrad.graph.general import after_error, apply, given_arrays, plan_for, planned
from xpgrad.graph.lifting import lifted, lifted_parameters
from xpgrad.graph.methods.cuts import ended, running
from xpgrad.graph.outputs import output
from xpgrad.graph.pullback import Plan
from xpgrad.graph.variable import Variable

Function = Callable[..., Any]


def n_ary(definition: Definition) -> Function:
    """Return the function of two or more arrays and parameters."""
    bind, count, plain, several = definition.bind, len(definition.inputs), not definition.parameters, definition.several
    differentiable = bool(definition.rules)
    bits = [1 << i if x in definition.rules else 0 for i, x in enumerate(definition.inputs)]

    def n_ary(*args: Any, **kwargs: Any) -> Variable:
        if plain and not kwargs and len(args) == count:
            operands, parameters = args, kwargs
        else:
            operands, parameters = bind(args, kwargs)
        now = switches()
        mode = now.mode
        try:
            if mode in ONLY_LIFTED:
                operands = tuple([lifted(now.level, x) for x in operands])
                parameters = parameters and lifted_parameters(definition, now.level, parameters)
                mode -= LIFTED
            sorted_out = None if mode > 1 else _sorted_out(definition, operands, bits)
        except Exception:  # explained by `apply`, which finds it again
            sorted_out = None
        if sorted_out is None:
            return apply(definition, operands, parameters)
        plan, arrays, nodes, scalar, needed, rank = sorted_out
        try:
            out = plan.kernel(*arrays, **parameters)
            if type(out) is not plan.array_type:
                out = plan.restore(out)
            spec = plan.backend.spec(out)
        except Exception as error:
            return after_error(error, definition, operands, arrays, parameters)
        if mode or not needed or not spec.differentiable:
            if not differentiable and running():
                ended(definition.name, spec, *operands)
            return output(out, spec, None, 0)
        f = Application()
        pullback = f.pullback = plan.for_bits(needed)
        if several:
            f.input, f.other = tuple(nodes), None
        else:
            f.input, f.other = nodes
        pullback.retention.keep(f, arrays, nodes, out, parameters, scalar)
        return output(out, spec, f, rank)

    return n_ary


def _sorted_out(definition: Definition, operands: Sequence[Any], bits: list[int]) -> Any:
    """Return plan, arrays, nodes, the last scalar, the bits of needed inputs, and their rank; None if not ordinary."""
    plan: Any = None
    arrays: list[Any] = []
    nodes: list[Any] = []
    spec: Any
    lead = place = scalar = None
    needed = rank = 0
    floats = definition.elementwise  # a scalar meets floats only
    for x, bit in zip(operands, bits):  # noqa: B905 - `bind` has counted them, and strict costs 60 ns
        kind = type(x)
        if kind is Variable or kind in variable_types:
            node = x._node
            array = x._array
            kind = type(array)
        elif x is None or kind is float or kind is int:
            if x is not None:
                scalar = x
            arrays.append(x)
            nodes.append(None)
            continue
        else:
            node = None
            array = x
        if plan is None:
            plan = definition.plans.get(kind)
            if plan is None and kind in plugins.by_type:
                plan = plan_for(definition, kind)
            lead = kind
        if plan is None or kind is not lead:
            return None
        if node is not None:
            spec = node.spec
            device = spec.device
        elif kind in plugins.carriers:  # the array may have its own graph
            return None
        else:
            plan.backend.check(array)
            device = plan.backend.handle_of(array)
            spec = plan.backend.spec(array) if bit else None
        if place is None:
            place = device
        elif not (plan.takes_any_array or (device == place and _together(plan, arrays, array))):
            return None
        if bit and not spec.differentiable:
            floats = False
        elif bit and node is not None and node.requires_grad:
            needed |= bit
            if node.rank > rank:
                rank = node.rank
        arrays.append(array)
        nodes.append(node)
    return None if plan is None or (scalar is not None and not floats) else (plan, arrays, nodes, scalar, needed, rank)


def _together(plan: Plan, arrays: list[Any], array: Any) -> bool:
    """Return whether `array` has the dtypes of `arrays`, or may have any; else some must be cast or are not numbers."""
    return plan.mixes_dtypes or all(getattr(other, "dtype", array.dtype) == array.dtype for other in arrays)


def sequence(definition: Definition) -> Function:
    """Return the function of a sequence of arrays, and parameters."""
    plans, bind, defaults, required = definition.plans, definition.bind, definition.parameters, definition.required
    total = len(defaults)

    def sequence(*args: Any, **kwargs: Any) -> Variable:
        parameters = {**defaults, **kwargs} if kwargs else defaults
        if len(args) == 1 and len(parameters) == total and not required:
            (operands,) = args
        else:
            (operands,), parameters = bind(args, kwargs)
        operands = list(operands) if type(operands) in (list, tuple) else given_arrays(definition, operands)
        try:
            nodes = [x._node for x in operands]
            arrays = [x._array for x in operands]
            kind, device = type(arrays[0]), nodes[0].spec.device
            plan = plans[kind]
        except (AttributeError, IndexError, KeyError):  # no Variables, none at all, or the first array of its type
            if operands and planned(definition, operands[0]):
                return sequence(operands, **parameters)
            return apply(definition, (operands,), parameters)
        mode = switches().mode
        if mode > 1:
            return apply(definition, (operands,), parameters)
        for array, node in zip(arrays, nodes):  # noqa: B905 - they are equally many
            if type(array) is not kind or node.spec.device != device:
                return apply(definition, (operands,), parameters)
        try:
            out = plan.kernel(arrays, **parameters)
        except Exception as error:
            return after_error(error, definition, (operands,), arrays, parameters)
        if type(out) is not plan.array_type:
            out = plan.restore(out)
        spec = plan.backend.spec(out)
        needed = tuple([node.requires_grad for node in nodes])
        if mode or True not in needed or not spec.differentiable:
            return output(out, spec, None, 0)
        f = Application()
        pullback = f.pullback = plan.pullback(needed)
        f.input, f.other = tuple(nodes), None
        pullback.retention.keep(f, arrays, nodes, out, parameters)
        return output(out, spec, f, max([node.rank for node in nodes if node.requires_grad]))

    return sequence
