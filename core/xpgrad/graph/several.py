"""The call path of primitives with several array inputs, some of which may be None, and static parameters.

It follows the same budget as the paths in `primitive`, and leaves what is out of the ordinary to `application.apply`.
"""

import weakref
from collections.abc import Callable
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.chainer.parameter import Parameter
from xpgrad.config import switches
from xpgrad.graph.application import Application, apply, plan_for
from xpgrad.graph.definition import Definition
from xpgrad.graph.node import VariableNode
from xpgrad.graph.pullback import Plan
from xpgrad.graph.variable import Variable

Function = Callable[..., Any]
new = object.__new__
ref = weakref.ref


class Keeping:
    """What one backend computes and the graph keeps when certain inputs need a gradient, resolved once."""

    __slots__ = ("a", "b", "more", "parameters", "plan", "pullback", "rest", "specs", "y")

    def __init__(self, plan: Plan, needed: tuple[bool, ...]) -> None:
        definition = plan.definition
        kept, inputs = definition.kept(needed), definition.inputs
        self.plan, self.pullback = plan, plan.pullback(needed)
        self.a, self.b, self.y = inputs[0] in kept, inputs[1] in kept, "y" in kept
        self.rest = [(i, x) for i, x in enumerate(inputs) if i > 1 and x in kept]
        self.specs = [(i, f"{x}_spec") for i, x in enumerate(inputs) if f"{x}_spec" in kept]
        self.parameters = [name for name in definition.parameters if name in kept]
        self.more = bool(self.rest or self.specs or self.parameters)

    def collect(self, arrays: list[Any], nodes: list[Any], parameters: dict[str, Any]) -> dict[str, Any]:
        """Return what is kept besides the first two inputs and the output, by name."""
        found = {name: parameters[name] for name in self.parameters}
        for i, name in self.rest:
            found[name] = arrays[i]
        for i, name in self.specs:
            if nodes[i] is None:  # else the node has it
                found[name] = None if arrays[i] is None else self.plan.backend.spec(arrays[i])
        return found


def several(definition: Definition) -> Function:
    """Return the function of two or more arrays and parameters."""
    plans, bind = definition.plans, definition.bind
    bits = [1 << i if x in definition.rules else 0 for i, x in enumerate(definition.inputs)]
    count, plain, elementwise = len(definition.inputs), not definition.parameters, definition.elementwise
    keepings: dict[int, Keeping] = {}

    def function(*args: Any, **kwargs: Any) -> Variable:
        if plain and not kwargs and len(args) == count:
            operands, parameters = args, kwargs
        else:
            operands, parameters = bind(args, kwargs)
        try:
            mode = switches().mode
            if mode > 1:
                return apply(definition, operands, parameters)
            plan: Any = None
            arrays: list[Any] = []
            nodes: list[Any] = []
            lead = place = scalar = None
            rank = needed = 0
            fits = elementwise  # a scalar meets floats only
            for x, bit in zip(operands, bits):  # noqa: B905 - `bind` has counted them, and strict costs 60 ns
                kind = type(x)
                if kind is Variable or kind is Parameter:
                    node = x._node
                    array = x._array
                    kind = type(array)
                    device = node.spec.device
                    if bit and node.requires_grad:
                        needed |= bit
                        if node.rank > rank:
                            rank = node.rank
                    elif bit and not node.spec.differentiable:
                        fits = False
                elif x is None or kind is float or kind is int:
                    if x is not None:
                        scalar = x
                    arrays.append(x)
                    nodes.append(None)
                    continue
                else:
                    node = None
                    array = x
                    if kind in plugins.carriers:
                        return apply(definition, operands, parameters)
                    backend = (plan or plan_for(definition, kind)).backend
                    backend.check(array)
                    device = backend.handle_of(array)
                    if bit and not backend.spec(array).differentiable:
                        fits = False
                if plan is None:
                    plan = plans.get(kind)
                    if plan is None:
                        plan = plan_for(definition, kind)
                    lead = kind
                    place = device
                elif kind is not lead or not (plan.alone or (device == place and _together(plan, arrays, array))):
                    return apply(definition, operands, parameters)
                arrays.append(array)
                nodes.append(node)
            if scalar is not None and not fits:
                return apply(definition, operands, parameters)
            out = plan.kernel(*arrays, **parameters)
            if type(out) is not plan.array_type:
                out = plan.backend.restore(out)
            spec = plan.backend.spec(out)
        except Exception:  # the general path raises it again, explained
            return apply(definition, operands, parameters)
        y = new(Variable)
        y._array = out
        y._grad = None
        result = y._node = new(VariableNode)
        result.variable = ref(y)
        result.spec = spec
        result.extra = None
        if mode or not needed or not spec.differentiable:
            result.creator_node = None
            result.rank = 0
            result.requires_grad = False
            return y
        keeping = keepings.get(needed)
        if keeping is None or keeping.plan is not plan:
            keeping = keepings[needed] = Keeping(plan, tuple(bool(needed & 1 << i) for i in range(count)))
        f = result.creator_node = new(Application)
        f.pullback = keeping.pullback
        f.inputs = tuple(nodes)
        if keeping.a:
            f.a = arrays[0]
        if keeping.b:
            f.b = arrays[1]
        if keeping.y:
            f.c = out
        if keeping.more:
            f.d = keeping.collect(arrays, nodes, parameters)
        elif scalar is not None:
            f.d = scalar
        f.rank = rank
        result.rank = rank + 1
        result.requires_grad = True
        return y

    return function


def _together(plan: Plan, arrays: list[Any], array: Any) -> bool:
    """Tell whether `array` has the dtypes of `arrays`, or may have any: else some are to be cast, or are no numbers."""
    return plan.widen or all(getattr(other, "dtype", array.dtype) == array.dtype for other in arrays)
