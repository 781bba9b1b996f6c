"""Random numbers of distributions, from the streams of `xpgrad.random`, with derivatives by parameters."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xpgrad.array_api import astype, broadcast_to, exp, floor, log, log1p, maximum, minimum, reshape, sqrt, where
from xpgrad.backend import random
from xpgrad.backend.device import Device
from xpgrad.backend.levels import around
from xpgrad.backend.spec import Spec
from xpgrad.graph.primitive import elementwise
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.special import gammaln
from xpgrad.special.incomplete_gamma import gamma_density
from xpgrad.transforms.custom import stop_gradient
from xpgrad.types import AnyArray, Array, Dtype, Namespace, Shape

GAMMA_ROUNDS = 6
"""Proposals for each gamma variate, of which at least 95 % are accepted: one in 6e7 is the last proposal."""
COUNT_ROUNDS = 16
"""Proposals for each Poisson or binomial variate, of which at least 75 % are accepted."""
SMALL_MEAN = 10.0
"""Mean of a count up to which it is found by summing probabilities; the rejection methods need at least this."""
MAX_SMALL_COUNT = 48
"""A count of mean `SMALL_MEAN` is larger with probability 1e-17."""


@dataclass(frozen=True)
class Draws:
    """Random numbers of one shape, dtype and device."""

    shape: Shape
    dtype: Dtype
    device: Device

    def uniform(self) -> Variable:
        """Return numbers between 0 and 1, both excluded."""
        drawn = constant_variable(random.uniform(self.shape, self.dtype, self.device))
        return maximum(drawn, float(self.device.backend.finfo(self.dtype).eps) / 4)

    def normal(self) -> Variable:
        """Return standard normal numbers."""
        return constant_variable(random.normal(self.shape, self.dtype, self.device))

    def log_gamma(self, a: Variable) -> Variable:
        """Return logarithms of gamma variates of shape parameter `a`; they do not underflow if `a` is small.

        The derivative by `a` equals the derivative of the quantile function at the sample.

        Notes
        -----
        Samples: G. Marsaglia, W. W. Tsang: A simple method for generating gamma variables, ACM TOMS 26 (2000).
        Derivatives: M. Figurnov, S. Mohamed, A. Mnih: Implicit reparameterization gradients, NeurIPS 2018.
        """
        fixed = stop_gradient(a)
        small = fixed < 1
        d = where(small, fixed + 1, fixed) - 1 / 3
        factor = 1 / sqrt(9 * d)

        def propose(x: Variable, u: Variable) -> tuple[Variable, Variable]:
            root = 1 + factor * x
            positive = root > 0
            log_v = 3 * log(where(positive, root, 1.0))
            return log_v, positive & (log(u) < 0.5 * x * x + d - d * exp(log_v) + d * log_v)

        y = log(d) + _first_accepted((self.normal, self.uniform), propose, GAMMA_ROUNDS)
        return _log_gamma_quantile(a, where(small, y + log(self.uniform()) / fixed, y))

    def poisson(self, mean: Variable) -> Variable:
        """Return Poisson variates, without derivatives.

        Notes
        -----
        W. Hörmann: The transformed rejection method for generating Poisson random variables, Insurance: Mathematics
        and Economics 12 (1993), algorithm PTRS, for means of 10 and more.
        """
        mean = stop_gradient(mean)
        small = mean < SMALL_MEAN
        low, high = where(small, mean, 1.0), where(small, SMALL_MEAN, mean)
        few = _counted(where(small, self.uniform(), 0.0), exp(-low), lambda k: low / (k + 1))
        b = 0.931 + 2.53 * sqrt(high)
        log_high = log(high)

        def log_ratio(k: Variable) -> Variable:
            return k * log_high - high - gammaln(k + 1)

        many = self._transformed_rejection(
            b, 0.02483 * b - 0.059, high + 0.43, log(1.1239 + 1.1328 / (b - 3.4)), log_ratio, math.inf, small
        )
        return where(small, few, many)

    def binomial(self, n: Variable, p: Variable) -> Variable:
        """Return binomial variates, without derivatives.

        Notes
        -----
        W. Hörmann: The generation of binomial random variates, Journal of Statistical Computation and Simulation 46
        (1993), algorithm BTRS, for means of 10 and more.
        """
        n, p = stop_gradient(n), stop_gradient(p)
        swapped = p > 0.5
        p = where(swapped, 1 - p, p)
        small = n * p < SMALL_MEAN
        left, odds = where(small, n, 0.0), p / (1 - p)
        u = where(small, self.uniform(), 0.0)
        few = _counted(u, exp(left * log1p(-p)), lambda k: maximum(left - k, 0.0) * odds / (k + 1))
        trials, chance = where(small, 40.0, n), where(small, 0.5, p)
        deviation = sqrt(trials * chance * (1 - chance))
        b = 1.15 + 2.53 * deviation
        mode = floor((trials + 1) * chance)
        log_odds = log(chance / (1 - chance))
        at_mode = gammaln(mode + 1) + gammaln(trials - mode + 1)

        def log_ratio(k: Variable) -> Variable:
            k = minimum(k, trials)
            return at_mode - gammaln(k + 1) - gammaln(trials - k + 1) + (k - mode) * log_odds

        many = self._transformed_rejection(
            b, 0.0248 * b - 0.0873 + 0.01 * chance, trials * chance + 0.5, log((2.83 + 5.1 / b) * deviation),
            log_ratio, trials, small,
        )  # fmt: skip
        count = where(small, few, many)
        return where(swapped, n - count, count)

    def _transformed_rejection(
        self, b: Variable, a: Variable, centre: Variable, log_factor: Variable,
        log_ratio: Callable[[Variable], Variable], most: Any, skipped: Variable,
    ) -> Variable:  # fmt: skip
        """Return counts that are accepted with a probability proportional to ``exp(log_ratio(count))``.

        Any counts do where `skipped` is true.
        """

        def propose(u: Variable, v: Variable) -> tuple[Variable, Variable]:
            rest = minimum(u, 1 - u)
            k = floor((2 * a / rest + b) * (u - 0.5) + centre)
            valid = (k >= 0) & (k <= most)
            k = where(valid, k, 0.0)
            log_v = log(v) + log_factor - log(a / (rest * rest) + b)
            return k, skipped | (valid & (log_v <= log_ratio(k)))

        return _first_accepted((self.uniform, self.uniform), propose, COUNT_ROUNDS)


def draws_for(shape: Shape, *parameters: Any) -> Draws:
    """Return draws with the dtype and device of the parameters; each batch element of `vmap` has separate draws."""
    specs: list[Spec] = [x.node.spec for x in parameters if isinstance(x, Variable)]
    spec = specs[0]
    device = spec.backend.device_for(spec.device)
    while device.backend.base is not None:
        device = device.backend.base.device_for(device.handle)
    level = around()
    return Draws(shape, spec.wide, device if level is None else level.device(device))


def _first_accepted(
    draws: tuple[Callable[[], Variable], ...], propose: Callable[..., tuple[Variable, Variable]], rounds: int
) -> Variable:
    """Return the first accepted proposal, elementwise, or the last proposal if all are rejected.

    Programs draw the numbers of all rounds, so they are drawn here even if no element needs them.
    """
    value, accepted = propose(*(draw() for draw in draws))
    for _ in range(rounds - 1):
        numbers = [draw() for draw in draws]
        if not none_known_true(~accepted):
            other, also = propose(*numbers)
            value, accepted = where(accepted, value, other), accepted | also
    return value


def none_known_true(condition: Variable) -> bool:
    """Return whether the elements of `condition` are available, and none is true."""
    backend, array = condition.node.spec.backend, condition.array
    return backend.has_values(array) and not backend.is_pending(array) and not backend.any_true(array)


def _counted(u: Variable, first: Variable, ratio: Callable[[int], Variable]) -> Variable:
    """Return the count at which the sum of the probabilities exceeds `u`.

    `ratio(k)` is the probability of ``k + 1`` divided by the probability of `k`.
    """
    probability = total = first
    count = 0 * u
    for k in range(MAX_SMALL_COUNT):
        beyond = u >= total
        if none_known_true(beyond):
            break
        count = count + astype(beyond, u.dtype)
        probability = probability * ratio(k)
        total = total + probability
    return count


def _log_gamma_slope(xp: Namespace, a: Array, y: Array) -> Array:
    """Return the derivative of the logarithm of the quantile with respect to `a`, where it is `y`."""
    far = y < -60  # where the distribution function is only the first term of its power series
    x = xp.exp(xp.where(far, 0.0, y))
    near = -xp.special.gammainc_slope(a, x, n=1) / (x * gamma_density(xp, a, x))
    return xp.where(far, (xp.special.psi(a + 1) - y) / a, near)


@elementwise(a=lambda xp, gy, a, y: gy * _log_gamma_slope(xp, a, y))
def _log_gamma_quantile(xp: Namespace, a: AnyArray, sample: AnyArray, /) -> Array:
    """Values of `sample`, with the derivatives of logarithms of quantiles of the gamma distribution of shape `a`."""
    return xp.broadcast_arrays(sample, a)[0]


def integer_dtype(like: Variable) -> Dtype:
    """Return the default integer dtype of the library of `like`."""
    return like.node.spec.backend.default_dtype("int")


def points(count: int, like: Variable, batch_shape: Shape) -> Variable:
    """Return the integers from 0 to ``count - 1``, of shape ``(count, *batch_shape)``, on the device of `like`."""
    spec = like.node.spec
    xp, device = spec.backend.namespace, spec.device
    index = constant_variable(xp.arange(count, dtype=integer_dtype(like), device=device))
    return broadcast_to(reshape(index, shape=(count, *(1,) * len(batch_shape))), (count, *batch_shape))
