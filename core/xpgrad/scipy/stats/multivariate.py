"""SciPy's distributions of vectors, and the density estimate of a sample."""

import math
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.boundary import as_bounded, bound_methods
from xpgrad.distributions.categories import Dirichlet
from xpgrad.distributions.distribution import as_parameters
from xpgrad.distributions.normal import MultivariateNormal
from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable
from xpgrad.ops import create_diagonal
from xpgrad.special import logsumexp
from xpgrad.special.entropy import xlogy
from xpgrad.special.gamma_functions import gammaln
from xpgrad.types import AnyArray, Operand

__all__ = ["dirichlet", "gaussian_kde", "multinomial", "multivariate_normal"]


class _MultivariateNormal:
    """Normal distribution of vectors along the last axis, with SciPy's parameters `mean` and `cov`."""

    def logpdf(self, x: AnyArray, mean: AnyArray | None = None, cov: Operand = 1.0) -> Variable:
        """Return the logarithm of the density.

        Parameters
        ----------
        x : Variable or array, shape (..., d)
            Or of any shape, if `d` is 1.
        mean : Variable or array, shape (d,), optional
            By default 0.
        cov : Variable or array, shape (d, d) or (d,), or float
            The covariance matrix, positive definite, its diagonal, or a multiple of the identity.
        """
        x, *parameters = as_parameters("multivariate_normal", x, *([] if mean is None else [mean]), cov)
        law = _normal(parameters[0] if mean is not None else None, parameters[-1], x)
        if law.d == 1 and x.shape[-1:] != (1,):
            x = xpa.expand_dims(x, axis=-1)
        return law.log_prob(x)

    def pdf(self, x: AnyArray, mean: AnyArray | None = None, cov: Operand = 1.0) -> Variable:
        """Return the density; the parameters are as for `logpdf`."""
        return xpa.exp(self.logpdf(x, mean, cov))

    def entropy(self, mean: AnyArray | None = None, cov: Operand = 1.0) -> Variable:
        """Return the entropy, in nats."""
        parameters = as_parameters("multivariate_normal", *([] if mean is None else [mean]), cov)
        return _normal(parameters[0] if mean is not None else None, parameters[-1], None).entropy


def _normal(mean: Variable | None, cov: Variable, x: Variable | None) -> MultivariateNormal:
    if mean is not None:
        d = mean.shape[-1] if mean.ndim else 1
    elif cov.ndim:
        d = cov.shape[-1]
    else:
        d = x.shape[-1] if x is not None and x.ndim > 1 else 1
    if cov.ndim == 2 and cov.shape != (d, d):
        raise ShapeError(
            f"multivariate_normal: expected cov of shape {(d, d)}, as mean has length {d}, got {cov.shape}"
        )
    factor = create_diagonal(xpa.broadcast_to(xpa.sqrt(cov), (d,))) if cov.ndim < 2 else xpa.linalg.cholesky(cov)
    mean = 0 * factor[..., 0] if mean is None else xpa.reshape(mean, (d,))
    return MultivariateNormal(mean, scale_tril=factor)


class _Dirichlet:
    """Dirichlet distribution of vectors of probabilities along the first axis."""

    def logpdf(self, x: AnyArray, alpha: AnyArray) -> Variable:
        """Return the logarithm of the density.

        Parameters
        ----------
        x : Variable or array, shape (K,) or (K, n)
        alpha : Variable or array, shape (K,)
        """
        x, alpha = as_parameters("dirichlet", x, alpha)
        return Dirichlet(alpha).log_prob(xpa.matrix_transpose(x) if x.ndim > 1 else x)

    def pdf(self, x: AnyArray, alpha: AnyArray) -> Variable:
        """Return the density; the parameters are as for `logpdf`."""
        return xpa.exp(self.logpdf(x, alpha))


