"""Chainer's names of arguments and methods of objects that xpgrad itself defines, besides the names of xpgrad."""

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import xpgrad
from xpgrad import FunctionAdapter, Parameter, Variable, backend, datasets, functions
from xpgrad.backend import using_device
from xpgrad.config import LocalConfig
from xpgrad.dataset import convert
from xpgrad.graph.assignments import journal
from xpgrad.models import ChainList, Link
from xpgrad.optimizer import GradientMethod, Optimizer, UpdateRule
from xpgrad.utils import type_check
from xpgrad_chainer import children, residents, shared, siblings
from xpgrad_chainer.datasets import converters
from xpgrad_chainer.function_node import FunctionNode
from xpgrad_chainer.optimizers import step_size

Function = Callable[..., Any]

FUNCTIONS: dict[Function, dict[str, str | None]] = {
    backend.from_chx: {"array": "arrays"},
    backend.get_device: {"device_spec": "specifier"},
    backend.to_chx: {"array": "arrays"},
    datasets.get_cross_validation_datasets: {"n_fold": "n_folds"},
    datasets.get_cross_validation_datasets_random: {"n_fold": "n_folds"},
    functions.convolution_2d: {"cudnn_fast": None},
    type_check.prod: {"xs": "values"},
    xpgrad.get_device: {"device_spec": "specifier"},
}
"""Names in xpgrad of arguments of functions: "" for the next position, None for an argument without effect."""
METHODS: tuple[tuple[type, str, dict[str, str | None]], ...] = (
    (ChainList, "insert", {"link": "value"}),
    (Parameter, "__init__", {"layout": None}),
    (Parameter, "to_device", {"device": ""}),
    (Variable, "addgrad", {"var": "source"}),
    (Variable, "copydata", {"var": "source"}),
    (Variable, "to_device", {"device": ""}),
    (using_device, "__init__", {"device_spec": "specifier"}),
)
"""Names in xpgrad of arguments of methods, as for functions."""
_ABSENT = object()


def renamed(function: Function, names: Mapping[str, str | None]) -> Function:
    """Return a function whose arguments have further names, as in `FUNCTIONS`."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for name in names.keys() & kwargs:
            value, own = kwargs.pop(name), names[name]
            if own:
                kwargs[own] = value
            elif own == "":
                args += (value,)
        return function(*args, **kwargs)

    return call


@functools.cache
def _spelled(function: Function) -> Function:
    return renamed(function, FUNCTIONS[function])


def spelled(found: Any) -> Any:
    """Return what a name of Chainer stands for: a function with Chainer's names of arguments, or the object itself."""
    return _spelled(found) if callable(found) and _is_hashable(found) and found in FUNCTIONS else found


def _is_hashable(found: Any) -> bool:
    return type(found).__hash__ is not None


def _from_params(*args: Any, **kwargs: Any) -> NoReturn:
    """Return a link with given parameters, for a class that defines how."""
    raise NotImplementedError("This link does not implement `from_params`.")


def _update_loss_scale(optimizer: Optimizer) -> None:
    """Adapt a dynamic factor of the loss to whether the gradients are finite."""
    if optimizer._scale is not None:
        optimizer._scale.after(optimizer.is_safe_to_update())


_check_nan_in_grads: Callable[[Optimizer], bool] = Optimizer.check_nan_in_grads


def _warn_of_nan_in_grads(optimizer: Optimizer) -> bool:
    """Return whether a gradient is not finite, with a warning, where loss scaling is dynamic; else False."""
    found = _check_nan_in_grads(optimizer)
    if found:
        where = f"iteration: {optimizer.t}, loss_scale: {optimizer._loss_scale}"
        warnings.warn(f"update: a gradient is not finite ({where}), so parameters stay as they are", stacklevel=3)
    return found


_differentiate: Callable[..., None] = GradientMethod._differentiate


def _differentiate_anew(optimizer: GradientMethod, loss: Any, params: Any) -> None:
    """Compute the gradients of a loss without keeping those of the step before, which errors would restore."""
    held: Any = journal.get()
    held._gradients = [(param, None, True, *others) for param, _, _, *others in held._gradients]
    _differentiate(optimizer, loss, params)


def _local_config(config: LocalConfig, global_config: Any = None) -> None:
    """Take the global configuration as an argument; there is only one."""


def _set_loss_scale(variable: Variable, scale: float | None) -> None:
    """Set the factor that a gradient was multiplied by."""
    variable.node.own_extra().loss_scale = scale


_loss_scale: Any = vars(Variable)["_loss_scale"]
_check: Callable[..., None] = Link._check_registered


def _check_registered(link: Link, name: str, value: Any) -> None:
    """Warn of a parameter or link outside of `init_scope`; before `__init__` of the base class it is an attribute."""
    if link._link_ready:
        _check(link, name, value, 4)


MEMBERS: tuple[tuple[Any, str, Any], ...] = (
    (convert, "_stacked", converters.stacked),
    (GradientMethod, "_differentiate", _differentiate_anew),
    (FunctionAdapter, "_check_types", FunctionNode._check_types),
    (Link, "_check_registered", _check_registered),
    (Link, "from_params", staticmethod(_from_params)),
    (LocalConfig, "__init__", _local_config),
    (Optimizer, "check_nan_in_grads", _warn_of_nan_in_grads),
    (Optimizer, "update_loss_scale", _update_loss_scale),
    (Variable, "_loss_scale", _loss_scale.setter(_set_loss_scale)),
    (UpdateRule, "__getattr__", step_size),
    (UpdateRule, "is_elementwise", False),
    *children.MEMBERS,
    *residents.MEMBERS,
    *shared.MEMBERS,
    *siblings.MEMBERS,
)
"""Attributes of classes, and a function of a module, as only Chainer has them."""


class Spellings:
    """Chainer's names in classes of xpgrad, which `uninstall` takes away."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def install(self) -> None:
        """Add the names."""
        changed = [(kind, name, renamed(getattr(kind, name), names)) for kind, name, names in METHODS]
        for kind, name, value in (*changed, *MEMBERS):
            self._before.append((kind, name, vars(kind).get(name, _ABSENT)))
            setattr(kind, name, value)

    def uninstall(self) -> None:
        """Restore the classes."""
        for kind, name, value in self._before:
            if value is _ABSENT:
                delattr(kind, name)
            else:
                setattr(kind, name, value)
        self._before.clear()
