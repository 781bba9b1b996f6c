"""`Application`: the node that one call of a primitive leaves in the graph, and the general way to make one."""

import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.config import GUARDED, NO_GRAD, WATCHED, called_with, config, switches, unguarded_mode
from xpgrad.errors import (
    BackendMismatch,
    DeviceMismatch,
    GraphError,
    UnknownArray,
    XpgradError,
)
from xpgrad.graph import carried
from xpgrad.graph.definition import Definition
from xpgrad.graph.exchange import lock
from xpgrad.graph.function_node import RELEASED, FunctionNode, made
from xpgrad.graph.hooked import HookedPullback
from xpgrad.graph.node import VariableNode
from xpgrad.graph.pullback import Plan, Pullback
from xpgrad.graph.slot import slot
from xpgrad.graph.variable import Variable
from xpgrad.graph.wording import explained, is_numerical
from xpgrad.types import WHOLE, Array
from xpgrad.watch import inspection

new = object.__new__


class Application(FunctionNode):
    """One call of a primitive: its input nodes, and what its rules asked to keep.

    Slots that no rule asked for stay empty: `a` and `b` hold the first two inputs, `c` the output, `d` parameters,
    further inputs and specs, or the Python scalar that an operator met.
    """

    __slots__ = ("__weakref__", "a", "b", "c", "d", "inputs", "pullback", "rank")

    __new__ = object.__new__

    inputs: tuple[VariableNode | None, ...]
    pullback: Pullback
    a: Array
    b: Array
    c: Array
    d: Any

    def __reduce__(self) -> Any:
        raise GraphError(f"copy: {self.label} is part of a graph; copy a Variable that it made, or pickle v.array")

    @property
    def outputs(self) -> None:
        """None: the node of the output knows the primitive, not the other way round; that saves 40 ns and 72 bytes."""
        return None

    @property
    def label(self) -> str:
        """The primitive's name, or an operator with blanks for its operands and the scalar it met."""
        pullback = self.pullback
        if pullback is RELEASED or pullback is None:
            return "a released function" if pullback is RELEASED else "an unchained function"
        label = pullback.definition.label
        if "{" in label:
            return label.format_map({k: _operand(v) for k, v in self.d.items()})
        if label.count("_") != 2 or len(pullback.definition.inputs) != 2:
            return label
        left, symbol, right = label.split(" ")
        inputs = (*self.inputs, None)
        if inputs[0] is None:
            left = _operand(getattr(self, "d", None))
        elif inputs[1] is None:
            right = _operand(getattr(self, "d", None))
        return f"{left} {symbol} {right}"

    @property
    def _impl_name(self) -> str:
        return self.label if self.pullback in (RELEASED, None) else self.pullback.definition.name

    @property
    def unchained(self) -> bool:  # type: ignore[override]  # a constant for functions that know their outputs
        """Whether the function was cut out of the graph; its output becomes a root when it is next looked at."""
        return self.pullback is None

    def kept_inputs(self) -> tuple[Any, ...]:
        """Return one array for each input that is an array, None for those that were not kept; for hooks."""
        if self.inputs is None:
            return ()
        rest = getattr(self, "d", {})
        with_scalar = not isinstance(rest, dict)
        places = self.pullback.definition.inputs
        values = []
        for place, node in enumerate(self.inputs):
            if node is None and with_scalar:
                continue
            if len(places) != len(self.inputs) and not with_scalar:
                value = None  # variadic: its rule asks for no arrays
            elif place < 2:
                value = getattr(self, "ab"[place], None)
            else:
                value = None if with_scalar else rest.get(places[place])
            values.append(carried.visible(value) if type(value) in plugins.by_type else None)
        return tuple(values)

    @property
    def _hooks(self) -> dict[str, Any] | None:  # on the pullback, where they cost nothing
        return getattr(self.pullback, "hooks", None)

    @property
    def _guards(self) -> inspection.Guards | None:  # there, too
        return getattr(self.pullback, "guards", None)

    def _own_hooks(self) -> dict[str, Any]:
        if self.pullback in (RELEASED, None):
            raise GraphError(f"hooks: this is {self.label}, which no sweep passes any more")
        with lock:
            if not isinstance(self.pullback, HookedPullback):
                self.pullback = HookedPullback(self.pullback, {}, [])
            hooks: dict[str, Any] = self.pullback.hooks
        return hooks

    def guard(self) -> None:
        """Note what is kept, so that a sweep finds out whether it was written to."""
        self.pullback = HookedPullback(self.pullback, {}, inspection.guards(_kept_values(self)))

    def release(self) -> None:
        """Drop what was kept; a later sweep through here says so."""
        self.pullback = RELEASED  # first: a sweep that meets what is missing below finds out why
        self.a = self.b = self.c = self.d = None

    def unchain(self) -> None:
        """Cut this function out of the graph: it forgets everything, and its output becomes a root."""
        self.release()
        self.inputs = self.pullback = None  # type: ignore[assignment]  # as in a function that was never applied


