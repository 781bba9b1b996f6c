"""The call paths of primitives with one input and static parameters: reductions, reshapes, indexing.

They have the same time budget as the call paths in `calls`.
"""

from collections.abc import Callable
from typing import Any

from xpgrad.backend.checks import check_cast
from xpgrad.backend.indexing import BASIC
from xpgrad.config import LIFTED, WATCHED, switches
from xpgrad.graph.application import Application
from xpgrad.graph.definition import Definition
from xpgrad.graph.general import after_error, apply, guarded, planned
from xpgrad.graph.lifting import is_inside
from xpgrad.graph.methods.cuts import ended, running
from xpgrad.graph.outputs import output
from xpgrad.graph.variable import Variable

Function = Callable[..., Any]
ABSENT: Any = object()
STATIC = frozenset((int, bool, float, complex, str, type(None)))
"""Types of parameters that are no arrays."""


def parameterised(definition: Definition) -> Function:  # noqa: C901 - as `binary`
    """Return the function of one array and parameters."""
    plans, same, differentiable = definition.plans, definition.same_dtype, bool(definition.rules)
    ends = not differentiable or "dtype" in definition.required  # by a cast to integers
    kept = definition.kept((True,))
    keep_first, keep_result = definition.inputs[0] in kept, "y" in kept
    keep_parameters = not kept.isdisjoint(definition.parameters)
    defaults, required, positional = definition.parameters, definition.required, definition.positional
    bind, casts = definition.bind, definition.casts
    if casts:  # a call with a dtype has a parameter more, and so is not taken for an ordinary one
        defaults = {name: value for name, value in defaults.items() if name != "dtype"}
        positional = positional[: positional.index("dtype")] if "dtype" in positional else positional
    total = len(defaults)
    enough = max([positional.index(name) + 1 if name in positional else total + 1 for name in required], default=0)

    def parameterised(x: Any = ABSENT, /, *args: Any, **kwargs: Any) -> Variable:
        ordinary, parameters = x is not ABSENT, defaults
        if kwargs:
            parameters = {**defaults, **kwargs}
            if args or len(parameters) != total or (required and not required <= kwargs.keys()):
                ordinary = False
        elif not enough <= len(args) <= len(positional):
            ordinary = False
        elif args:
            parameters = defaults.copy()
            for name, value in zip(positional, args):  # noqa: B905 - the rest have their defaults
                parameters[name] = value
        if not ordinary:
            (x,), parameters = bind((x, *args) if x is not ABSENT else (), kwargs)
            if casts:
                parameters["dtype"] = check_cast(x, parameters["dtype"], definition.name)
        try:
            node = x._node
            array = x._array
            plan = plans[type(array)]
        except (AttributeError, KeyError):  # no Variable, or the first array of its type
            return parameterised(x, **parameters) if planned(definition, x) else apply(definition, (x,), parameters)
        now = switches()
        mode = now.mode
        if mode > 1:
            if not (is_inside(now, plan, array) and _is_static(parameters)):
                return apply(definition, (x,), parameters)
            mode -= LIFTED
        try:
            out = plan.kernel(array, **parameters)
        except Exception as error:
            return after_error(error, definition, (x,), [array], parameters)
        if type(out) is not plan.array_type:
            out = plan.restore(out)
        spec = node.spec
        if not (same and spec.differentiable):
            spec = plan.backend.spec(out)
        if mode or not node.requires_grad or not differentiable or not spec.differentiable:
            if ends and running():
                ended(definition.name, spec, x)
            return output(out, spec, None, 0)
        f = Application()
        f.pullback = plan.by_bits[1]
        f.input, f.other = node, None
        if keep_parameters:
            f.rest = parameters
        if keep_first:
            f.first = array
        if keep_result:
            f.result = out
        return output(out, spec, f, node.rank)

    return parameterised


def indexed(definition: Definition, general: Function) -> Function:
    """Return the operator of ``x[index]`` for `definition`, whose one parameter is the index.

    Parameters
    ----------
    definition : Definition
    general : callable
        ``general(x, index)`` does the same for any index.
    """
    plans, basic = definition.plans, BASIC

    def indexed(x: Any, index: Any, /) -> Any:
        if type(index) is tuple:
            for item in index:
                if type(item) not in basic:
                    return general(x, index)
        elif type(index) not in basic:
            return general(x, index)
        try:
            node = x._node
            array = x._array
            plan = plans[type(array)]
        except (AttributeError, KeyError):  # as above
            return indexed(x, index) if planned(definition, x) else general(x, index)
        now = switches()
        mode = now.mode
        if mode > 1:
            if not is_inside(now, plan, array):
                return general(x, index) if mode & WATCHED else guarded(definition, (x, index), {}, "index")
            mode -= LIFTED
        try:
            out = plan.kernel(array, index=index)
        except Exception as error:
            return after_error(error, definition, (x,), [array], {"index": index})
        if type(out) is not plan.array_type:
            out = plan.restore(out)
        given = node.spec
        spec = plan.outcomes.get(given) if type(index) is int else None  # then the spec of `x` decides it
        if spec is None and type(index) is int and array.shape == given.shape and array.dtype == given.dtype:
            spec = plan.outcome(given, out, array)
        elif spec is None:
            spec = plan.backend.spec(out)
        if mode or not node.requires_grad:
            return output(out, spec, None, 0)
        f = Application()
        f.pullback = plan.by_bits[1]
        f.input, f.other = node, None
        f.rest = {"index": index}
        return output(out, spec, f, node.rank)

    definition.paths["index"] = indexed
    return indexed


def _is_static(parameters: dict[str, Any]) -> bool:
    """Return whether no parameter can be an array, which would have to be lifted to a transformation."""
    for value in parameters.values():
        if type(value) not in STATIC and not (type(value) is tuple and all(type(item) in STATIC for item in value)):
            return False
    return True
