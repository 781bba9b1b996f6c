"""Hooks of optimizers that change gradients before the update, and factors of losses of half precision."""

import functools
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad import array_api
from xpgrad.array_api.shared import copying
from xpgrad.backend import random
from xpgrad.backend.current import using_device
from xpgrad.backend.device import Device
from xpgrad.config import backprop_mode, called_with
from xpgrad.errors import DtypeError
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.optimizers.formula import change_gradient, in_wide, real_spec
from xpgrad.optimizers.update_rule import held_by
from xpgrad.types import Array, Dtype, Namespace, Shape


class GradientHook:
    """A hook that changes the gradient of each parameter by a formula.

    Attributes
    ----------
    name : str
    timing : {"pre", "post"}
    priority : int
        Hooks with greater numbers are called first.
    """

    name = "GradientHook"
    call_for_each_param = True
    timing = "pre"
    priority = 0

    def __call__(self, rule: Any, param: Parameter) -> None:
        """Change the gradient of a parameter; ignore parameters without a gradient."""
        if param._array is not None and param.grad is not None:
            ratio = _array_of(self.ratio, constant_variable(param.array), constant_variable(param.grad))
            change_gradient(param, lambda xp, w, g: self.gradient(xp, w, g, ratio))

    def ratio(self, w: Variable, g: Variable) -> Any:
        """Return the number that `gradient` needs and that depends on all elements, 0-d; or None."""
        return None

    def gradient(self, xp: Namespace, w: Array, g: Array, ratio: Any) -> Array:
        """Return the new gradient of `w` in place of `g`, elementwise; both are arrays or Variables.

        Operands of half precision are cast to float32 before, and the result is cast back.
        """
        raise NotImplementedError(f"{type(self).__name__}: define gradient(xp, w, g, ratio)")

    def gradients(self, ws: Sequence[Variable], gs: Sequence[Variable], t: Any) -> list[Variable]:
        """Return new gradients of all parameters `ws` in place of `gs`, after `t` steps, as Variables."""
        return [self._changed(w, g, self.ratio(w, g)) for w, g in zip(ws, gs, strict=True)]

    def _changed(self, w: Variable, g: Variable, ratio: Any) -> Variable:
        made: Variable = in_wide(w._node.spec, lambda xp, w, g: self.gradient(xp, w, g, ratio))(array_api, w, g)
        return made


class WeightDecay(GradientHook):
    """Adds ``rate * w``: the gradient of a penalty on squares.

    Parameters
    ----------
    rate : float
    """

    name = "WeightDecay"

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def gradient(self, xp: Namespace, w: Array, g: Array, ratio: Any) -> Array:
        """Return ``g + rate * w``."""
        g += self.rate * w
        return g


class Lasso(GradientHook):
    """Adds ``rate * sign(w)``: a subgradient of a penalty on absolute values.

    The sign of a complex number is ``w / |w|``.

    Parameters
    ----------
    rate : float
    """

    name = "Lasso"

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def gradient(self, xp: Namespace, w: Array, g: Array, ratio: Any) -> Array:
        """Return ``g + rate * sign(w)``."""
        g += self.rate * xp.sign(w)
        return g


class GradientHardClipping(GradientHook):
    """Clips each element of the gradients.

    Parameters
    ----------
    lower_bound, upper_bound : float

    Raises
    ------
    DtypeError
        A gradient is complex.
    """

    name = "GradientHardClipping"

    def __init__(self, lower_bound: float, upper_bound: float) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def ratio(self, w: Variable, g: Variable) -> None:
        """Raise if the gradient is complex."""
        if g._node.spec.complex:
            raise DtypeError(
                f"{type(self).__name__}: expected a real gradient, got {g._node.spec!r}; use GradientClipping, since "
                "complex numbers have no order"
            )

    def gradient(self, xp: Namespace, w: Array, g: Array, ratio: Any) -> Array:
        """Return the elements of `g` between the bounds."""
        return xp.clip(g, self.lower_bound, self.upper_bound)


