"""`UpdateRule`: how one parameter is updated, with its state."""

import contextlib
import copy
import operator
from collections.abc import Callable
from typing import Any

from xpgrad import array_api
from xpgrad.backend.levels import check_outside
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.errors import ShapeError
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.variable import Variable
from xpgrad.optimizers.formula import (
    Formula,
    FormulaStep,
    Numbers,
    change_gradient,
    changed,
    prepared,
    real_spec,
    state_spec,
    writes,
)
from xpgrad.optimizers.hyperparameter import Hyperparameter
from xpgrad.types import Array

MASTER = "fp32_param"
"""The name in the state of the float32 copy of a half-precision parameter."""
INSTEAD = "use step = optimizer.compile(lossfun), or optimizer.rule, which is a function of trees"


class UpdateRule:
    """The update rule of a single parameter: hyperparameters, a state, and hooks.

    Parameters
    ----------
    parent_hyperparam : Hyperparameter, optional
        Hyperparameters of the optimizer, which supply values that `hyperparam` lacks.
    formula : type, optional
        The formulas, an optimizer's class. A derived class may override `init_state` and `update_core` instead.

    Attributes
    ----------
    hyperparam : Hyperparameter
    t : int
        Number of updates made.
    enabled : bool
        Whether `update` does anything.
    state : dict of arrays, or None before the first update
    """

    def __init__(self, parent_hyperparam: Hyperparameter | None = None, formula: type[Formula] | None = None) -> None:
        self.hyperparam = Hyperparameter(parent_hyperparam)
        self.formula = formula
        self.t, self.enabled = 0, True
        self._state: dict[str, Any] | None = None
        self._hooks: dict[str, dict[str, Callable[..., Any]]] = {"pre": {}, "post": {}}
        self._use_fp32_update = False
        self._held: Parameter | None = None

    @property
    def state(self) -> dict[str, Any] | None:
        """Arrays by name, on the device of the parameter; None before the first update."""
        return self._state

    def use_fp32_update(self, flag: bool = True) -> None:
        """Update parameters of half precision through a float32 copy, which is a part of the state."""
        self._use_fp32_update = flag

    def add_hook(self, hook: Callable[..., Any], name: str | None = None, timing: str = "auto") -> None:
        """Call ``hook(rule, param)`` before or after each update of the parameter.

        Parameters
        ----------
        hook : callable
        name : str, optional
            By default the name of the hook.
        timing : {"auto", "pre", "post"}
            "auto" takes the attribute `timing` of the hook, or "pre".
        """
        register(self._hooks, hook, name, timing, type(self).__name__)

    def remove_hook(self, name: str) -> None:
        """Remove the hook that was added with this name."""
        unregister(self._hooks, name, type(self).__name__)

    def update(self, param: Parameter) -> None:
        """Update a parameter that is initialised and has a gradient; disabled rules have no effect."""
        if not self.enabled or param._array is None or param.grad is None:
            return
        check_outside(f"{type(self).__name__}.update", INSTEAD)
        try:
            held = self.hold(param)
            self.t += 1
            self.call_hooks("pre", held)
            self.update_core(held)
            self.call_hooks("post", held)
        finally:
            self._held = None
        if held is not param:
            self.keep(param, held)

    def is_plain(self) -> bool:
        """Return whether an update uses only the formulas with the optimizer's hyperparameters."""
        return (
            self.enabled and self.formula is not None and not self._use_fp32_update and self._held is None
            and len(self.hyperparam.__dict__) == 1 and type(self) is UpdateRule
            and not self._hooks["pre"] and not self._hooks["post"]
        )  # fmt: skip

    def call_hooks(self, timing: str, param: Parameter) -> None:
        """Call the hooks of a timing, "pre" or "post"."""
        for hook in list(self._hooks[timing].values()):
            hook(self, param)

    def hold(self, param: Parameter) -> Parameter:
        """Return the Parameter to update: `param` or its float32 copy, with the gradient divided by the loss scale."""
        if self._held is None:
            self.prepare(param)
            state, held = self._state, param
            if state is not None and MASTER in state:
                spec, backend = param._node.spec, plugins.backend_of(param.array)
                held = Parameter(state[MASTER], name=param.name)
                held.grad = backend.follow(backend.xp.astype)(param.grad, spec.wide)
                held._node.own_extra().loss_scale = param._loss_scale
                held.update_rule = self
            unscale(held)
            self._held = held
        return self._held

    def keep(self, param: Parameter, held: Parameter) -> None:
        """Give a parameter the values of its float32 copy, after an update of that."""
        assert self._state is not None
        self._state[MASTER] = held.array
        backend = plugins.backend_of(held.array)
        store(param, backend.follow(backend.xp.astype)(held.array, param.dtype))

    def prepare(self, param: Parameter) -> None:
        """Make the state, with the float32 copy, or move it to the device of the parameter.

        Raises
        ------
        ShapeError
            The state belongs to a parameter of another shape.
        """
        spec, fresh = param._node.spec, self._state is None
        state: dict[str, Any] = {} if self._state is None else self._state
        if self._use_fp32_update and spec.half and MASTER not in state:
            state[MASTER] = spec.backend.follow(spec.backend.xp.astype)(param.array, spec.wide)
        if fresh:
            self._state = state
            try:
                self.init_state(Parameter(state[MASTER]) if MASTER in state else param)
            except BaseException:
                self._state = None
                raise
        device = None
        for name, array in state.items():
            backend = plugins.by_type.get(type(array))
            wanted = state_spec(self.formula, name, spec)
            if backend is None or backend.spec(array) is wanted:
                continue
            device = device or param.device
            if tuple(array.shape) != param.shape:
                raise ShapeError(
                    f"{type(self).__name__}: expected a state {name!r} of shape {param.shape}, as the parameter, "
                    f"got {tuple(array.shape)}; load the state that belongs to this model"
                )
            moved = array if backend.device_of(array) == device else transfer(array, device)
            state[name] = moved if moved.dtype == wanted.dtype else device.xp.astype(moved, wanted.dtype)

    def init_state(self, param: Parameter) -> None:
        """Fill the state for a parameter; derived classes with new formulas override this."""
        if self.formula is None or self._state is None:
            return
        backend, array, spec = plugins.backend_of(param.array), param.array, param._node.spec
        for name, value in self.formula.states(self.hyperparam.at(1)).items():
            dtype = state_spec(self.formula, name, spec).dtype
            self._state[name] = backend.follow(backend.xp.full_like)(array, value, dtype=dtype)

    def update_core(self, param: Parameter) -> None:
        """Update a parameter by the formulas; a derived class may override this, or `update_core_cpu` and `_gpu`."""
        if self.formula is None:
            on_host = param.device.backend is plugins.host
            own = getattr(self, "update_core_cpu" if on_host else "update_core_gpu", None)
            if own is None:
                raise NotImplementedError(f"{type(self).__name__}: define update_core(param)")
            own(param)
            return
        numbers = self.formula.coefficients(self.hyperparam.at(self.t), self.t)
        self.step(param, prepared(numbers, param._node.spec))

    def step(self, param: Parameter, numbers: Numbers) -> None:
        """Make a step of the formulas with these coefficients, and store parameter and state."""
        formula, state = self.formula, self._state
        assert formula is not None
        assert state is not None
        names = [name for name in state if name != MASTER]
        step, array = FormulaStep(formula, names, numbers, param._node.spec), param.array
        made, *states, _ = changed(step, [array, *[state[name] for name in names], param.grad])
        if made is not array:
            param.array = made
            state.update(zip(names, states, strict=True))

    def serialize(self, serializer: Any) -> None:
        """Save or load `t` and the state, under their names."""
        self.t = int(serializer("t", self.t))
        if self._state is not None:
            for name, array in self._state.items():
                self._state[name] = serializer(name, array)
        elif self.t > 0:  # only a serializer that loads gives another number of updates
            self._load(serializer)

    def _load(self, serializer: Any) -> None:
        """Load the state of a parameter that has had no update yet: its names do not depend on the parameter."""
        probe, array = copy.copy(self), plugins.host.asarray([0.0])
        probe._state = {}
        probe.init_state(Parameter(array))
        loaded = {name: serializer(name, None) for name in probe._state}
        if self._use_fp32_update:
            with contextlib.suppress(KeyError):  # then it starts from the parameter
                loaded[MASTER] = serializer(MASTER, None)
        if all(each is not None for each in loaded.values()):
            self._state = loaded


