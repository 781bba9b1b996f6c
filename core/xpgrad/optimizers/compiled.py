"""A training step as one program: forward, backward, and update."""

import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from xpgrad import array_api
from xpgrad.backend.device import Device
from xpgrad.backend.levels import check_outside
from xpgrad.backend.spec import Spec
from xpgrad.config import config
from xpgrad.errors import CompileWarning, TraceError
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.optimizers.formula import OPTIONS, Numbers, apart, real_spec
from xpgrad.optimizers.hooks import finite
from xpgrad.optimizers.undo import GradientJournal
from xpgrad.optimizers.update_rule import UpdateRule, held_by
from xpgrad.transforms.trace.compiled import compile
from xpgrad.types import Array, Dtype

if TYPE_CHECKING:
    from xpgrad.optimizers.optimizer import GradientMethod


class Scalar:
    """A number that a program reads at each run.

    Attributes
    ----------
    variable : Variable, 0-d
    """

    def __init__(self, device: Device, dtype: Dtype) -> None:
        self.value, self.array = 0.0, None
        self.device, self.dtype = device, dtype
        self.variable = Variable(self._array(0.0), requires_grad=False)

    def _array(self, value: float) -> Array:
        backend = self.device.backend
        return backend.restore(backend.asarray(value, self.dtype, self.device.handle))

    def set(self, value: float) -> None:
        """Set a new value."""
        if value != self.value or self.variable._array is not self.array:  # an error in a step sets it back
            self.variable.array, self.value = self._array(value), value
            self.array = self.variable._array


class CoefficientPlace(NamedTuple):
    """Where coefficients are the same: the number of their group, their device and dtype."""

    group: int
    device: Device
    dtype: Dtype


class CompiledStep:
    """``optimizer.compile(lossfun)``: a function that makes a step, and returns the loss.

    State that changes from step to step (parameters, states, and numbers computed from hyperparameters and `t`) is in
    Variables, which the program reads and stores. Steps in several threads run one after the other.
    """

    def __init__(
        self, optimizer: "GradientMethod", lossfun: Callable[..., Any], options: dict[str, Any], keep_grads: bool
    ) -> None:
        self.optimizer, self.lossfun, self.options, self.keep_grads = optimizer, lossfun, options, keep_grads
        self.programs: dict[Any, StepProgram] = {}
        self.states: dict[UpdateRule, dict[str, Variable]] = {}
        functools.update_wrapper(self, lossfun, updated=())

    def __reduce__(self) -> Any:
        return type(self), (self.optimizer, self.lossfun, self.options, self.keep_grads)

    def __repr__(self) -> str:
        return f"<compiled step of {type(self.optimizer).__name__}: {len(self.programs)} programs>"

    def __call__(self, *args: Any, **kwds: Any) -> Any:
        """Return the loss, as an array, after a step by its gradients."""
        check_outside(repr(self), "call it outside, or compute the gradients within, and the update by optimizer.rule")
        with self.optimizer._in_turn.lock:
            optimizer = self.optimizer
            params: list[Parameter] = []
            for param in optimizer.target.params():
                if param._array is None:
                    return self._eager(args, kwds)
                if param.update_rule is not None and param.update_rule.enabled:
                    params.append(param)
            if not params:
                raise ValueError(f"{self!r}: expected a model with parameters to update, got none that is enabled")
            known: dict[Any, int] = {}
            numbers: list[Numbers] = []
            groups: list[tuple[int, Spec, UpdateRule]] = []
            hooks: list[tuple[Any, ...]] = [_of_hooks(optimizer)]
            for param in params:
                rule: UpdateRule = param.update_rule
                groups.append((self._group(param, known, numbers), param._node.spec, rule))
                hooks.append(_of_hooks(rule) if rule._hooks["pre"] or rule._hooks["post"] else ())
            options = [{name: x for name, x in each.items() if type(x) in OPTIONS} for each in numbers]
            dynamic = optimizer._scale and optimizer._scale.interval is not None
            key = (
                tuple(groups), tuple([tuple(each.items()) for each in options]), tuple(map(id, params)), dynamic,
                tuple(hooks),
            )  # fmt: skip
            program = self.programs.get(key)
            if program is None:
                if not apart(params):  # a program gives each parameter an array of its own
                    warnings.warn(f"{self!r}: parameters share memory; steps run without a program", CompileWarning, 2)
                    return self._eager(args, kwds)
                places = [CoefficientPlace(i, param.device, real_spec(spec).dtype)
                          for (i, spec, _), param in zip(groups, params, strict=True)]  # fmt: skip
                program = self.programs[key] = StepProgram(self, params, places, options)
            with GradientJournal(params):
                return program.run(numbers, args, kwds)

    def _group(self, param: Parameter, known: dict[Any, int], numbers: list[Numbers]) -> int:
        """Return the place in `numbers` of a parameter's coefficients."""
        rule: UpdateRule = param.update_rule
        if rule.formula is None:
            raise TypeError(f"{self!r}: {type(rule).__name__} has no formulas; call optimizer.update(lossfun)")
        rule.prepare(param)
        own = vars(rule.hyperparam)
        key = rule.t, id(own["_parent"]) if len(own) == 1 else id(own)
        if key not in known:
            known[key] = len(numbers)
            numbers.append(rule.formula.coefficients(rule.hyperparam.at(rule.t + 1), rule.t + 1))
        return known[key]

    def _eager(self, args: tuple[Any, ...], kwds: dict[str, Any]) -> Any:
        """Make a step without a program: it initialises parameters."""
        found: list[Any] = []

        def lossfun() -> Any:
            found.append(self.lossfun(*args, **kwds))
            return found[0]

        self.optimizer.update(lossfun)
        return found[0].array

    def variables(self, rule: UpdateRule) -> dict[str, Variable]:
        """Return Variables over the state of a rule."""
        kept, state = self.states.setdefault(rule, {}), rule._state or {}
        for name, array in state.items():
            variable = kept.get(name)
            if variable is None:
                kept[name] = Variable(array, requires_grad=False)
            elif variable._array is not array:
                variable.array = array
        return kept


