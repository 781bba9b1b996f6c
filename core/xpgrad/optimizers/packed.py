"""Small parameters, updated together as one array: one library call costs as much for all as for one parameter."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.executors import RowKernel
from xpgrad.backend.levels import live
from xpgrad.backend.plugins import plugins
from xpgrad.backend.programs import programs_of
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.variable import Variable
from xpgrad.optimizers.formula import Formula, FormulaStep, Numbers, apart, changed, prepared, state_spec, writes
from xpgrad.optimizers.update_rule import unscale
from xpgrad.types import Array

MAX_JOINED = 16
"""Number of groups that compiled code updates together, and that are kept."""
RETRY = 16
"""Number of steps after which a kernel that was not compiled is asked for again."""
MAX_PACKED = 2**14
"""Number of elements of the largest parameter that is packed: for larger ones the copies take longer than the calls."""


class Pack:
    """Parameters of one dtype and device, and their states as parts of common arrays.

    Attributes
    ----------
    memory : dict of array
        The common arrays, with one axis, for each state by name, and for values and gradients.
    parts : list of dict
        For each parameter views of `memory`, in its shape.
    apart : bool
        Whether the parameters share no memory; otherwise nothing is packed.
    """

    def __init__(self, params: Sequence[Parameter], formula: type[Formula], names: Sequence[str]) -> None:
        self.params, self.names = params, names
        self.spec = spec = params[0]._node.spec
        backend = spec.backend
        self.assign = backend.follow(operator.setitem)
        self.arrays = [param._array for param in params]
        self.parts: list[dict[str, Array]] = []
        self.kept: Sequence[Sequence[Array]] = [()] * len(params)
        self.apart = apart(params)
        if not self.apart:
            return
        size = sum(param.size for param in params)
        flat = backend.spec_for((size,), spec.dtype, spec.device)
        specs = {"": flat, **{f"state {name}": state_spec(formula, name, flat) for name in names}, "grad": flat}
        self.memory = {key: programs_of(backend).scratch(spec) for key, spec in specs.items()}
        reshape, start = backend.follow(backend.namespace.reshape), 0
        for param in params:
            stop = start + param.size
            self.parts.append({key: reshape(x[start:stop], param.shape) for key, x in self.memory.items()})
            start = stop
        self.kept = [[part[f"state {name}"] for name in names] for part in self.parts]
        for param, kept in zip(params, self.kept, strict=True):
            for name, array in zip(names, kept, strict=True):
                self.assign(array, ..., param.update_rule._state[name])
                param.update_rule._state[name] = array

    def holds(self) -> bool:
        """Return whether no parameter and no state was replaced: the states are parts of the common arrays."""
        for param, array, kept in zip(self.params, self.arrays, self.kept, strict=True):
            state = param.update_rule._state
            if param._array is not array or state is None:
                return False
            if not all(map(operator.is_, map(state.get, self.names), kept)):
                return False
        return True

    def update(self, formula: type[Formula], c: Numbers) -> None:
        """Update all parameters by a formula, with these coefficients."""
        for param, part in zip(self.params, self.parts, strict=True):
            self.assign(part[""], ..., param._array)
            self.assign(part["grad"], ..., gradient(param))
        changed(FormulaStep(formula, self.names, c, self.spec), list(self.memory.values()))
        for param, part in zip(self.params, self.parts, strict=True):
            self.assign(param._array, ..., part[""])


class Joined:
    """Parameters of one dtype and device that compiled code updates in one call, with their states.

    Attributes
    ----------
    kernel : RowKernel
    run : callable or None
        See `Programs.joint`.
    """

    def __init__(self, params: Sequence[Parameter], kernel: RowKernel, names: Sequence[str], key: Any) -> None:
        self.kernel, self.key = kernel, key  # common to the parameters
        rules = [param.update_rule for param in params]
        self.formula, self.parent = rules[0].formula, rules[0].hyperparam._parent
        self.kept = [(x, x._array, r, r._state, [*r._state.values()]) for x, r in zip(params, rules, strict=True)]
        arrays = [[array, *(state[name] for name in names)] for _, array, _, state, _ in self.kept]
        self.run = programs_of(params[0]._node.spec.backend).joint(kernel, arrays)

    def holds(self, params: Sequence[Parameter]) -> bool:
        """Return whether these are the parameters, with the same arrays, states and numbers of updates."""
        if len(params) != len(self.kept):
            return False
        t, formula, parent = self.kept[0][2].t, self.formula, self.parent
        for param, (_, array, rule, state, arrays) in zip(params, self.kept, strict=True):
            if param._array is not array or param.update_rule is not rule or rule.t != t:
                return False
            if rule.formula is not formula or rule.hyperparam._parent is not parent or not rule.is_plain():
                return False
            extra = param._node.extra
            if rule._state is not state or (extra is not None and extra.loss_scale is not None):
                return False
            if len(state) != len(arrays) or not all(map(operator.is_, state.values(), arrays)):
                return False
        return True


class Packs:
    """The parameters that an optimizer updates together, grouped again where parameters or states were replaced."""

    def __init__(self) -> None:
        self.known: dict[Any, Pack] = {}
        self.joined: dict[Any, Joined] = {}
        self.last: Joined | None = None  # the group that compiled code updated last: usually all parameters

    def __reduce__(self) -> tuple[Any, ...]:
        return Packs, ()  # copies of states are no parts of common arrays

    def prepared(self, params: Sequence[Parameter]) -> Callable[[], list[Parameter]]:
        """Return a function that updates all parameters with common coefficients, and returns the other parameters.

        Errors are raised before any parameter is updated.
        """
        if live:
            return lambda: list(params)
        groups: dict[Any, list[Parameter]] = {}
        if self.last is not None and self.last.holds(params):
            groups[0, *self.last.key], params = [*params], []
        else:
            self.last = None
        last, members, others = None, list[Parameter](), []
        writable: dict[type, bool] = {}
        for param in params:
            rule, node, kind = param.update_rule, param._node, type(param._array)
            if kind not in writable:
                writable[kind] = kind not in plugins.carriers and writes(plugins.backend_of(param._array))
            if rule is not None and rule.is_plain() and writable[kind]:
                spec, extra = node.spec, node.extra
                if extra is not None and extra.loss_scale is not None:
                    unscale(param)
                # each dtype of a backend has separate constants; comparing dtypes takes longer
                key = rule.t, id(rule.hyperparam._parent), id(spec.constants), spec.device, rule.formula
                if key != last:
                    last, members = key, groups.setdefault(key, [])
                members.append(param)
            else:
                others.append(param)
                if rule is not None and rule.enabled and param._grad is not None:
                    rule.hold(param)
        joined, self.last = self.last, None
        updates = [self._prepared(group, key[1:], joined) for key, group in groups.items()]

        def update() -> list[Parameter]:
            for each in updates:
                each()
            return others

        return update

    def _prepared(self, group: list[Parameter], key: Any, last: Joined | None) -> Callable[[], None]:
        """Return a function that updates the parameters of a group; if `last` is given, it is that group, and holds."""
        rule, spec = group[0].update_rule, group[0]._node.spec
        t = rule.t + 1
        c = prepared(rule.formula.coefficients(rule.hyperparam.at(t), t), spec)
        step = self._joined(group, key, c, last) or self._packed(group, key, c)

        def update() -> None:
            step()
            for param in group:
                param.update_rule.t = t

        return update

    def _joined(self, group: list[Parameter], key: Any, c: Numbers, last: Joined | None) -> Callable[[], None] | None:
        """Return a function that updates the parameters of a group by compiled code, or None."""
        rule, spec = group[0].update_rule, group[0]._node.spec
        if rule._state is None:  # the first update makes the states
            return None
        joined = last or self.joined.get((key, *map(id, group)))
        if joined is not None and joined.run is None and rule.t % RETRY:
            return None
        kernel, numbers = FormulaStep(rule.formula, [*rule._state], c, spec).kernel()
        if kernel is None:
            return None
        if joined is None or joined.run is None or joined.kernel is not kernel or not (last or joined.holds(group)):
            for param in group:
                param.update_rule.prepare(param)
            if any(param.update_rule._state.keys() != rule._state.keys() for param in group):
                return None
            if len(self.joined) >= MAX_JOINED:  # other parameters may get gradients in each step
                self.joined.clear()
            joined = self.joined[key, *map(id, group)] = Joined(group, kernel, [*rule._state], key)
        if joined.run is None:
            return None
        self.last, run = joined, joined.run

        def update() -> None:
            if not run([gradient(param) for param in group], numbers):
                for param in group:
                    param.update_rule.step(param, c)

        return update

    def _packed(self, group: list[Parameter], key: Any, c: Numbers) -> Callable[[], None]:
        """Return a function that updates the small parameters of a group together, and the others."""
        small = [param for param in group if param._node.spec.size <= MAX_PACKED]
        large = [param for param in group if param._node.spec.size > MAX_PACKED]
        pack = self._pack(small, key) if len(small) > 1 else None
        if pack is not None and not pack.apart:
            pack, large = None, group
        elif pack is None:
            large += small
        for param in large:
            param.update_rule.prepare(param)

        def update() -> None:
            if pack is not None:
                pack.update(group[0].update_rule.formula, c)
            for param in large:
                param.update_rule.step(param, c)

        return update

    def _pack(self, group: list[Parameter], key: Any) -> Pack:
        key = key, tuple(map(id, group))
        pack = self.known.get(key)
        if pack is None or not pack.holds():
            for param in group:
                param.update_rule.prepare(param)
            rule = group[0].update_rule
            pack = self.known[key] = Pack(group, rule.formula, list(rule._state))
        return pack


def gradient(param: Parameter) -> Array:
    """Return the array of a gradient, outside of transformations."""
    found = param._grad
    return found._array if isinstance(found, Variable) else found