def store(param: Parameter, array: Array) -> None:
    """Give a parameter new values: in its own array where the library can write, else as a new array."""
    held = param.array
    backend = plugins.backend_of(held)
    if writes(backend):
        backend.follow(operator.setitem)(held, ..., array)
    else:
        param.array = array


def unscale(param: Parameter) -> None:
    """Divide a gradient by the factor of its loss, if any."""
    scale = param._loss_scale
    if scale is not None:
        dtype = real_spec(param._node.spec).dtype
        divisor = array_api.astype(scale, dtype).array if isinstance(scale, Variable) else scale
        change_gradient(param, lambda xp, w, g: g / divisor)
        param._node.own_extra().loss_scale = None


def held_by(param: Parameter) -> Parameter:
    """Return the Parameter that an update changes, see `UpdateRule.hold`; hooks of optimizers receive it."""
    if param.grad is None:
        return param
    rule = param.update_rule
    if rule is not None and rule.enabled:
        found: Parameter = rule.hold(param)
        return found
    unscale(param)
    return param


def register(
    hooks: dict[str, dict[str, Callable[..., Any]]], hook: Any, name: str | None, timing: str, title: str
) -> None:
    """Add a hook under its name to the hooks with the same timing."""
    if not callable(hook):
        raise TypeError(f"{title}.add_hook: expected a callable, got {type(hook).__name__}")
    if timing == "auto":
        timing = getattr(hook, "timing", "pre")
    if timing not in hooks:
        raise ValueError(f"{title}.add_hook: timing must be 'pre', 'post' or 'auto', got {timing!r}")
    name = name or getattr(hook, "name", None) or getattr(hook, "__name__", None)
    if name is None:
        raise ValueError(f"{title}.add_hook: the hook has no name; give one as name=")
    if any(name in named for named in hooks.values()):
        raise KeyError(f"{title}.add_hook: there is a hook {name!r} already; remove it, or give another name")
    hooks[timing][name] = hook
    ordered = sorted(hooks[timing].items(), key=lambda item: -getattr(item[1], "priority", 0))
    hooks[timing] = dict(ordered)


def unregister(hooks: dict[str, dict[str, Callable[..., Any]]], name: str, title: str) -> None:
    """Remove a hook by its name."""
    for named in hooks.values():
        if named.pop(name, None) is not None:
            return
    known = ", ".join(repr(each) for named in hooks.values() for each in named) or "none"
    raise KeyError(f"{title}.remove_hook: there is no hook {name!r}; known are {known}")
