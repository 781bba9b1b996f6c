"""Pullbacks: the vjps of a primitive for one backend and one set of needed inputs, raw or recorded."""

import functools
import inspect
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.checks import check_still
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.config import config
from xpgrad.graph.definition import TOGETHER, Definition, Rule, identity
from xpgrad.graph.node import VariableNode
from xpgrad.graph.retention import Retention
from xpgrad.graph.rules import recorded_namespace
from xpgrad.graph.variable import constant_variable, over
from xpgrad.types import Array, Kernel, Namespace

if TYPE_CHECKING:
    from xpgrad.graph.application import Application

MAX_OUTCOMES = 1024
Getter = Callable[["Application"], Any]
Pull = Callable[["Application", Any], Sequence[Any]]


class Pullback:
    """The vjps of a primitive for one backend and one set of needed inputs.

    Attributes
    ----------
    pull : callable
        ``pull(f, gy)`` returns a gradient or None for each input, as raw arrays.
    record : callable
        ``record(f, gy, node)`` computes the same with Variables; `node` is the node of the output.
    retention : Retention
        Values that the graph retains for them.
    array_type : type
        Type of the backend's arrays.
    only_first : bool
        Whether the first of one or two inputs is needed, and no other.
    several : bool
        Whether applications hold their input nodes in a tuple, see `Application`.
    blocks : Blocks, False or None
        The vjps that the backend computes in blocks for large arrays, False if it computes none; None before the first
        request.
    """

    __slots__ = (
        "accumulate",
        "array_type", "backend", "blocks", "definition", "elementwise", "needed", "only_first", "plan", "pull",
        "record", "restore", "retention", "several",
    )  # fmt: skip

    def __init__(self, plan: "Plan", needed: tuple[bool, ...]) -> None:
        definition, backend = plan.definition, plan.backend
        self.plan, self.definition, self.backend, self.needed = plan, definition, backend, needed
        self.retention = Retention(definition, needed)
        self.elementwise, self.array_type = definition.elementwise, backend.array_types[0]
        self.several = definition.several
        self.only_first = not self.several and needed in ((True,), (True, False))
        self.restore, self.accumulate = backend.restore, backend.xp.accumulate
        self.pull: Pull = backend.follow(_raw(definition, backend, needed))
        self.record = _recorded(definition, backend, needed)
        self.blocks: Any = None

    def __repr__(self) -> str:
        inputs = [x for x, need in zip(self.definition.inputs, self.needed, strict=False) if need]
        return f"<Pullback of {self.definition.name} for {', '.join(inputs)} on {self.backend.name}>"

    def narrowed(self, needed: tuple[bool, ...]) -> "Pullback":
        """Return the pullback for fewer inputs."""
        return self if needed == self.needed else self.plan.pullback(needed)


def _raw(definition: Definition, backend: Backend, needed: tuple[bool, ...]) -> Pull:
    if definition.variadic:
        return _raw_vjp(definition, backend, definition.inputs[0])
    separate = _separate(definition, backend, needed)
    all_needed = all(need for x, need in zip(definition.inputs, needed, strict=True) if x in definition.rules)
    kernel = backend.xp.replacement(definition.vjps[TOGETHER]) if all_needed and TOGETHER in definition.vjps else None
    if kernel is None:
        return separate
    getters = [getter(definition, name) for name in definition.asks[TOGETHER]]

    def pull_together(f: Any, gy: Array) -> Sequence[Any]:
        gxs: Any = kernel(gy, *[get(f) for get in getters])
        return separate(f, gy) if gxs is NotImplemented else gxs

    return pull_together


def _separate(definition: Definition, backend: Backend, needed: tuple[bool, ...]) -> Pull:
    """Return a pull that calls the vjp of each input."""
    vjps = [
        _raw_vjp(definition, backend, x) if need and x in definition.rules else None
        for x, need in zip(definition.inputs, needed, strict=True)
    ]
    direct = _direct(definition, backend, [x for x, vjp in zip(definition.inputs, vjps, strict=True) if vjp])
    if len(vjps) == 1 and vjps[0] is not None:
        only = vjps[0]
        return direct or (lambda f, gy: (only(f, gy),))
    if len(vjps) == 2:
        first, second = vjps
        if second is None and first is not None:
            return direct or (lambda f, gy: (first(f, gy),))
        if first is None and second is not None and _places(definition, definition.inputs[1]) == ["first", "own"]:
            rule, xp = rule_of(definition, backend, definition.inputs[1]), backend.xp

            def pull(f: Any, gy: Array) -> Sequence[Any]:
                return None, rule(xp, gy, f.first, f.other.spec)

            return pull
        if first is None and second is not None:
            return lambda f, gy: (None, second(f, gy))
        if first is not None and second is not None:
            return direct or (lambda f, gy: (first(f, gy), second(f, gy)))

    return lambda f, gy: [None if vjp is None else vjp(f, gy) for vjp in vjps]


