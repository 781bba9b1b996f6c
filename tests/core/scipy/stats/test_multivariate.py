"""Distributions of vectors and density estimates, compared with SciPy."""

import numpy as np
import pytest
import scipy.stats

from xpgrad import array_api as xp
from xpgrad.errors import ShapeError
from xpgrad.scipy import stats
from xpgrad.transforms import grad

RNG = np.random.default_rng(3)
COV = np.asarray([[2.0, 0.3], [0.3, 0.5]])


@pytest.mark.parametrize(
    ("x", "mean", "cov"),
    [
        (RNG.normal(size=(4, 2)), np.asarray([0.5, -1.0]), COV),
        (RNG.normal(size=(3, 4, 2)), None, COV),
        (RNG.normal(size=2), np.asarray([0.5, -1.0]), 1.7),
        (RNG.normal(size=2), np.asarray([0.5, -1.0]), np.asarray([0.3, 2.0])),
        (RNG.normal(size=5), None, 2.0),
    ],
)
def test_normal_vectors(x, mean, cov) -> None:
    exact = scipy.stats.multivariate_normal
    np.testing.assert_allclose(stats.multivariate_normal.logpdf(x, mean, cov).array, exact.logpdf(x, mean, cov))
    np.testing.assert_allclose(stats.multivariate_normal.pdf(x, mean, cov).array, exact.pdf(x, mean, cov))
    np.testing.assert_allclose(stats.multivariate_normal.entropy(mean, cov).array, exact.entropy(mean, cov))


def test_gradient_by_the_covariance_is_symmetric_and_right() -> None:
    x = RNG.normal(size=(4, 2))
    gradient = np.asarray(grad(lambda cov: xp.sum(stats.multivariate_normal.logpdf(x, None, cov)))(COV))
    inverse = np.linalg.inv(COV)
    np.testing.assert_allclose(gradient, 0.5 * (inverse @ x.T @ x @ inverse - 4 * inverse))


def test_probabilities_and_counts() -> None:
    alpha, x = np.asarray([0.8, 2.0, 3.0]), RNG.dirichlet([1, 1, 1], 4).T
    np.testing.assert_allclose(stats.dirichlet.logpdf(x, alpha).array, scipy.stats.dirichlet.logpdf(x, alpha))
    np.testing.assert_allclose(stats.dirichlet.pdf(x[:, 0], alpha).array, scipy.stats.dirichlet.pdf(x[:, 0], alpha))
    counts, p = np.asarray([[1, 2, 3], [0, 6, 0], [1, 2, 2], [-1, 3, 4], [1.5, 2, 2.5]]), np.asarray([0.2, 0.3, 0.5])
    np.testing.assert_allclose(
        stats.multinomial.logpmf(counts, 6, p).array, scipy.stats.multinomial.logpmf(counts, 6, p)
    )
    np.testing.assert_allclose(stats.multinomial.pmf(counts, 6, p).array, scipy.stats.multinomial.pmf(counts, 6, p))


@pytest.mark.parametrize("bandwidth", [None, "scott", "silverman", 0.4, lambda kde: 2 / kde.d])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(30,), (2, 30)])
def test_density_estimates(shape, weighted, bandwidth) -> None:
    data, points = RNG.normal(size=shape), RNG.normal(size=(*shape[:-1], 7))
    weights = RNG.uniform(0.2, 1, 30) if weighted else None
    own, exact = (kde(data, bandwidth, weights) for kde in (stats.gaussian_kde, scipy.stats.gaussian_kde))
    np.testing.assert_allclose(own(points).array, exact(points))
    np.testing.assert_allclose(own.logpdf(points).array, exact.logpdf(points))


def test_arguments_that_do_not_fit_raise() -> None:
    data = RNG.normal(size=12)
    with pytest.raises(ShapeError, match="as mean has length 3"):
        stats.multivariate_normal.logpdf(np.zeros(3), np.zeros(3), COV)
    with pytest.raises(ValueError, match="got 'other'"):
        stats.gaussian_kde(data, "other")
    with pytest.raises(ShapeError, match=r"gaussian_kde: expected points of shape \(1, m\), got \(3, 2\)"):
        stats.gaussian_kde(data)(np.ones((3, 2)))
    with pytest.raises(ShapeError, match="expected at least two points"):
        stats.gaussian_kde(data[..., :1])
