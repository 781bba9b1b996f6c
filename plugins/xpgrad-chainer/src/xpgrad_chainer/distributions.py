"""Distributions whose samples on NumPy are drawn as in Chainer, so that ``np.random.seed`` decides the same numbers.

Within `compile` and other transformations this holds for continuous distributions; samples of discrete ones are drawn
from the streams of `xpgrad.random` there. With `chainer.config.compile`, steps with discrete samples are no programs.
"""

from typing import Any

import numpy as np

from xpgrad import Variable, array_api, config, distributions
from xpgrad.backend import random
from xpgrad.backend.levels import around
from xpgrad.backend.plugins import plugins


class _Drawn(distributions.Distribution):
    """Base of distributions with a function of NumPy that draws samples."""

    _given_name: str

    def _draw(self, p: Any, size: tuple[int, ...]) -> Any:
        raise NotImplementedError

    def sample_n(self, n: int) -> Variable:
        """Return `n` samples, along the first axis."""
        p, level = getattr(self, self._given_name).array, around()
        if level is not None and getattr(config, "compile", False):
            level.note_outside("NumPy drew samples of a discrete distribution", "set chainer.config.compile = False")
            p, level = getattr(p, "values", p), None  # of a call that becomes no program
        if level is not None or plugins.backend_of(p) is not plugins.host:
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


def _stream_spec(x: Variable, shape: tuple[int, ...]) -> Any:
    """Return a spec of float64 numbers of NumPy's stream for a Variable on NumPy, otherwise None."""
    spec, backend = x.node.spec, x.node.spec.backend
    while backend.base is not None:
        backend = backend.base
    return spec.backend.spec_for(shape, np.dtype(np.float64), spec.device) if backend is plugins.host else None


def _shape(n: int, *parameters: Variable) -> tuple[int, ...]:
    return n, *np.broadcast_shapes(*(x.shape for x in parameters))


def _exponential(spec: Any) -> Any:
    """Return what ``np.random.standard_exponential`` returns."""
    return -array_api.log(1 - Variable(random.uniform_like(spec), requires_grad=False))


def gumbel(x: Variable, shape: tuple[int, ...]) -> Any:
    """Return what ``np.random.gumbel`` returns, in the dtype of a Variable on NumPy, otherwise None."""
    spec = _stream_spec(x, shape)
    return None if spec is None else array_api.astype(-array_api.log(_exponential(spec)), x.dtype)


class Exponential(distributions.Exponential):
    """The exponential distribution; see `xpgrad.distributions.Exponential`."""

    def sample_n(self, n: int) -> Variable:
        """Return `n` samples, along the first axis."""
        spec = _stream_spec(self.lam, _shape(n, self.lam))
        if spec is None:
            return super().sample_n(n)
        return array_api.astype(_exponential(spec), self.lam.dtype) / self.lam


class Cauchy(distributions.Cauchy):
    """The Cauchy distribution; see `xpgrad.distributions.Cauchy`."""

    def sample_n(self, n: int) -> Variable:
        """Return `n` samples, along the first axis."""
        spec = _stream_spec(self.loc, (*_shape(n, self.loc, self.scale), 2))
        if spec is None:
            return super().sample_n(n)
        normal = Variable(random.normal_like(spec), requires_grad=False)
        return self.scale * array_api.astype(normal[..., 0] / normal[..., 1], self.loc.dtype) + self.loc


class Gumbel(distributions.Gumbel):
    """The Gumbel distribution; see `xpgrad.distributions.Gumbel`."""

    def sample_n(self, n: int) -> Variable:
        """Return `n` samples, along the first axis."""
        noise = gumbel(self.loc, _shape(n, self.loc, self.scale))
        return super().sample_n(n) if noise is None else self.scale * noise + self.loc