class GradientLARS(GradientHook):
    """Scales each gradient by a ratio of norms, ``|w| / (|g| + weight_decay * |w|)`` (You et al., arXiv:1708.03888).

    Parameters
    ----------
    threshold : float
        The factor is 1 for norms of a parameter up to this.
    weight_decay : float
        Multiple of the parameter that is added to the gradient first.
    eps : float
        Added to the denominator.
    """

    name = "GradientLARS"

    def __init__(self, threshold: float = 1e-2, weight_decay: float = 0.0, eps: float = 1e-9) -> None:
        self.threshold, self.weight_decay, self.eps = threshold, weight_decay, eps

    def ratio(self, w: Variable, g: Variable) -> Variable:
        """Return the ratio of norms."""
        of_w, of_g = _norm(w), _norm(g)
        return array_api.where(of_w > self.threshold, of_w / (self.eps + of_g + self.weight_decay * of_w), 1.0)

    def gradient(self, xp: Namespace, w: Array, g: Array, ratio: Any) -> Array:
        """Return ``ratio * (g + weight_decay * w)``."""
        if self.weight_decay:
            g += self.weight_decay * w
        g *= ratio
        return g


class GradientClipping:
    """Scales all gradients together so that the norm of all their elements is at most a threshold.

    Parameters
    ----------
    threshold : float
    """

    name = "GradientClipping"
    timing = "pre"
    priority = 0

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    def __call__(self, opt: Any) -> None:
        """Scale the gradients of the optimizer's parameters."""
        params = [held_by(param) for param in opt.target.params(False) if param.grad is not None]
        if not params:
            return
        grads = [constant_variable(param.grad) for param in params]
        rate = called_with(backprop_mode(False), self._rate, grads)
        for param in params:
            change_gradient(param, functools.partial(_scaled, _as_factor(rate, param).array))

    def gradients(self, ws: Sequence[Variable], gs: Sequence[Variable], t: Any) -> list[Variable]:
        """Return the gradients `gs`, scaled: the function form."""
        rate = self._rate(gs)
        found = []
        for w, g in zip(ws, gs, strict=True):
            found.append(in_wide(w._node.spec, functools.partial(_scaled, _as_factor(rate, w)))(array_api, w, g))
        return found

    def _rate(self, gs: Sequence[Variable]) -> Variable:
        """Return the factor of the gradients; sizes and squares are computed on their devices."""
        first = gs[0].device
        scale = _scale([_at(first, _largest(g)) for g in gs])
        squares = [_at(first, _square(g, _as_factor(scale, g))) for g in gs]
        norm, limit = array_api.sqrt(functools.reduce(operator.add, squares)), self.threshold / scale
        return array_api.where(norm > limit, limit / norm, 1.0)


def exponential_decay_noise(xp: Namespace, shape: Shape, dtype: Dtype, hook: Any, opt: Any) -> Array:
    """Return normal noise on the current device whose variance falls: ``eta / (1 + opt.t) ** 0.55``."""
    return random.normal(shape, dtype) * (hook.eta**0.5 * (1 + opt.t) ** -0.275)


class GradientNoise:
    """Adds noise to the gradients (Neelakantan et al., arXiv:1511.06807, 2015), drawn from `xpgrad.random`.

    Parameters
    ----------
    eta : float
        Scale of the variance.
    noise_func : callable
        ``noise_func(xp, shape, dtype, hook, rule)`` returns the noise, on the current device. By default its variance
        is ``eta / (1 + t) ** 0.55``.
    """

    name = "GradientNoise"
    call_for_each_param = True
    timing = "pre"
    priority = 0

    def __init__(self, eta: float, noise_func: Callable[..., Array] = exponential_decay_noise) -> None:
        self.eta, self.noise_func = eta, noise_func

    def __call__(self, rule: Any, param: Parameter) -> None:
        """Add noise to the gradient of a parameter."""
        if param._array is None or param.grad is None:
            return
        with using_device(param.device):
            noise = self.noise_func(param.xp, param.shape, param.dtype, self, rule)
        noise = constant_variable(param.device.backend.restore(noise))
        added = constant_variable(param.grad) + array_api.astype(noise, param.dtype)
        param.grad = added.array

    def gradients(self, ws: Sequence[Variable], gs: Sequence[Variable], t: Any) -> list[Variable]:
        """Return the gradients `gs` with noise: the function form."""
        rule, found = types.SimpleNamespace(t=t), []
        for g in gs:
            with using_device(g.device):
                noise = self.noise_func(g.xp, g.shape, g.dtype, self, rule)
            found.append(g + as_variable(noise if isinstance(noise, Variable) else g.device.backend.restore(noise)))
        return found