class DebugApplication(Application):
    """An application in debug mode: where it happened."""

    __slots__ = ("_origin", "stack")


def _operand(scalar: Any) -> str:
    if not plugins.is_scalar(scalar):
        return "constant array"
    return f"({scalar})" if not isinstance(scalar, complex) and scalar < 0 else str(scalar)


def apply(definition: Definition, operands: Sequence[Any], parameters: dict[str, Any]) -> Variable:
    """Call a primitive on Variables, arrays and scalars, with every check; return its output as a Variable."""
    mode = switches().mode
    if mode & (WATCHED | GUARDED) == GUARDED:
        return guarded(definition, operands, parameters)  # type: ignore[no-any-return]  # a Variable
    if definition.variadic:
        operands = list(operands[0])
    name = definition.name
    parameters = {key: _option(key, value) for key, value in parameters.items()}
    if plugins.carriers:
        operands = [carried.operand(x) for x in operands]
    backend, lead = _common_backend(name, operands)
    if definition.elementwise:
        operands = _promoted(operands, lead, backend)
    spec = backend.spec(lead)
    arrays, nodes, visible, scalar = [], [], [], None
    for x in operands:
        node = x._node if isinstance(x, Variable) else None
        array = x._array if isinstance(x, Variable) else x
        if node is None and type(array) not in plugins.by_type and array is not None and plugins.is_scalar(array):
            scalar = array.item() if hasattr(array, "item") else array
            array = backend.prepare(scalar, spec)
        elif type(array) in plugins.by_type:
            visible.append(carried.visible(array))
        nodes.append(node)
        arrays.append(array)
    plan = plan_for(definition, type(lead), backend)
    function: Any = None
    hooks: list[Any] = []
    if mode & WATCHED:
        function = new(DebugApplication)
        function.pullback, function.inputs, function.rank = plan.pullback((True,) * len(nodes)), tuple(nodes), 0
        function._origin = function.stack = None
        if parameters or scalar is not None:
            function.d = parameters or scalar  # labels name them
        if config.debug:
            inspection.note(function)
        function.d = parameters if scalar is None else scalar  # for the label, which hooks may ask for
        hooks = inspection.hooks_of(function)
    for hook in hooks:
        hook.forward_preprocess(function, tuple(visible))
    out = _run(plan, definition, arrays, parameters)
    for hook in hooks:
        hook.forward_postprocess(function, tuple(visible))
    if mode & WATCHED and config.debug:
        inspection.check_finite((out,), function, "forward", arrays)
    y = output(out, backend.spec(out))
    needed = tuple(
        node is not None and node.requires_grad and (definition.variadic or x in definition.rules)
        for x, node in zip(definition.inputs * (len(nodes) if definition.variadic else 1), nodes, strict=True)
    )
    if mode & NO_GRAD or True not in needed or not y._node.spec.differentiable:
        return y
    function = new(Application) if function is None else function
    function.pullback = plan.pullback(needed)
    keep(function, function.pullback.kept, definition, arrays, nodes, out, parameters, scalar)
    function.inputs = tuple(nodes)
    function.rank = max(node.rank for node, need in zip(nodes, needed, strict=True) if need and node is not None)
    node = y._node
    node.creator_node, node.rank, node.requires_grad = function, function.rank + 1, True
    if mode & GUARDED or (mode & WATCHED and config.debug):
        function.guard()
    return y


def guarded(definition: Definition, operands: Sequence[Any], parameters: dict[str, Any], path: str = "public") -> Any:
    """Call a primitive as without the detection of mutations, by the call path that was taken, and guard what it keeps.

    So what programs are tested with is what runs without it.
    """
    y = called_with(unguarded_mode(), definition.paths[path], *operands, **parameters)
    function = y._node.creator_node if isinstance(y, Variable) else None
    if isinstance(function, Application):
        function.guard()
    return y