def _direct(definition: Definition, backend: Backend, needed: list[str]) -> Pull | None:
    """Return a pull without a frame for each vjp in between, for the most common rules of one and of two inputs."""
    xp, inputs = backend.xp, definition.inputs
    if needed not in (list(inputs[:1]), list(inputs)) or len(needed) > 2:
        return None
    places = [_places(definition, x) for x in needed]
    kernel = backend.xp.replacement(definition.vjps[needed[0]]) if len(needed) == 1 else None
    if kernel is not None and (len(places[0]) == 1 or places[0] == ["first", "result"]):
        return _direct_kernel(kernel, _adapted(definition, backend, needed[0]), xp, places[0])
    rules = [rule_of(definition, backend, x) for x in needed]
    rule = rules[0]
    if len(rules) == 1:
        if rule is identity:
            return lambda f, gy: (gy,)
        if not places[0]:
            return lambda f, gy: (rule(xp, gy),)
        if places[0] == ["first"]:
            return lambda f, gy: (rule(xp, gy, f.first),)
        if places[0] == ["second"]:
            return lambda f, gy: (rule(xp, gy, f.second),)
        if places[0] == ["result"]:
            return lambda f, gy: (rule(xp, gy, f.result),)
        parameters = definition.asks[inputs[0]][1:]
        if places[0][0] == "own" and len(inputs) == 1 and set(parameters) <= definition.parameters.keys():
            return _direct_of_spec(rule, xp, parameters)
        return None
    other = rules[1]
    if rule is identity is other:
        return lambda f, gy: (gy, gy)
    if rule is identity and not places[1]:
        return lambda f, gy: (gy, other(xp, gy))
    if places == [["second"], ["first"]]:
        return lambda f, gy: (rule(xp, gy, f.second), other(xp, gy, f.first))
    if places == [["second", "own"], ["first", "own"]] and not definition.several:

        def pull(f: "Application", gy: Array) -> Sequence[Any]:
            own: Any = f.other  # never None, as both are needed
            return rule(xp, gy, f.second, f.input.spec), other(xp, gy, f.first, own.spec)

        return pull
    return None


def _direct_of_spec(rule: Rule, xp: Namespace, parameters: Sequence[str]) -> Pull | None:
    """Return the same for the rule of the only input that takes its spec and up to two parameters."""
    if not parameters:
        return lambda f, gy: (rule(xp, gy, f.input.spec),)
    if len(parameters) == 1:
        (one,) = parameters
        return lambda f, gy: (rule(xp, gy, f.input.spec, f.rest[one]),)
    if len(parameters) == 2:
        one, two = parameters
        return lambda f, gy: (rule(xp, gy, f.input.spec, f.rest[one], f.rest[two]),)
    return None


def _direct_kernel(kernel: Kernel, rule: Rule, xp: Namespace, places: list[str]) -> Pull | None:
    """Return the same for a kernel that takes one value or two; the rule is for cotangents that it declines."""

    def pull_first(f: "Application", gy: Array) -> Sequence[Any]:
        gx = kernel(gy, f.first)
        return (rule(xp, gy, f.first) if gx is NotImplemented else gx,)

    def pull_second(f: "Application", gy: Array) -> Sequence[Any]:
        gx = kernel(gy, f.second)
        return (rule(xp, gy, f.second) if gx is NotImplemented else gx,)

    def pull_result(f: "Application", gy: Array) -> Sequence[Any]:
        gx = kernel(gy, f.result)
        return (rule(xp, gy, f.result) if gx is NotImplemented else gx,)

    def pull_both(f: "Application", gy: Array) -> Sequence[Any]:
        gx = kernel(gy, f.first, f.result)
        return (rule(xp, gy, f.first, f.result) if gx is NotImplemented else gx,)

    pulls = {"first": pull_first, "second": pull_second, "result": pull_result, "first result": pull_both}
    return pulls.get(" ".join(places))