class _Multinomial:
    """Multinomial distribution of counts along the last axis."""

    def logpmf(self, x: AnyArray, n: Operand, p: AnyArray) -> Variable:
        """Return the logarithm of the probability.

        Parameters
        ----------
        x : Variable or array, shape (..., K)
            Counts; with another sum than `n` the result is -inf.
        n : Variable, array or int
            Number of trials.
        p : Variable or array, shape (..., K)
            Probabilities, with sum 1.
        """
        x, n, p = as_parameters("multinomial", x, n, p)
        inside = (xpa.sum(x, axis=-1) == n) & xpa.all((x >= 0) & (x == xpa.floor(x)), axis=-1)
        return xpa.where(inside, gammaln(n + 1) + xpa.sum(xlogy(x, p) - gammaln(x + 1), axis=-1), -math.inf)

    def pmf(self, x: AnyArray, n: Operand, p: AnyArray) -> Variable:
        """Return the probability; the parameters are as for `logpmf`."""
        return xpa.exp(self.logpmf(x, n, p))


class gaussian_kde:  # noqa: N801 - SciPy's name
    """Kernel density estimate with normal kernels.

    Everything is differentiable by the sample, its weights and the bandwidth.

    Parameters
    ----------
    dataset : Variable or array, shape (n,) or (d, n)
    bw_method : {"scott", "silverman"}, callable, float or Variable, optional
        Factor of the standard deviation, or a rule that computes the factor, from the estimate if it is a function.
    weights : Variable or array, shape (n,), optional
    """

    def __init__(self, dataset: AnyArray, bw_method: Any = None, weights: AnyArray | None = None) -> None:
        data, *given = as_parameters("gaussian_kde", dataset, *([] if weights is None else [weights]))
        self.dataset = xpa.expand_dims(data, axis=0) if data.ndim == 1 else data
        self.d, self.n = self.dataset.shape
        if self.n < 2:
            raise ShapeError(f"gaussian_kde: expected at least two points, got a dataset of shape {data.shape}")
        self.weights = given[0] / xpa.sum(given[0]) if given else xpa.full_like(self.dataset[0, :], 1 / self.n)
        self.neff = 1 / xpa.sum(self.weights**2)
        self.factor: Any = bw_method(self) if callable(bw_method) else bw_method
        if bw_method is None or isinstance(bw_method, str):
            if bw_method not in (None, "scott", "silverman"):
                raise ValueError(
                    f"gaussian_kde: expected the rule 'scott' or 'silverman', or a factor, got {bw_method!r}"
                )
            scale = (self.d + 2) / 4 if bw_method == "silverman" else 1.0
            self.factor = (self.neff * scale) ** (-1 / (self.d + 4))
        moved = self.dataset - xpa.sum(self.dataset * self.weights, axis=1, keepdims=True)
        spread = xpa.matmul(moved * self.weights, xpa.matrix_transpose(moved)) / (1 - xpa.sum(self.weights**2))
        self.covariance = spread * self.factor**2

    def logpdf(self, x: AnyArray) -> Variable:
        """Return the logarithm of the density at points of shape (m,) or (d, m)."""
        x, _ = as_parameters("gaussian_kde", x, self.dataset)
        if (x.shape[0] if x.ndim == 2 or self.d > 1 else 1) != self.d:
            raise ShapeError(f"gaussian_kde: expected points of shape ({self.d}, m), got {x.shape}")
        points = xpa.reshape(x, (self.d, -1))
        factor = xpa.linalg.cholesky(self.covariance)
        kernel = MultivariateNormal(0 * factor[..., 0], scale_tril=factor)
        apart = xpa.expand_dims(xpa.matrix_transpose(points), axis=1) - xpa.matrix_transpose(self.dataset)
        return logsumexp(kernel.log_prob(apart) + xpa.log(self.weights), axis=1)

    def pdf(self, x: AnyArray) -> Variable:
        """Return the density at points of shape (m,) or (d, m)."""
        return xpa.exp(self.logpdf(x))

    __call__ = evaluate = pdf


for _kind in _Dirichlet, _Multinomial, _MultivariateNormal, gaussian_kde:
    bound_methods(_kind)
as_bounded(__name__, "gaussian_kde", gaussian_kde)
dirichlet = _Dirichlet()
multinomial = _Multinomial()
multivariate_normal = _MultivariateNormal()
