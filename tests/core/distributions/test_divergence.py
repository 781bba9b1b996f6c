"""Divergences against integrals and sums, their registry, and independent events."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from xpgrad import distributions as D

P, Q = np.asarray([0.2, 0.3, 0.5]), np.asarray([0.6, 0.1, 0.3])
PAIRS = [
    (D.Beta(1.5, 2.0), D.Beta(3.0, 0.8), (0, 1)),
    (D.Cauchy(0.3, 1.5), D.Cauchy(-1.0, 0.5), (-np.inf, np.inf)),
    (D.Chisquare(3.0), D.Chisquare(5.5), (0, np.inf)),
    (D.Exponential(0.5), D.Exponential(2.0), (0, np.inf)),
    (D.Gamma(1.5, 2.0), D.Gamma(3.0, 0.8), (0, np.inf)),
    (D.Gumbel(0.5, 2.0), D.Gumbel(1.0, 3.0), (-10, 60)),
    (D.Laplace(0.5, 2.0), D.Laplace(1.0, 0.8), (-60, 60)),
    (D.LogNormal(0.5, 0.4), D.LogNormal(0.1, 0.8), (0, 60)),
    (D.Normal(0.5, 2.0), D.Normal(1.0, 0.8), (-30, 30)),
    (D.Normal(0.5, log_scale=0.1), D.Normal(1.0, 0.8), (-30, 30)),
    (D.Pareto(2.0, 3.0), D.Pareto(1.0, 1.5), (2, np.inf)),
    (D.Uniform(low=0.0, high=1.0), D.Uniform(loc=-1.0, scale=3.0), (0, 1)),
    (D.Bernoulli(0.3), D.Bernoulli(logit=0.9), 2),
    (D.Geometric(0.3), D.Geometric(0.6), 200),
    (D.Poisson(3.0), D.Poisson(1.7), 80),
    (D.Categorical(P), D.Categorical(logit=np.log(Q)), 3),
]


@pytest.mark.parametrize(("first", "second", "over"), PAIRS, ids=lambda d: type(d).__name__)
def test_divergence_is_the_mean_of_the_log_ratio(first: D.Distribution, second: D.Distribution, over) -> None:
    def integrand(x):
        x = np.asarray(x)
        return (first.prob(x) * (first.log_prob(x) - second.log_prob(x))).array

    if isinstance(over, tuple):
        expected = integrate.quad(lambda x: float(integrand(x)), *over, epsabs=1e-9, limit=200)[0]
    else:
        x = np.arange(over) if not isinstance(first, D.Geometric) else np.arange(1, over)
        expected = integrand(x).sum()
    actual = D.kl_divergence(first, second)
    np.testing.assert_allclose(actual.array, expected, rtol=1e-6)
    if not isinstance(first, D.Poisson):
        np.testing.assert_allclose(D.cross_entropy(first, second).array, first.entropy.array + expected, rtol=1e-6)
    np.testing.assert_allclose(D.kl_divergence(first, first).array, 0, atol=1e-12)


def test_divergence_of_vectors() -> None:
    a, b = np.asarray([[1.0, 0.0], [0.5, 2.0]]), np.asarray([[0.7, 0.0], [-0.2, 1.0]])
    first = D.MultivariateNormal(np.asarray([0.1, 0.2]), scale_tril=a)
    second = D.MultivariateNormal(np.asarray([1.0, -0.5]), scale_tril=b)
    inverse, shift = np.linalg.inv(b @ b.T), np.asarray([0.9, -0.7])
    logdet = np.log(np.linalg.det(b @ b.T) / np.linalg.det(a @ a.T))
    expected = 0.5 * (np.trace(inverse @ a @ a.T) + shift @ inverse @ shift - 2 + logdet)
    np.testing.assert_allclose(D.kl_divergence(first, second).array, expected)
    np.testing.assert_allclose(
        D.kl_divergence(D.Dirichlet(np.asarray([1.5, 2.0])), D.Dirichlet(np.asarray([3.0, 0.8]))).array,
        D.kl_divergence(D.Beta(1.5, 2.0), D.Beta(3.0, 0.8)).array,
    )
    np.testing.assert_allclose(
        D.kl_divergence(D.OneHotCategorical(P), D.OneHotCategorical(Q)).array, (P * np.log(P / Q)).sum()
    )


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_divergence_is_infinite_where_the_second_support_is_smaller() -> None:
    assert D.kl_divergence(D.Pareto(1.0, 1.5), D.Pareto(2.0, 3.0)).array == math.inf
    assert D.kl_divergence(D.Uniform(low=0.0, high=2.0), D.Uniform(low=0.0, high=1.0)).array == math.inf
    assert D.kl_divergence(D.Bernoulli(0.3), D.Bernoulli(1.0)).array == math.inf
    assert D.kl_divergence(D.Bernoulli(0.0), D.Bernoulli(0.0)).array == 0


def test_formulas_apply_to_subclasses_and_unsupported_pairs_raise() -> None:
    class Noise(D.Normal):
        pass

    np.testing.assert_allclose(D.kl_divergence(Noise(0.0, 1.0), D.Normal(1.0, 1.0)).array, 0.5)
    with pytest.raises(KeyError, match="no formula for Normal and Laplace; register one"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.Laplace(0.0, 1.0))

    @D.register_kl(Noise, Noise)
    def own(first, second):
        return first.loc - second.loc

    assert D.kl_divergence(Noise(3.0, 1.0), Noise(1.0, 1.0)).array == 2


def test_independent_events() -> None:
    loc, scale = np.asarray([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]), np.asarray([[1.0, 2.0, 0.5]])
    d = D.Independent(D.Normal(loc, scale))
    assert (d.batch_shape, d.event_shape, d.reinterpreted_batch_ndims) == ((2,), (3,), 1)
    x = loc + 0.3
    exact = [stats.multivariate_normal(m, np.diag(scale[0] ** 2)) for m in loc]
    np.testing.assert_allclose(d.log_prob(x).array, [e.logpdf(v) for e, v in zip(exact, x, strict=True)])
    np.testing.assert_allclose(d.prob(x).array, np.exp(d.log_prob(x).array))
    np.testing.assert_allclose(d.entropy.array, [e.entropy() for e in exact])
    np.testing.assert_allclose(d.covariance.array, [np.diag(scale[0] ** 2)] * 2)
    np.testing.assert_allclose(d.cdf(x).array, stats.norm.cdf(x, loc, scale).prod(-1))
    other = D.Independent(D.Normal(loc + 1.0, scale))
    np.testing.assert_allclose(D.kl_divergence(d, other).array, [(0.5 / scale**2).sum()] * 2)
    assert d.sample(4).shape == (4, 2, 3)
    none = D.Independent(D.Normal(loc, scale), 0)
    assert none.log_prob(x).shape == none.batch_shape == (2, 3)
    with pytest.raises(ValueError, match="pass at most 2"):
        D.Independent(D.Normal(loc, scale), 3)
    with pytest.raises(RuntimeError, match="no inverse"):
        d.icdf(0.5)
    with pytest.raises(ValueError, match="one event_shape"):
        D.kl_divergence(d, none)


def test_independent_vectors_have_covariances_in_blocks() -> None:
    factor = np.asarray([[[1.0, 0.0], [0.5, 2.0]], [[0.7, 0.0], [-0.2, 1.0]]])
    d = D.Independent(D.MultivariateNormal(np.zeros((2, 2)), scale_tril=factor), 1)
    assert d.event_shape == (2, 2)
    expected = np.zeros((4, 4))
    expected[:2, :2], expected[2:, 2:] = factor[0] @ factor[0].T, factor[1] @ factor[1].T
    np.testing.assert_allclose(d.covariance.array, expected)
