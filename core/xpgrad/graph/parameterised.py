"""The call paths of primitives with static parameters: reductions, reshapes, indexing, joins.

They keep to the same budget as the paths in `primitive`, and leave what is out of the ordinary to `application.apply`.
"""

import weakref
from collections.abc import Callable
from typing import Any

from xpgrad.backend.checks import check_cast, check_still
from xpgrad.backend.indexing import BASIC
from xpgrad.backend.spec import Spec
from xpgrad.config import WATCHED, switches
from xpgrad.graph.application import Application, apply, guarded, keep, plan_for
from xpgrad.graph.definition import Definition
from xpgrad.graph.node import VariableNode
from xpgrad.graph.variable import Variable

Function = Callable[..., Any]
MOST_ROWS = 4096
new = object.__new__
ref = weakref.ref


def parameterised(definition: Definition) -> Function:
    """Return the function of one array and parameters."""
    plans, same = definition.plans, definition.same_dtype and definition.elementwise
    kept = definition.kept((True,))
    keep_a, keep_c, keep_d = definition.inputs[0] in kept, "y" in kept, not kept.isdisjoint(definition.parameters)
    differentiable = bool(definition.rules)
    defaults, required, positional = definition.parameters, definition.required, definition.positional
    bind, casts = definition.bind, definition.casts
    if casts:  # a call with a dtype has a parameter more, and so is not taken for an ordinary one
        defaults = {name: value for name, value in defaults.items() if name != "dtype"}
    total = len(defaults)
    enough = max([positional.index(name) + 1 if name in positional else total + 1 for name in required], default=0)

    def function(x: Any = new, /, *args: Any, **kwargs: Any) -> Variable:
        if kwargs:
            parameters = {**defaults, **kwargs}
            if args or x is new or len(parameters) != total or (required and not required <= kwargs.keys()):
                (x,), parameters = bind((x, *args) if x is not new else (), kwargs)
                if casts:
                    check_cast(x, parameters["dtype"], definition.name)
        elif x is not new and enough <= len(args) <= len(positional):
            if args:
                parameters = defaults.copy()
                for name, value in zip(positional, args):  # noqa: B905 - the rest have their defaults
                    parameters[name] = value
            else:
                parameters = defaults
        else:
            (x,), parameters = bind((x, *args) if x is not new else (), {})
        try:
            node = x._node
            left = x._array
            kind = type(left)
            plan = plans.get(kind)
            if plan is None:
                plan = plan_for(definition, kind)
            mode = switches().mode
            if mode > 1:
                return apply(definition, (x,), parameters)
            out = plan.kernel(left, **parameters)
            if type(out) is not plan.array_type:
                out = plan.restore(out)
            spec = node.spec
            if not (same and spec.differentiable):
                spec = plan.backend.spec(out)
        except Exception:  # the general path raises it again, explained
            return apply(definition, (x,), parameters)
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
        if keep_d:
            f.d = parameters
        rank = f.rank = node.rank
        result.rank = rank + 1
        result.requires_grad = True
        return y

    return function


def indexer(definition: Definition, careful: Function) -> Function:
    """Return the operator of ``x[index]`` for `definition`, whose one parameter is the index.

    Parameters
    ----------
    definition : Definition
    careful : callable
        ``careful(x, index)`` does the same for whatever is no plain index of a live array, and raises the errors.
    """
    plans, basic = definition.plans, BASIC
    rows: dict[Spec, Spec] = {}  # of x[i] for a whole number, by that of x

    def function(x: Any, index: Any, /) -> Any:
        try:
            if type(index) is tuple:
                for item in index:
                    if type(item) not in basic:
                        return careful(x, index)
            elif type(index) not in basic:
                return careful(x, index)
            node = x._node
            left = x._array
            plan = plans.get(type(left))
            if plan is None:
                plan = plan_for(definition, type(left))
            mode = switches().mode
            if mode > 1:
                return careful(x, index) if mode & WATCHED else guarded(definition, (x, index), {}, "index")
            out = plan.kernel(left, index=index)
            if type(out) is not plan.array_type:
                out = plan.restore(out)
            spec = rows.get(node.spec) if type(index) is int else None
            if spec is None:
                spec = plan.backend.spec(out)
                if type(index) is int and type(out) is plan.array_type:  # as in Plan.outcome
                    check_still(left, node.spec, definition.label)
                    if len(rows) >= MOST_ROWS:
                        rows.clear()
                    rows[node.spec] = spec
        except Exception:  # the general path raises it again, explained
            return careful(x, index)
        y = new(Variable)
        y._array = out
        y._grad = None
        result = y._node = new(VariableNode)
        result.variable = ref(y)
        result.spec = spec
        result.extra = None
        if mode or not node.requires_grad:
            result.creator_node = None
            result.rank = 0
            result.requires_grad = False
            return y
        f = result.creator_node = Application()
        f.pullback = plan.first
        f.inputs = (node,)
        f.d = {"index": index}
        rank = f.rank = node.rank
        result.rank = rank + 1
        result.requires_grad = True
        return y

    definition.paths["index"] = function
    return function


def joined(definition: Definition) -> Function:
    """Return the function of a sequence of arrays, and parameters."""
    plans, bind, defaults, required = definition.plans, definition.bind, definition.parameters, definition.required
    total, kept = len(defaults), definition.kept(())
    kept_parameters, simple = tuple(kept & defaults.keys()), kept <= {"specs", *defaults}

    def function(*args: Any, **kwargs: Any) -> Variable:
        parameters = {**defaults, **kwargs} if kwargs else defaults
        if len(args) == 1 and len(parameters) == total and not required:
            (operands,) = args
        else:
            (operands,), parameters = bind(args, kwargs)
        try:
            operands = list(operands)  # which may come one by one
            mode = switches().mode
            if mode > 1:
                return apply(definition, (operands,), parameters)
            nodes = [x._node for x in operands]
            arrays = [x._array for x in operands]
            kind, device = type(arrays[0]), nodes[0].spec.device
            plan = plans.get(kind)
            if plan is None:
                plan = plan_for(definition, kind)
            for array, node in zip(arrays, nodes, strict=True):
                if type(array) is not kind or node.spec.device != device:
                    return apply(definition, (operands,), parameters)
            out = plan.kernel(arrays, **parameters)
            if type(out) is not plan.array_type:
                out = plan.restore(out)
            spec = plan.backend.spec(out)
        except Exception:  # the general path raises it again, explained
            return apply(definition, (operands,), parameters)
        y = new(Variable)
        y._array = out
        y._grad = None
        result = y._node = new(VariableNode)
        result.variable = ref(y)
        result.spec = spec
        result.extra = None
        needed = tuple([node.requires_grad for node in nodes])
        if mode or True not in needed or not spec.differentiable:
            result.creator_node = None
            result.rank = 0
            result.requires_grad = False
            return y
        f = result.creator_node = Application()
        f.pullback = plan.pullback(needed)
        f.inputs = tuple(nodes)
        if simple:
            rest: dict[str, Any] = {name: parameters[name] for name in kept_parameters}
            rest["specs"] = tuple([node.spec for node in nodes])
            f.d = rest
        else:
            keep(f, kept, definition, arrays, nodes, out, parameters)
        rank = f.rank = max([node.rank for node in nodes if node.requires_grad])
        result.rank = rank + 1
        result.requires_grad = True
        return y

    return function
