"""Distributions whose samples on NumPy are drawn as in Chainer, so that ``np.random.seed`` decides the same numbers.

Samples within `compile` and other transformations are drawn from the streams of `xpgrad.random`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad import Variable, distributions
from xpgrad.backend.levels import around
from xpgrad.backend.plugins import plugins


def is_drawn_by_numpy(*xs: Any) -> bool:
    """Return whether all arrays are on NumPy, outside of all transformations."""
    return around() is None and all(plugins.backend_of(x) is plugins.host for x in xs)


class _Drawn(distributions.Distribution):
    """Base of distributions with a function of NumPy that draws samples."""

    _given_name: str

    def _draw(self, p: Any, size: tuple[int, ...]) -> Any:
        raise NotImplementedError

    def sample_n(self, n: int) -> Variable:
        """Return `n` samples, along the first axis."""
        p = getattr(self, self._given_name).array
        if not is_drawn_by_numpy(p):
            return super().sample_n(n)
        return Variable(self._draw(p, (n, *self.batch_shape)), requires_grad=False)


def _categories(p: Any, size: tuple[int, ...]) -> Any:
    rows = [np.random.choice(row.size, size[:1], p=row) for row in p.reshape(-1, p.shape[-1])]
    return np.stack(rows, axis=1).reshape(size)


class Bernoulli(_Drawn, distributions.Bernoulli):
    """The Bernoulli distribution; see `xpgrad.distributions.Bernoulli`."""

    _given_name = "p"

    def _draw(self, p: Any, size: tuple[int, ...]) -> Any:
        return np.random.binomial(1, p, size)


class Categorical(_Drawn, distributions.Categorical):
    """The categorical distribution; see `xpgrad.distributions.Categorical`."""

    _given_name = "p"

    def _draw(self, p: Any, size: tuple[int, ...]) -> Any:
        return _categories(p, size)


class OneHotCategorical(_Drawn, distributions.OneHotCategorical):
    """The categorical distribution of one-hot vectors; see `xpgrad.distributions.OneHotCategorical`."""

    _given_name = "p"

    def _draw(self, p: Any, size: tuple[int, ...]) -> Any:
        return np.eye(p.shape[-1], dtype=p.dtype)[_categories(p, size)]


class Geometric(_Drawn, distributions.Geometric):
    """The geometric distribution; see `xpgrad.distributions.Geometric`."""

    _given_name = "p"

    def _draw(self, p: Any, size: tuple[int, ...]) -> Any:
        return np.random.geometric(p, size).astype(p.dtype)


class Poisson(_Drawn, distributions.Poisson):
    """The Poisson distribution; see `xpgrad.distributions.Poisson`."""

    _given_name = "lam"

    def _draw(self, p: Any, size: tuple[int, ...]) -> Any:
        return np.random.poisson(p, size).astype(np.float32)


def _noise(draw: Callable[[Any], Any], n: int, *parameters: Variable) -> Any:
    """Return standard samples for parameters on NumPy, otherwise None."""
    if not is_drawn_by_numpy(*(x.array for x in parameters)):
        return None
    shape = np.broadcast_shapes(*(x.shape for x in parameters))
    return draw((n, *shape)).astype(parameters[0].dtype)


class Exponential(distributions.Exponential):
    """The exponential distribution; see `xpgrad.distributions.Exponential`."""

    def sample_n(self, n: int) -> Variable:
        """Return `n` samples, along the first axis."""
        noise = _noise(np.random.standard_exponential, n, self.lam)
        return super().sample_n(n) if noise is None else noise / self.lam


class Cauchy(distributions.Cauchy):
    """The Cauchy distribution; see `xpgrad.distributions.Cauchy`."""

    def sample_n(self, n: int) -> Variable:
        """Return `n` samples, along the first axis."""
        noise = _noise(np.random.standard_cauchy, n, self.loc, self.scale)
        return super().sample_n(n) if noise is None else self.scale * noise + self.loc


class Gumbel(distributions.Gumbel):
    """The Gumbel distribution; see `xpgrad.distributions.Gumbel`."""

    def sample_n(self, n: int) -> Variable:
        """Return `n` samples, along the first axis."""
        noise = _noise(standard_gumbel, n, self.loc, self.scale)
        return super().sample_n(n) if noise is None else self.scale * noise + self.loc


def standard_gumbel(size: tuple[int, ...]) -> Any:
    """Return samples of the standard Gumbel distribution."""
    return np.random.gumbel(size=size)
