"""The general path of a primitive call, with every check, for calls that the fast call path does not handle.

A kernel is never called again with arguments for which it raised: the message is derived from the first error. Only a
parameter that few libraries take, as a list for a tuple, is converted after the error, and the kernel called with that.
"""

import warnings
from collections.abc import Sequence
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.naming import called
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.boundary import described, reworded
from xpgrad.config import GUARDED, LIFTED, NO_GRAD, WATCHED, called_with, config, switches, unguarded_mode
from xpgrad.errors import PromotionWarning, UnknownArray
from xpgrad.graph import carried
from xpgrad.graph.application import Application, DebugApplication
from xpgrad.graph.definition import Definition
from xpgrad.graph.lifting import call_lifted
from xpgrad.graph.methods.cuts import ended, running
from xpgrad.graph.methods.ending import caller
from xpgrad.graph.operands import (
    cast_to_variable,
    common_backend,
    is_operand,
    plain_parameters,
    promoted,
    with_arrays_only,
)
from xpgrad.graph.outputs import output
from xpgrad.graph.pullback import Plan
from xpgrad.graph.variable import Variable, as_array
from xpgrad.graph.wording import raise_explained
from xpgrad.types import Array
from xpgrad.watch import inspection
from xpgrad.watch.observation import observed


def warn_of_promotion(name: str, operands: Sequence[Any], result: Spec) -> None:
    """Warn, once for each line, if an array promotes the result of a Variable that requires a gradient."""
    own, by_array = result, False
    for x in operands:
        if not isinstance(x, Variable):
            by_array = by_array or (type(x) in plugins.by_type and x.dtype == result.dtype)
        elif x._node.requires_grad and x._node.spec.dtype != result.dtype:
            own = x._node.spec
    if own is result or not by_array or own.complex != result.complex or not own.differentiable:
        return
    frame, dtype_name = caller(), own.backend.dtype_name
    if frame is not None:
        narrow, names = dtype_name(own.dtype), frame.f_globals
        text = (
            f"{name.strip('_')}: an array of {dtype_name(result.dtype)} promotes the result of a Variable of {narrow} "
            f"that requires a gradient; cast it by xpgrad.array_api.astype(array, {narrow!r}), or ignore "
            "xpgrad.errors.PromotionWarning"
        )
        place = frame.f_code.co_filename, frame.f_lineno, str(names.get("__name__"))
        warnings.warn_explicit(text, PromotionWarning, *place, names.setdefault("__warningregistry__", {}))


def apply(definition: Definition, operands: Sequence[Any], parameters: dict[str, Any]) -> Variable:
    """Call a primitive on Variables, arrays and scalars, with every check; return its output as a Variable."""
    try:
        return _apply(definition, operands, parameters)
    except Exception as error:
        name, function = called(definition.title), definition.paths.get("public", definition.body)
        found = reworded(error, name, function, tuple(operands), parameters)
        try:
            if found is error:
                raise
            raise found from error
        finally:
            del found  # else this frame and its arrays would be a cycle with the error


def _apply(definition: Definition, operands: Sequence[Any], parameters: dict[str, Any]) -> Variable:
    mode = switches().mode
    if mode & LIFTED:
        entered: Variable = call_lifted(definition, operands, parameters, "public")
        return entered
    if mode & (WATCHED | GUARDED) == GUARDED:
        return guarded(definition, operands, parameters)  # type: ignore[no-any-return]  # a Variable
    operands = list(operands[0]) if definition.variadic else operands
    if plugins.carriers:
        operands = [carried.operand(x) for x in operands]
    try:
        backend, lead = common_backend(definition.title, operands)
    except UnknownArray:  # but the scalars of libraries are 0-d arrays
        operands = [plugins.array_of(x) for x in operands]
        backend, lead = common_backend(definition.title, operands)
    parameters = plain_parameters(definition.title, parameters, backend)
    if config.cast_operands and "operator" in definition.paths:
        operands = cast_to_variable(operands, backend)
    given = operands
    if definition.elementwise:
        operands = promoted(operands, backend)
    arrays, nodes, scalar = _split(operands, backend, lead)
    if scalar is not None and not definition.elementwise:  # only elementwise functions of libraries take one
        arrays, nodes, scalar = _split(with_arrays_only(definition.title, operands, backend), backend, lead)
    plan = plan_for(definition, type(lead), backend)
    function: Application | None = None
    if mode & WATCHED:
        function = _watched(plan, nodes, parameters, scalar)
        out = _run_watched(function, plan, operands, arrays, parameters)
    else:
        out = _run(plan, arrays, parameters)
    spec = backend.spec(out)
    needed = tuple(
        node is not None and node.requires_grad and (definition.variadic or x in definition.rules)
        for x, node in zip(definition.inputs * (len(nodes) if definition.variadic else 1), nodes, strict=True)
    )
    if mode & NO_GRAD or True not in needed or not spec.differentiable:
        if not (definition.rules and spec.differentiable) and running():
            ended(definition.name, spec, *operands)
        return output(out, spec, None, 0)
    for x in given if len(given) > 1 else ():
        if isinstance(x, Variable) and x._node.spec.dtype != spec.dtype:
            warn_of_promotion(definition.name, given, spec)
            break
    function = Application() if function is None else function
    function.pullback = plan.pullback(needed)
    function.pullback.retention.keep(function, arrays, nodes, out, parameters, scalar)
    function.inputs = tuple(nodes)
    rank = max(node.rank for node, need in zip(nodes, needed, strict=True) if need)
    y = output(out, spec, function, rank)
    if mode & GUARDED or (mode & WATCHED and config.debug):
        function.guard()
    return y


