"""Pullbacks: the vjps of a primitive for one backend and one set of needed inputs, raw or recorded."""

import functools
import inspect
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.checks import check_still
from xpgrad.backend.levels import live
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.config import config
from xpgrad.graph.definition import TOGETHER, Definition, Rule, identity
from xpgrad.graph.lifting import entered
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
        return _separate(definition, backend, (True,))
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
    """Return a pull that calls the vjp of each input, in one expression: a frame for each takes as long as many rules.

    The expression for a product is ``(rule0(xp, gy, f.second), rule1(xp, gy, f.first))``. A kernel is called in place
    of a rule, which is for cotangents that the kernel declines.
    """
    names: dict[str, Any] = {"xp": backend.xp}
    parts = []
    for i, (x, need) in enumerate(zip(definition.inputs, needed, strict=True)):
        if not need or x not in definition.rules:
            parts.append("None")
            continue
        rule, kernel = _adapted(definition, backend, x), backend.xp.replacement(definition.vjps[x])
        if rule is identity and kernel is None:
            parts.append("gy")
            continue
        values = "".join(f", {_value_text(definition, x, name, names)}" for name in definition.asks[x])
        names[f"rule{i}"] = rule
        part = f"rule{i}(xp, gy{values})"
        if kernel is not None:
            names[f"kernel{i}"] = kernel
            part = f"({part} if (gx := kernel{i}(gy{values})) is NotImplemented else gx)"
        parts.append(part)
    while parts and parts[-1] == "None":
        parts.pop()
    text = parts[0] if definition.variadic else f"({''.join(f'{part}, ' for part in parts)})"
    return _maker(", ".join(names), text)(*names.values())


def _value_text(definition: Definition, x: str, name: str, names: dict[str, Any]) -> str:
    """Return the expression for the value of an application `f` that the rule for input `x` requires as `name`."""
    place = _place(definition, name)
    if place != "rest":
        return f"f.{place}"
    if name == f"{x}_spec" and not definition.variadic:
        index = definition.inputs.index(x)  # it has a node, as it needs a gradient
        return f"f.input[{index}].spec" if definition.several else f"f.{'other' if index else 'input'}.spec"
    if name not in {f"{x}_spec" for x in definition.inputs}:
        return f"f.rest[{name!r}]"
    names[f"get_{name}"] = getter(definition, name)
    return f"get_{name}(f)"


@functools.cache
def _maker(parameters: str, text: str) -> Callable[..., Pull]:
    """Return the function from rules and kernels to a pull that returns the value of an expression."""
    source = compile(f"lambda {parameters}: lambda f, gy: {text}", __file__, "eval")  # its frames are this library's
    made: Callable[..., Pull] = eval(source)  # noqa: S307 - a source made here
    return made


def rule_of(definition: Definition, backend: Backend, x: str) -> Rule:
    """Return the vjp for input `x`: the rule, or the backend's kernel for it.

    A kernel that declines leaves the cotangent to the rule.
    """
    rule, kernel = _adapted(definition, backend, x), backend.xp.replacement(definition.vjps[x])
    if kernel is None:
        return rule

    def replaced(xp: Namespace, gy: Array, *values: Any) -> Any:
        gx = kernel(gy, *values)
        return rule(xp, gy, *values) if gx is NotImplemented else gx

    return replaced


def _adapted(definition: Definition, backend: Backend, x: str) -> Rule:
    """Return the rule for input `x` as raw sweeps of this backend call it."""
    rule = definition.rules[x]
    return rule if rule is identity else backend.adapted(rule)


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
    return lambda f, node: entered(get(f)) if live else get(f)


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