def _option(name: str, value: Any) -> Any:
    """Return a parameter as libraries take it: lists as tuples, a length as a shape, a library's scalar as Python's."""
    if name == "shape" and isinstance(value, WHOLE):
        return (int(value),)
    if isinstance(value, (list, tuple)) and all(isinstance(item, (list, tuple, *WHOLE)) for item in value):
        return tuple([_option("", item) for item in value])
    return plugins.plain(value)


def output(array: Array, spec: Spec) -> Variable:
    """Return a Variable over a result, not yet connected to anything."""
    y = new(Variable)
    y._array, y._grad = array, None
    node = y._node = new(VariableNode)
    node.creator_node, node.rank, node.requires_grad, node.extra, node.spec = None, 0, False, None, spec
    node.variable = weakref.ref(y)
    return y


def plan_for(definition: Definition, kind: type, backend: Backend | None = None) -> Plan:
    """Return the plan of a primitive for arrays of type `kind`, resolved once."""
    plan: Plan | None = definition.plans.get(kind)
    if plan is None:
        backend = backend or plugins.by_type.get(kind)
        if backend is None:
            raise UnknownArray(f"{definition.name}: {kind.__qualname__} is not an array of an installed backend")
        plan = definition.plans[kind] = Plan(definition, backend)
    return plan


# Only now: a class whose base has such a method when it is made takes three times as long to call, and this is the call
# path of every operation. Users' own classes are made later.
FunctionNode.__new__ = made  # type: ignore[method-assign,assignment]  # mypy wants methods set in the class


def keep(
    f: Any, kept: Iterable[str], definition: Definition, arrays: list[Any], nodes: list[Any], out: Array,
    parameters: dict[str, Any], scalar: Any = None,
) -> None:  # fmt: skip
    """Put on the application what its rules ask for."""
    rest = dict[str, Any]()
    for name in kept:
        if name == "y":
            f.c = out
        elif name in parameters:
            rest[name] = parameters[name]
        elif name == "specs":
            specs = [plugins.backend_of(a).spec(a) if n is None else n.spec for a, n in zip(arrays, nodes, strict=True)]
            rest[name] = tuple(specs)
        elif name in definition.inputs[:2] and not definition.variadic:
            setattr(f, "ab"[definition.inputs.index(name)], arrays[definition.inputs.index(name)])
        elif name in definition.inputs:
            rest[name] = arrays[definition.inputs.index(name)]
        else:
            index = definition.inputs.index(name.removesuffix("_spec"))
            if nodes[index] is None:
                array = arrays[index]
                rest[name] = plugins.backend_of(array).spec(array) if type(array) in plugins.by_type else None
    if rest:
        f.d = rest
    elif scalar is not None:
        f.d = scalar


def _kept_values(f: Any) -> list[Any]:
    values = [getattr(f, place, None) for place in "abc"]
    rest = getattr(f, "d", None)
    return values + (list(rest.values()) if isinstance(rest, dict) else [])


def _common_backend(name: str, operands: Sequence[Any]) -> tuple[Backend, Array]:
    """Return the backend of the arrays among `operands`, and the first of them; all must share library and device."""
    lead: Any = None
    found: Backend | None = None
    for x in operands:
        array = x._array if isinstance(x, Variable) else x
        if array is None and isinstance(x, Variable):
            raise UnknownArray(f"{name}: the Variable is uninitialised; give it data first")
        if array is None or (type(array) not in plugins.by_type and plugins.is_scalar(array)):
            continue
        backend = plugins.by_type.get(type(array))
        if backend is None:
            if isinstance(array, (list, tuple, str, dict)):
                raise UnknownArray(
                    f"{name}: expected a Variable, an array or a scalar, got {type(array).__name__}; "
                    f"{plugins.remedy(array)}"
                )
            try:
                backend = plugins.backend_of(array)
            except UnknownArray as error:
                raise UnknownArray(f"{name}: {error}") from None
        backend.check(array)
        if isinstance(x, Variable):
            x._current(name)
        if found is None:
            found, lead = backend, array
        elif backend is not found:
            raise BackendMismatch(
                f"{name}: arrays of two libraries, {found.name} on {found.device_of(lead)} and {backend.name} on "
                f"{backend.device_of(array)}; move one with to_device"
            )
        elif backend.handle_of(array) != backend.handle_of(lead):
            raise DeviceMismatch(
                f"{name}: arrays of two devices, {found.device_of(lead)} and {backend.device_of(array)}; "
                "move one with to_device"
            )
    if found is None:
        kinds = ", ".join(type(x).__name__ for x in operands) or "nothing"
        raise UnknownArray(
            f"{name}: expected at least one Variable or array, got {kinds}; make one with xpgrad.array_api.asarray"
        )
    return found, lead


