"""`Optimizer` and `GradientMethod`: they update the parameters of a model."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from xpgrad.backend.levels import check_outside, live
from xpgrad.config import config
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.variable import Variable
from xpgrad.hints import OF_OPTIMIZERS, bind, hyperparameter
from xpgrad.models.link import Link
from xpgrad.models.residence import Collector
from xpgrad.optimizers.compiled import CompiledStep
from xpgrad.optimizers.formula import Formula
from xpgrad.optimizers.hooks import LossScale, finite
from xpgrad.optimizers.hyperparameter import Hyperparameter
from xpgrad.optimizers.packed import Packs, gradient
from xpgrad.optimizers.rule import Rule
from xpgrad.optimizers.undo import GradientJournal
from xpgrad.optimizers.update_rule import INSTEAD, UpdateRule, held_by, register, unregister
from xpgrad.transforms.trace.guards.trust import leave_out
from xpgrad.types import Array
from xpgrad.utils.pictures import drawer
from xpgrad.utils.threads import InTurn


class Optimizer:
    """Base class of optimizers, which update the parameters of a model, the `target`.

    Updates, compiled steps and `serialize` in several threads are made one after the other.

    Attributes
    ----------
    target : Link or None
    t : int
        Number of updates made.
    epoch : int
    """

    target: Any = None
    t: int = 0
    epoch: int = 0
    use_auto_new_epoch: bool = False
    _scale: LossScale | None = None

    def __init__(self) -> None:
        self.target = None
        self.t = self.epoch = 0
        self.use_auto_new_epoch = False
        self._hooks: dict[str, dict[str, Callable[..., Any]]] = {"pre": {}, "post": {}}
        self._in_turn = InTurn()

    def setup(self, link: Link) -> Any:
        """Make `link` the target, with `t` and `epoch` 0 and no hooks; return the optimizer."""
        if not isinstance(link, Link):
            kind = type(link).__name__
            raise TypeError(f"{type(self).__name__}.setup: optimization target must be a link, got {kind}")
        self.target, self.t, self.epoch = link, 0, 0
        self._hooks = {"pre": {}, "post": {}}
        if not hasattr(self, "_in_turn"):  # a derived class has not called __init__
            self._in_turn = InTurn()
        return self

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> Any:
        """Update the parameters; each kind of optimizer defines how."""
        raise NotImplementedError(f"{type(self).__name__}: define update(lossfun, *args, **kwds)")

    def __repr__(self) -> str:
        numbers = getattr(self, "hyperparam", Hyperparameter()).get_dict()
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in numbers.items())})"

    _repr_html_ = drawer.html("optimizers")

    def new_epoch(self, auto: bool = False) -> None:
        """Count an epoch.

        Raises
        ------
        RuntimeError
            An updater counts them (`use_auto_new_epoch`), and this is not its call (``auto=True``), or the reverse.
        """
        if auto != self.use_auto_new_epoch:
            who = "an updater counts epochs" if self.use_auto_new_epoch else "use_auto_new_epoch is False"
            raise RuntimeError(f"{type(self).__name__}.new_epoch: {who}, got auto={auto}; let one of them count")
        self.epoch += 1

    def add_hook(self, hook: Callable[..., Any], name: str | None = None, timing: str = "auto") -> None:
        """Register a hook to call before or after each update, by descending `priority`, then in order of registration.

        Parameters
        ----------
        hook : callable
            ``hook(optimizer)``, or ``hook(rule, param)`` for each parameter if its attribute `call_for_each_param` is
            True.
        name : str, optional
            By default the name of the hook.
        timing : {"auto", "pre", "post"}
            "auto" takes the hook's attribute `timing`, or "pre".
        """
        if self.target is None and callable(hook):
            raise RuntimeError(f"{type(self).__name__}.add_hook: call setup(model) first, which removes all hooks")
        register(self._hooks, hook, name, timing, type(self).__name__)

    def remove_hook(self, name: str) -> None:
        """Remove the hook that was added with this name."""
        unregister(self._hooks, name, type(self).__name__)

    def call_hooks(self, timing: str = "pre") -> None:
        """Call the hooks of a timing, "pre" or "post"."""
        for hook in list(self._hooks[timing].values()):
            self.call_hook(hook)

    def call_hook(self, hook: Callable[..., Any]) -> None:
        """Call one hook: with the optimizer, or for each parameter."""
        if not getattr(hook, "call_for_each_param", False):
            hook(self)
            return
        for param in self.target.params(False):
            hook(param.update_rule, held_by(param))

    # Loss scaling

    def loss_scaling(self, interval: int = 1000, scale: float | None = None) -> None:
        """Multiply the loss by a factor in `update`, and divide the gradients by this factor.

        Parameters
        ----------
        interval : int
            A dynamic factor doubles after as many good steps in a row. A gradient that is not finite halves it, and
            no parameter is updated in that step.
        scale : float, optional
            A fixed factor; by default it is dynamic, and starts from 32768 or from `set_loss_scale`.
        """
        dynamic = 2.0**15 if self._scale is None else self._scale.value
        self._scale = LossScale(dynamic, interval) if scale is None else LossScale(scale)

    def set_loss_scale(self, loss_scale: float) -> None:
        """Set the factor of the loss; a dynamic factor continues from this value."""
        self._scale = LossScale(loss_scale, None if self._scale is None else self._scale.interval)

    @property
    def _loss_scale(self) -> float | None:
        return None if self._scale is None else self._scale.value

    def is_safe_to_update(self) -> bool:
        """Return whether all gradients are finite."""
        return all(map(bool, finite(list(self.target.params(False)))))

    def check_nan_in_grads(self) -> bool:
        """Return whether a gradient is not finite, where loss scaling is dynamic; else False."""
        return self._scale is not None and self._scale.interval is not None and not self.is_safe_to_update()

    def serialize(self, serializer: Any) -> None:
        """Save or load `t`, `epoch`, and the state of each parameter's update rule, under the parameter's name."""
        with self._in_turn.lock:
            self.t = int(serializer("t", self.t))
            self.epoch = int(serializer("epoch", self.epoch))
            for name, param in self.target.namedparams():
                if param.update_rule is not None:
                    param.update_rule.serialize(serializer[name])


class GradientMethod(Optimizer, Formula):
    """An optimizer that updates each parameter by its gradient.

    A derived class defines formulas (`states`, `coefficients` and `step`), or `create_update_rule`.

    Attributes
    ----------
    hyperparam : Hyperparameter
        Hyperparameters of all parameters; ``param.update_rule.hyperparam`` overrides these for one parameter.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Give the class the signature of ``__init__``: Python 3.11.2 shows that of ``__new__``."""
        super().__init_subclass__(**options)
        signature = inspect.signature(cls.__init__)
        parameters = [*signature.parameters.values()][1:]
        setattr(cls, "__signature__", signature.replace(parameters=parameters))  # noqa: B010 - it is not declared

    def __new__(cls, *args: Any, **given: Any) -> Self:
        """Raise an error for unknown hyperparameters, with advice on names of other libraries."""
        parameters = inspect.signature(cls.__init__).parameters
        known = [name for name in parameters if name != "self"]
        if all(each.kind is not each.VAR_KEYWORD for each in parameters.values()):
            for name in given.keys() - set(known):
                raise TypeError(f"{cls.__name__}: there is no hyperparameter {name}{hyperparameter(name, known)}")
        return super().__new__(cls)

    def __init__(self, **hyperparam: Any) -> None:
        super().__init__()
        self.hyperparam = Hyperparameter()
        for name, value in hyperparam.items():
            if isinstance(value, (Link, Iterator, list)):
                raise TypeError(
                    f"{type(self).__name__}: expected a number or a schedule as {name}, got {type(value).__name__}; "
                    "a model is given by setup(model), not its parameters here"
                )
            setattr(self.hyperparam, name, value)
        self._packs = Packs()
        self._use_cleargrads, self._use_fp32_update = True, False

    def create_update_rule(self) -> UpdateRule:
        """Return the update rule of one parameter."""
        return UpdateRule(self.hyperparam, type(self))

    def setup(self, link: Link) -> Any:
        """Make `link` the target, and give each of its parameters an update rule; return the optimizer."""
        rules = [] if not isinstance(link, Link) else [(param, self.create_update_rule()) for param in link.params()]
        super().setup(link)
        for param, rule in rules:
            param.update_rule = rule
            if self._use_fp32_update:
                rule.use_fp32_update()
        return self

    def use_cleargrads(self, use: bool = True) -> None:
        """Let `update` forget gradients before it computes them, or fill them with zeros."""
        self._use_cleargrads = use

    def use_fp32_update(self, flag: bool = True) -> None:
        """Update parameters of half precision through float32 copies; call this before or after `setup`."""
        self._use_fp32_update = flag
        for param in () if self.target is None else self.target.params():
            if param.update_rule is not None:
                param.update_rule.use_fp32_update(flag)

    @property
    def rule(self) -> Rule:
        """The optimizer as functions of trees, with its present hyperparameters, and its hooks on gradients."""
        hooks = [*self._hooks["pre"].values(), *self._hooks["post"].values()]
        other = [hook for hook in hooks if not hasattr(hook, "gradients")]
        if other:
            raise TypeError(f"{type(self).__name__}.rule: expected hooks with a method gradients, got {other[0]!r}")
        return Rule(type(self), self.hyperparam.values(), hooks)

    def call_hook(self, hook: Callable[..., Any]) -> None:
        """Call one hook, which may clear gradients: with `config.zero_missing_grads`, later hooks find zeros."""
        super().call_hook(hook)
        if config.zero_missing_grads and not live:  # a compiled step does so itself
            self.reallocate_cleared_grads()

    def reallocate_cleared_grads(self) -> None:
        """Give parameters without a gradient one of zeros."""
        for param in self.target.params(False):
            if param._grad is None and param._node.spec.differentiable:
                param.grad = param._node.spec.backend.xp.zeros_like(param.array)

    # The update

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Update the parameters by their gradients.

        Parameters
        ----------
        lossfun : callable, optional
            ``lossfun(*args, **kwds)`` returns the loss, from which gradients are computed first. Without it, gradients
            must already exist. Parameters without a gradient are not updated.

        Raises
        ------
        ShapeError, DtypeError
            A gradient does not fit its parameter; no parameter is updated then.
        TraceError
            It is called in a transformation: use `compile` or `rule`. A compiled function runs without a program then.

        Notes
        -----
        If `lossfun`, the backward computation, a check or a hook before the update raises, parameters, gradients,
        states, running averages and `t` are unchanged, as are other Variables and persistent values to which `lossfun`
        has assigned; elements that it has written into arrays remain. Later errors, in a user-defined update rule or a
        hook after the update, leave updated parameters.
        """
        check_outside(f"{type(self).__name__}.update", INSTEAD)
        if self.target is None:
            raise RuntimeError(f"{type(self).__name__}.update: there is no model; call setup(model) first")
        if lossfun is not None:
            self._check_function("update", lossfun)
        with self._in_turn.lock:
            params = [*self.target.params(lossfun is not None)]
            with GradientJournal(params, lossfun is None and bool(self._hooks["pre"])):
                if lossfun is not None:
                    loss = lossfun(*args, **kwds)
                    self._differentiate(loss, params := [*self.target.params()])  # some may be new
                    params = [param for param in params if param._array is not None]
                params = self._checked(params)
                safe, step = not self.check_nan_in_grads(), None
                if safe:
                    self.call_hooks("pre")
                    step = self._packs.prepared(params)
            if step is not None:
                self._step(params, step)
            if self._scale is not None:
                self._scale.after(safe)

    def _differentiate(self, loss: Any, params: Sequence[Parameter]) -> None:
        """Compute the gradients of a loss."""
        if not isinstance(loss, Variable):
            raise TypeError(
                f"{type(self).__name__}.update: expected lossfun to return a Variable, got {type(loss).__name__}"
            )
        if not self._use_cleargrads:
            self.target.zerograds()
        elif type(self.target).cleargrads is not Link.cleargrads:
            self.target.cleargrads()
        else:
            for param in params:
                param.cleargrad()
        loss.backward(loss_scale=self._loss_scale)

    def _checked(self, params: list[Parameter]) -> list[Parameter]:
        """Return the parameters with a gradient, checked to match."""
        if config.zero_missing_grads:
            self.reallocate_cleared_grads()
        found = [param for param in params if param._grad is not None]
        for param in found:
            grad, array = gradient(param), param._array
            if not param._grad_valid:
                self._check_cleared(param)
            if grad.shape != array.shape or (grad.dtype is not array.dtype and grad.dtype != array.dtype):
                raise _unfit(param, grad, type(self).__name__)
        return found

    def _step(self, params: list[Parameter], step: Callable[[], list[Parameter]]) -> None:
        """Update the parameters, and call the hooks after that."""
        before = self.t
        try:
            self.t = before + 1
            for param in step():
                param.update()
            self.call_hooks("post")
            if params and params[0]._node.spec.backend.evaluate is not None:
                self._evaluate(params)
        except BaseException:
            self.t = before
            for param in params:
                if param.update_rule is not None:
                    param.update_rule._held = None
            raise

    def _evaluate(self, params: Sequence[Parameter]) -> None:
        """Compute the model and its states, if they are of lazy libraries: their graphs would grow with each step."""
        found, target = Collector(), self.target
        target.device_resident_accept(found)
        for param in params:
            found.arrays += (getattr(param.update_rule, "_state", None) or {}).values()
        for backend in {param._node.spec.backend for param in params}:
            if backend.evaluate is not None:
                backend.evaluate([array for array in found.arrays if isinstance(array, backend.array_types)])

    def compile(self, lossfun: Callable[..., Any], *, keep_grads: bool = False, **options: Any) -> CompiledStep:
        """Return a function that makes a step like `update`, as one program: forward, backward, and update.

        Parameters
        ----------
        lossfun : callable
            ``lossfun(*args, **kwds)`` returns the loss. Arrays among its arguments are Variables.
        keep_grads : bool
            Whether parameters keep the gradients of the step, which costs time and memory.
        **options
            As for `xpgrad.compile`.

        Returns
        -------
        callable
            ``step(*args, **kwds)`` returns the loss as an array. Hyperparameters, `t` and states are read at each call,
            and may change without another program. Without `keep_grads`, gradients are cleared.
        """
        if self.target is None:
            raise RuntimeError(f"{type(self).__name__}.compile: there is no model; call setup(model) first")
        self._check_function("compile", lossfun)
        return CompiledStep(self, lossfun, options, keep_grads)

    def _check_cleared(self, param: Parameter) -> None:
        """Raise if the gradient is NaN with which `initialize` has filled it, or was added to that."""
        if not all(map(bool, finite([param]))):
            raise RuntimeError(
                f"{type(self).__name__}.update: the gradient of the parameter {param.name!r} is NaN since it was "
                "initialised; call model.cleargrads() and then loss.backward(), or update(lossfun, ...)"
            )
        param._grad_valid = True

    def _check_function(self, operation: str, lossfun: Any) -> None:
        if not callable(lossfun):
            raise TypeError(
                f"{type(self).__name__}.{operation}: expected a function that returns the loss, got "
                f"{type(lossfun).__name__}; write {operation}(lossfun, ...) with the arguments of lossfun, or "
                "loss.backward() and update()"
            )

    def serialize(self, serializer: Any) -> None:
        """Save or load `t`, `epoch`, a dynamic factor of the loss, and the states of update rules."""
        super().serialize(serializer)
        if (scale := self._scale) is not None and scale.interval is not None:
            try:
                scale.value = float(serializer("loss_scale", scale.value))
                scale.good = int(serializer("loss_scale_good", scale.good))
            except KeyError:  # saved by Chainer, or with another kind of loss scaling
                return


def _unfit(param: Parameter, grad: Array, title: str) -> ShapeError | DtypeError:
    """Return the error for a gradient that was changed, or whose array was, since it was computed."""
    array: Any = param._array
    title = f"{title}.update: the parameter {param.name!r}: expected a gradient of"
    if grad.shape != array.shape:
        return ShapeError(f"{title} shape {tuple(array.shape)}, got {tuple(grad.shape)}; nothing was updated")
    return DtypeError(f"{title} {array.dtype}, got {grad.dtype}; nothing was updated")


bind(Optimizer, OF_OPTIMIZERS)
leave_out(Optimizer.call_hooks)  # a compiled step has a program for each set of hooks