def _raw_vjp(definition: Definition, backend: Backend, x: str) -> Callable[..., Any]:
    """Return the vjp for input `x` with its values fetched from the application; one frame for up to one value."""
    xp, names = backend.xp, definition.asks[x]
    rule, index = rule_of(definition, backend, x), definition.inputs.index(x)
    places = _places(definition, x)
    if not names:
        return lambda f, gy: rule(xp, gy)
    if places == ["first"]:
        return lambda f, gy: rule(xp, gy, f.first)
    if places == ["second"]:
        return lambda f, gy: rule(xp, gy, f.second)
    if places == ["result"]:
        return lambda f, gy: rule(xp, gy, f.result)
    if places[1:] == ["own"]:
        value = getter(definition, names[0])
        if definition.several:
            return lambda f, gy: rule(xp, gy, value(f), f.input[index].spec)
        if index and places[0] == "first":
            return lambda f, gy: rule(xp, gy, f.first, f.other.spec)
        if index:
            return lambda f, gy: rule(xp, gy, value(f), f.other.spec)
        return lambda f, gy: rule(xp, gy, value(f), f.input.spec)
    getters = [getter(definition, name) for name in names]
    if len(getters) == 1:
        (get,) = getters
        return lambda f, gy: rule(xp, gy, get(f))
    if len(getters) == 2:
        first, second = getters
        return lambda f, gy: rule(xp, gy, first(f), second(f))
    if len(getters) == 3:
        first, second, third = getters
        return lambda f, gy: rule(xp, gy, first(f), second(f), third(f))
    return lambda f, gy: rule(xp, gy, *[get(f) for get in getters])


def rule_of(definition: Definition, backend: Backend, x: str) -> Rule:
    """Return the vjp for input `x`: the rule, or the backend's kernel for it.

    A kernel that declines leaves the cotangent to the rule.
    """
    rule, kernel = _adapted(definition, backend, x), backend.xp.replacement(definition.vjps[x])
    if kernel is None:
        return rule
    count = len(definition.asks[x])
    if count == 2:

        def replaced_of_two(xp: Namespace, gy: Array, one: Any, two: Any) -> Any:
            gx = kernel(gy, one, two)
            return rule(xp, gy, one, two) if gx is NotImplemented else gx

        return replaced_of_two
    if count != 1:

        def replaced(xp: Namespace, gy: Array, *values: Any) -> Any:
            gx = kernel(gy, *values)
            return rule(xp, gy, *values) if gx is NotImplemented else gx

        return replaced

    def replaced_of_one(xp: Namespace, gy: Array, value: Any) -> Any:
        gx = kernel(gy, value)
        return rule(xp, gy, value) if gx is NotImplemented else gx

    return replaced_of_one


def _adapted(definition: Definition, backend: Backend, x: str) -> Rule:
    """Return the rule for input `x` as raw sweeps of this backend call it."""
    rule = definition.rules[x]
    return rule if rule is identity else backend.adapted(rule)


def _places(definition: Definition, x: str) -> list[str]:
    """Return the locations of the values that the rule for input `x` requires: "own" for the spec of `x`, or a slot."""
    return ["own" if name == f"{x}_spec" else _place(definition, name) for name in definition.asks[x]]


def _place(definition: Definition, name: str) -> str:
    """Return the slot of an application that holds `name`."""
    if name == "y":
        return "result"
    if name in definition.inputs[:2] and not definition.variadic:
        return ("first", "second")[definition.inputs.index(name)]
    return "rest"


def getter(definition: Definition, name: str) -> Getter:
    """Return a getter of the value of an application that rules request as `name`."""
    place = _place(definition, name)
    if place != "rest":
        return attrgetter(place)
    specs = [f"{x}_spec" for x in definition.inputs]
    if name in specs:
        node_of = _node(definition, specs.index(name))

        def spec(f: "Application") -> Any:
            node = node_of(f)
            return node.spec if node is not None else f.rest[name]

        return spec
    return lambda f: f.rest[name]


def _node(definition: Definition, index: int) -> Getter:
    """Return a getter of the node of an input, None for a constant."""
    if definition.several:
        return lambda f: f.input[index] if index < len(f.input) else None
    return attrgetter("other" if index else "input")


def _operand(node: VariableNode | None, array: Array) -> Any:
    """Return `array` as a Variable also without a node: then calls are fast, and operators take it on either side."""
    return constant_variable(array) if node is None and type(array) in plugins.by_type else over(node, array)


def _recorded(definition: Definition, backend: Backend, needed: tuple[bool, ...]) -> Callable[..., Sequence[Any]]:
    vjps = [
        _recorded_vjp(definition, backend, x) if need and x in definition.rules else None
        for x, need in zip(definition.inputs, (True,) if definition.variadic else needed, strict=True)
    ]
    if definition.variadic and vjps[0] is not None:
        return vjps[0]  # a rule's list
    return lambda f, gy, node: [None if vjp is None else vjp(f, gy, node) for vjp in vjps]


def _recorded_vjp(definition: Definition, backend: Backend, x: str) -> Callable[..., Any]:
    rule, xp = definition.rules[x], recorded_namespace(backend)
    values = [_value(definition, name) for name in definition.asks[x]]
    if rule is identity:
        return lambda f, gy, node: gy
    return lambda f, gy, node: rule(xp, gy, *[value(f, node) for value in values])