def _promoted(operands: Sequence[Any], lead: Array, backend: Backend) -> Sequence[Any]:
    """Return operands in which an integer array that meets a float, or a real one that meets a complex, is cast.

    So are those of several floating-point dtypes, where the library's operators would leave that to whether one is 0-d.
    """
    if not backend.zero_dimensional_widen:
        operands = _widened(operands, backend)
    scalars = [x for x in operands if not isinstance(x, Variable) and type(x) not in plugins.by_type and x is not None]
    if not scalars:
        return operands
    values = [x.item() if hasattr(x, "item") else x for x in scalars]
    if any(isinstance(v, complex) for v in values):
        kind = "complex"
    elif any(isinstance(v, float) for v in values):
        kind = "float"
    else:
        return operands
    result = []
    for x in operands:
        if isinstance(x, Variable) or type(x) in plugins.by_type:
            array = x._array if isinstance(x, Variable) else x
            target = _weak_target(array, kind, backend)
            if target is not None:
                x = slot.functions.astype(x, target) if isinstance(x, Variable) else backend.xp.astype(x, target)
        result.append(x)
    return result


def _widened(operands: Sequence[Any], backend: Backend) -> Sequence[Any]:
    """Return operands whose floating-point arrays, or whose integer arrays, have the dtype to which they promote."""
    arrays = [x._array if isinstance(x, Variable) else x for x in operands]
    floating = [type(a) in plugins.by_type and backend.spec(a).differentiable for a in arrays]
    if not any(floating):
        floating = [type(a) in plugins.by_type and backend.is_kind(a.dtype, "integral") for a in arrays]
    dtypes = [a.dtype for a, counts in zip(arrays, floating, strict=True) if counts]
    if len(set(dtypes)) < 2:
        return operands
    target = backend.namespace.result_type(*dtypes)
    result = []
    for x, array, counts in zip(operands, arrays, floating, strict=True):
        if counts and array.dtype != target:
            x = slot.functions.astype(x, target) if isinstance(x, Variable) else backend.xp.astype(x, target)
        result.append(x)
    return result


def _weak_target(array: Array, kind: str, backend: Backend) -> Any:
    xp, dtype = backend.namespace, array.dtype
    if backend.is_kind(dtype, "complex floating") or backend.is_kind(dtype, "bool"):
        return None
    if backend.is_kind(dtype, "real floating"):
        if kind == "float":
            return None
        return xp.result_type(dtype, xp.complex64)
    return backend.default_dtype(kind)


def _run(plan: Plan, definition: Definition, arrays: list[Any], parameters: dict[str, Any]) -> Array:
    try:
        out = plan.kernel(arrays, **parameters) if definition.variadic else plan.kernel(*arrays, **parameters)
    except XpgradError:
        raise
    except (ValueError, TypeError, IndexError, AttributeError) as error:  # the last: a scalar has no dtype
        raise explained(error, definition, arrays, parameters, plan.backend) from error
    except RuntimeError as error:
        refusal = plan.backend.refusal(error)
        plain = type(error) in (RuntimeError, NotImplementedError) and str(error)  # what others say by ValueError
        if refusal is None and not plain and not is_numerical(error):
            raise
        raise explained(error, definition, arrays, parameters, plan.backend, refusal) from error
    if type(out) is not plan.array_type:
        out = plan.restore(out)
    return out


def released(f: FunctionNode) -> GraphError:
    """Return the error for a sweep through a function that dropped what it kept."""
    return GraphError(
        "the graph was swept with retain_graph=False, so its functions dropped what their gradients need; "
        "compute it again, or sweep with retain_graph=True"
    )