class StepProgram:
    """A program for parameters whose coefficients are the same in the same places."""

    def __init__(
        self,
        owner: CompiledStep,
        params: Sequence[Parameter],
        places: Sequence[CoefficientPlace],
        options: Sequence[Numbers],
    ) -> None:
        self.owner, self.params, self.places = owner, params, places
        owners = [owner.optimizer, *(param.update_rule for param in params)]
        self.hooks = [each._hooks["pre"] | each._hooks["post"] for each in owners]  # kept alive, so that ids stay valid
        self.numbers: dict[CoefficientPlace, dict[str, Any]] = {place: dict(options[place.group]) for place in places}
        self.scalars: dict[CoefficientPlace, dict[str, Scalar]] = {place: {} for place in places}
        device = params[0].device
        self.time = Scalar(device, device.backend.namespace.float32)
        self.scale = Scalar(device, device.backend.namespace.float32)
        function = functools.partial(_stepped, self, owner.lossfun)  # where constants of the loss are looked for
        functools.update_wrapper(function, owner.lossfun, updated=())
        self.function = compile(function, **owner.options)
        self.function.instead = self._eager

    def run(self, numbers: Sequence[Numbers], args: tuple[Any, ...], kwds: dict[str, Any]) -> Any:
        """Return the loss after a step with these coefficients."""
        optimizer = self.owner.optimizer
        for place, scalars in self.scalars.items():
            for name, x in numbers[place.group].items():
                if type(x) not in OPTIONS:
                    if name not in scalars:
                        scalars[name] = Scalar(place.device, place.dtype)
                        self.numbers[place][name] = scalars[name].variable
                    scalars[name].set(float(x))
        self.time.set(float(optimizer.t))
        self.scale.set(optimizer._loss_scale or 1.0)
        states = [self.owner.variables(param.update_rule) for param in self.params]
        loss, safe, skipped = self.function(args, kwds)
        if safe is None:
            return loss
        safe = all(map(bool, safe))
        for i, (param, state) in enumerate(zip(self.params, states, strict=True)):
            rule: UpdateRule = param.update_rule
            rule.t += safe and i not in skipped
            if rule._state is not None:
                for name in rule._state:
                    rule._state[name] = state[name]._array
        optimizer.t += safe
        if self.params[0]._node.spec.backend.evaluate is not None:
            optimizer._evaluate(self.params)
        if optimizer._scale is not None:
            optimizer._scale.after(safe)
        return loss

    def _eager(self, args: tuple[Any, ...], kwds: dict[str, Any]) -> tuple[Any, ...]:
        """Make a step without a program, by `optimizer.update`; return the loss, and no remaining work."""
        loss = self.owner._eager(args, kwds)
        if not self.owner.keep_grads:
            self.owner.optimizer.target.cleargrads()
        return loss, None, ()

    @contextmanager
    def borrowed(self, states: Sequence[dict[str, Variable]]) -> Iterator[None]:
        """Context manager in which the rules have the program's arrays as states, and its number of steps."""
        optimizer = self.owner.optimizer
        rules: list[UpdateRule] = [param.update_rule for param in self.params]
        before = optimizer.t, [(rule.t, rule._state) for rule in rules]
        clock: Any = self.time.variable.array
        optimizer.t = clock
        for rule, state in zip(rules, states, strict=True):
            rule.t, rule._state = clock, {name: x.array for name, x in state.items()}
        try:
            yield
        finally:
            optimizer.t = before[0]
            for rule, (t, kept) in zip(rules, before[1], strict=True):
                rule.t, rule._state, rule._held = t, kept, None