def _scaled(factor: Array, xp: Namespace, w: Array, g: Array) -> Array:
    g *= factor
    return g


def _norm(x: Variable) -> Variable:
    """Return the square root of the sum of the squares of all elements, in float32 for half precision."""
    scale = _scale([_largest(x)])
    return scale * array_api.sqrt(_square(x, scale))


def _largest(x: Variable) -> Variable:
    """Return the largest modulus, in float32 for half precision."""
    return _as_factor(array_api.max(array_api.abs(x)) if x.size else array_api.sum(array_api.abs(x)), x)


def _scale(sizes: Sequence[Variable]) -> Variable:
    """Return the largest of numbers, or 1 if it is 0, infinite or NaN; dividing by it avoids overflow in squares."""
    largest = functools.reduce(array_api.maximum, sizes)
    return array_api.where((largest > 0) & array_api.isfinite(largest), largest, 1.0)


def _square(x: Variable, scale: Variable) -> Variable:
    """Return the sum of the squares of all elements, each divided by `scale`, in float32 for half precision."""
    spec = x._node.spec
    flat = array_api.reshape(array_api.astype(x, spec.wide) if spec.half else x, (-1,)) / scale
    return array_api.real(array_api.vecdot(flat, flat)) if spec.complex else array_api.vecdot(flat, flat)


def _as_factor(x: Variable, like: Variable) -> Variable:
    """Return a number on the device of `like`, in the dtype of its real and imaginary parts, or float32."""
    return array_api.astype(_at(like.device, x), real_spec(like._node.spec).dtype, copy=False)


def _at(device: Device, x: Variable) -> Variable:
    """Return a number on a device."""
    return x if x.device == device else copying.copy(x, device)


def _array_of(function: Callable[..., Any], *args: Any) -> Any:
    """Return the array of the result of a function of constant Variables, without recording a graph."""
    found = called_with(backprop_mode(False), function, *args)
    return found.array if isinstance(found, Variable) else found


MAX_FLOAT16 = 65504.0
"""The largest factor: the largest number of float16."""


class LossScale:
    """The factor of the loss, fixed or dynamic.

    Attributes
    ----------
    value : float
    interval : int or None
        Number of consecutive good steps after which a dynamic factor doubles; None for a fixed factor.
    good : int
        Number of good steps since it last changed.
    """

    def __init__(self, value: float, interval: int | None = None) -> None:
        if not value > 0:
            raise ValueError(f"loss_scaling: scale must be positive, got {value}")
        if interval is not None and interval < 1:
            raise ValueError(f"loss_scaling: interval must be at least 1, got {interval}")
        self.value, self.interval, self.good = float(value), interval, 0

    def after(self, finite: bool) -> None:
        """Adapt a dynamic factor to a step whose gradients were finite, or not."""
        if self.interval is None:
            return
        if not finite:
            self.value, self.good = max(1.0, self.value / 2), 0
            return
        self.good += 1
        if self.good >= self.interval:
            self.value, self.good = min(MAX_FLOAT16, self.value * 2), 0


def finite(params: Sequence[Parameter]) -> list[Array]:
    """Return for each device whether no gradient there has an infinite element or NaN: 0-d boolean arrays."""
    found: dict[Any, Variable] = {}
    for param in params:
        grad = param.grad
        if grad is not None:
            g = constant_variable(grad)
            flag = array_api.all(array_api.isfinite(g))
            found[g.device] = array_api.logical_and(found[g.device], flag) if g.device in found else flag
    return [flag.array for flag in found.values()]