def operate(definition: Definition, x1: Any, x2: Any) -> Any:
    """Call `apply` for an operator, which returns NotImplemented for foreign types."""
    if not (is_operand(x1) and is_operand(x2)):
        if definition.rules and any(isinstance(x, (list, tuple, str, bytes)) for x in (x1, x2)):
            return apply(definition, (x1, x2), {})  # raises with a remedy; Python would request an index to repeat them
        return NotImplemented
    mode = switches().mode
    if mode & (LIFTED | GUARDED) and (mode & LIFTED or not mode & WATCHED):
        return guarded(definition, (x1, x2), {}, "operator" if isinstance(x1, Variable) else "reflected")
    return apply(definition, (x1, x2), {})


def guarded(definition: Definition, operands: Sequence[Any], parameters: dict[str, Any], path: str = "public") -> Any:
    """Call a primitive by the call path that is used without mutation detection, and guard the arrays that it retains.

    So tests with mutation detection run the same code as programs without it. Within a transformation, operands are
    lifted first.
    """
    if switches().mode & LIFTED:
        return call_lifted(definition, operands, parameters, path)
    y = called_with(unguarded_mode(), definition.paths[path], *operands, **parameters)
    function = y._node.creator_node if isinstance(y, Variable) else None
    if isinstance(function, Application):
        function.guard()
    return y


def after_error(
    error: Exception, definition: Definition, operands: Sequence[Any], arrays: list[Any], parameters: dict[str, Any]
) -> Variable:
    """Explain the error of a kernel that a call path has called with the `arrays` of `operands` and `parameters`.

    Call paths leave some checks until then. Call paths and `apply` pass different parameters only: operands that
    require a cast never reach a call path's kernel.
    """
    variadic = definition.variadic
    backend, _ = common_backend(definition.title, operands[0] if variadic else operands)
    plain = plain_parameters(definition.title, parameters, backend)
    if any(plain[name] is not value for name, value in parameters.items()):
        return apply(definition, operands, plain)
    raise_explained(error, definition, arrays, parameters, backend)


def given_arrays(definition: Definition, operands: Any) -> list[Any]:
    """Return the arrays of an iterable passed to a variadic primitive, up to the first element that is not an array."""
    found = []
    try:
        for x in operands:
            plugins.backend_of(as_array(x))
            found.append(x)
    except TypeError as error:
        text = f"{called(definition.title)}: expected a sequence of Variables or arrays, got {described(operands)}"
        raise UnknownArray(f"{text}; {error}") from None
    return found


def plan_for(definition: Definition, kind: type, backend: Backend | None = None) -> Plan:
    """Return the plan of a primitive for arrays of type `kind`, resolved once."""
    plan: Plan | None = definition.plans.get(kind)
    if plan is None:
        backend = backend or plugins.by_type.get(kind)
        if backend is None:
            raise UnknownArray(f"{definition.name}: {kind.__qualname__} is not an array of an installed backend")
        plan = definition.plans[kind] = Plan(definition, backend)
    return plan


def planned(definition: Definition, x: Any) -> bool:
    """Create the plan for the array type of `x` unless it exists; return whether it was created."""
    kind = type(x._array) if isinstance(x, Variable) else None
    if kind in definition.plans or kind not in plugins.by_type:
        return False
    plan_for(definition, kind)
    return True


def _split(operands: Sequence[Any], backend: Backend, lead: Array) -> tuple[list[Any], list[Any], Any]:
    """Return the arrays for the kernel, the nodes of Variables, and the last scalar among `operands`, or None."""
    spec = backend.spec(lead)
    arrays, nodes, scalar = [], [], None
    for x in operands:
        node, array = (x._node, x._array) if isinstance(x, Variable) else (None, x)
        if type(array) not in plugins.by_type and array is not None and plugins.is_scalar(array):
            scalar = array.item() if hasattr(array, "item") else array
            array = backend.prepare(scalar, spec)
        nodes.append(node)
        arrays.append(array)
    return arrays, nodes, scalar


def _watched(plan: Plan, nodes: list[Any], parameters: dict[str, Any], scalar: Any) -> Application:
    """Return an application that hooks can receive before the output exists."""
    function: Application = DebugApplication()
    function.pullback, function.inputs, function.rank = plan.pullback((True,) * len(nodes)), tuple(nodes), 0
    function._origin = function.stack = None
    function.rest = parameters if scalar is None else scalar  # for the label
    if config.debug:
        inspection.note(function)
    return function


def _run_watched(
    function: Application, plan: Plan, operands: Sequence[Any], arrays: list[Any], parameters: dict[str, Any]
) -> Array:
    given = [x._array if isinstance(x, Variable) else x for x in operands]
    visible = tuple([carried.visible(array) for array in given if type(array) in plugins.by_type])
    return observed(
        function, "forward", inspection.hooks_of(function), (visible,), lambda: _run(plan, arrays, parameters),
        arrays=lambda out: (out,), operands=arrays,
    )  # fmt: skip


def _run(plan: Plan, arrays: list[Any], parameters: dict[str, Any]) -> Array:
    try:
        out = plan.kernel(*([arrays] if plan.definition.variadic else arrays), **parameters)
    except Exception as error:
        raise_explained(error, plan.definition, arrays, parameters, plan.backend)
    return out if type(out) is plan.array_type else plan.restore(out)