def _stepped(
    program: StepProgram, lossfun: Callable[..., Any], args: tuple[Any, ...], kwds: dict[str, Any]
) -> tuple[Any, ...]:
    """Return the loss, whether the gradients are finite, and which parameters have none, after a step."""
    owner = program.owner
    optimizer, scale = owner.optimizer, owner.optimizer._scale
    loss = lossfun(*args, **kwds)
    optimizer.target.cleargrads()
    if scale is not None:
        one = array_api.ones_like(constant_variable(loss.array))
        loss.grad = (one * array_api.astype(program.scale.variable, loss.dtype)).array
    loss.backward()
    for param in program.params if config.zero_missing_grads else ():
        if param.grad is None:
            param.grad = array_api.zeros_like(constant_variable(param.array)).array
    states = [owner.states[param.update_rule] for param in program.params]
    updated = [i for i, param in enumerate(program.params) if param.grad is not None]
    safe = [] if scale is None or scale.interval is None else finite([program.params[i] for i in updated])
    if len(safe) > 1:
        raise TraceError("optimizer.compile: expected parameters on one device, got several; call optimizer.update")
    with program.borrowed(states):
        for i in updated:
            param = program.params[i]
            if safe:  # zeros prevent NaN below, which would make some libraries warn
                param.grad = _chosen(safe[0], param.grad, array_api.zeros_like(constant_variable(param.grad)).array)
            if scale is not None:
                extra: Any = param._node.own_extra()
                extra.loss_scale = program.scale.variable
            held_by(param)
        optimizer.call_hooks("pre")
        for i in updated:
            _update(program.params[i], program.numbers[program.places[i]], states[i], safe)
        optimizer.call_hooks("post")
    if not owner.keep_grads:
        optimizer.target.cleargrads()
    return loss.array, safe, tuple(i for i in range(len(program.params)) if i not in updated)


def _update(param: Parameter, numbers: Numbers, state: dict[str, Variable], safe: Sequence[Array]) -> None:
    """Update a parameter and the Variables of its state, unless `safe` is False."""
    rule: UpdateRule = param.update_rule
    before, held = param.array, rule.hold(param)
    rule.call_hooks("pre", held)
    rule.step(held, numbers)
    rule.call_hooks("post", held)
    if held is not param:
        rule.keep(param, held)
    made: Any = rule.state
    if safe:
        param.array = _chosen(safe[0], param.array, before)
    for name, x in state.items():
        x.array = _chosen(safe[0], made[name], x.array) if safe else made[name]


def _chosen(condition: Array, x1: Array, x2: Array) -> Array:
    return array_api.where(*map(constant_variable, (condition, x1, x2))).array


def _of_hooks(owner: Any) -> tuple[Any, ...]:
    """Return the called hooks and their numbers, which are constants of a program."""
    if not owner._hooks["pre"] and not owner._hooks["post"]:
        return ()
    return tuple(
        (timing, id(hook), *((k, x) for k, x in getattr(hook, "__dict__", {}).items() if isinstance(x, (int, float))))
        for timing, hooks in owner._hooks.items()
        for hook in hooks.values()
    )