def _value(definition: Definition, name: str) -> Callable[..., Any]:
    """Return a getter of a value that a rule requires; arrays become Variables with their nodes."""
    get = getter(definition, name)
    if name == "y":
        return lambda f, node: over(node, get(f))
    if name in definition.inputs:
        node_of = _node(definition, definition.inputs.index(name))
        return lambda f, node: _operand(node_of(f), get(f))
    return lambda f, node: get(f)


def _optional(kernel: Kernel, name: str) -> bool:
    """Return whether a kernel can be called without a parameter."""
    try:
        parameter = inspect.signature(kernel).parameters.get(name)
    except (TypeError, ValueError):  # the kernel is not written in Python
        return False
    return parameter is not None and parameter.default is not inspect.Parameter.empty


class Plan:
    """A primitive, resolved for arrays of one type: the kernel, and the pullbacks by needed inputs.

    Attributes
    ----------
    kernel : callable
    mixes_dtypes : bool
        Whether the kernel takes operands of several dtypes; otherwise they are compared, and cast first.
    takes_any_array : bool
        Whether arrays need no checks of their devices, of their dtypes, or of their membership in a graph.
    transformed : bool
        Whether the arrays belong to a transformation and have a `level`.
    outcomes : dict
        Spec of the output by the spec of the input, or by the specs of both inputs.
    by_bits : tuple of Pullback
        For one and two inputs, by the bits of the inputs that require a gradient; the first input has the lowest bit.
    """

    __slots__ = (
        "array_type", "backend", "by_bits", "definition", "kernel", "mixes_dtypes", "outcomes", "pullbacks",
        "restore", "takes_any_array", "transformed",
    )  # fmt: skip

    def __init__(self, definition: Definition, backend: Backend) -> None:
        self.definition, self.backend, self.array_type = definition, backend, backend.array_types[0]
        self.kernel, self.restore = backend.xp.kernel_of(definition.kernel), backend.restore
        if definition.casts and not _optional(self.kernel, "dtype"):
            self.kernel = functools.partial(self.kernel, dtype=None)
        self.mixes_dtypes = backend.zero_dimensional_widen or not definition.elementwise
        self.transformed = backend.base is not None  # its arrays are checked when they are lifted to the level
        one_device, checked = len(backend.devices()) == 1, self.transformed or type(backend).check is Backend.check
        self.takes_any_array = one_device and self.mixes_dtypes and checked
        if config.cast_operands and "operator" in definition.paths:
            self.takes_any_array = False
        self.outcomes: dict[Any, Spec] = {}
        # Pullbacks know their plan: a cycle, but plans are few and stay.
        self.pullbacks: dict[tuple[bool, ...] | int, Pullback] = {}  # by the needed inputs, or by bits
        count = 0 if definition.variadic or len(definition.inputs) > 2 else len(definition.inputs)
        self.by_bits = (None, *[self.for_bits(bits) for bits in range(1, 1 << count)])

    def __repr__(self) -> str:
        return f"<Plan {self.definition.name} on {self.backend.name}>"

    def pullback(self, needed: tuple[bool, ...]) -> Pullback:
        """Return the pullback for these needed inputs."""
        found = self.pullbacks.get(needed)
        if found is None:
            found = self.pullbacks[needed] = Pullback(self, needed)
        return found

    def for_bits(self, bits: int) -> Pullback:
        """Return the pullback for the needed inputs that have a bit set."""
        found = self.pullbacks.get(bits)
        if found is None:
            needed = tuple([bool(bits & 1 << i) for i in range(len(self.definition.inputs))])
            found = self.pullbacks[bits] = self.pullback(needed)
        return found

    def takes(self, one: Spec, other: Spec) -> bool:
        """Return whether the kernel accepts two arrays of these specs without a cast or an error."""
        return one.device == other.device and (self.mixes_dtypes or one.dtype == other.dtype)

    def outcome(self, inputs: Any, out: Array, *arrays: Array) -> Spec:
        """Return the spec of `out`, and remember it for inputs of these specs: a look-up takes a fifth of the time.

        A library's tracers are of another type than its arrays: their spec is valid for one trace, and not remembered.

        Raises
        ------
        ChangedArray
            One of `arrays`, the inputs, no longer has its spec: the remembered result would be wrong for other calls.
        """
        spec = self.backend.spec(out)
        if type(out) is self.array_type:
            for array, known in zip(arrays, inputs if type(inputs) is tuple else (inputs,), strict=True):
                check_still(array, known, self.definition.label)
            if len(self.outcomes) >= MAX_OUTCOMES:
                self.outcomes.clear()
            self.outcomes[inputs] = spec
        return spec
