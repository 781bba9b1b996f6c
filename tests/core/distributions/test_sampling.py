"""Moments and distribution functions of samples, and their implicit derivatives."""

import numpy as np
import pytest
from scipy import special, stats
from tests.core.distributions.cases import LAWS, Law

import xpgrad
from xpgrad import Variable
from xpgrad import distributions as D

N = 20_000


@pytest.fixture(autouse=True)
def _seeded() -> None:
    xpgrad.random.seed(11)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_samples_follow_the_distribution(law: Law) -> None:
    d = law.make(*map(np.asarray, law.parameters))
    x = d.sample_n(N).array
    if not law.discrete and not d.event_shape:
        assert stats.kstest(x, law.exact.cdf).pvalue > 1e-4
    if "mean" not in law.lacking:
        error = np.sqrt(np.asarray(np.var(x, axis=0)) / N)
        np.testing.assert_array_less(abs(x.mean(0) - d.mean.array), 5 * error)
    if d.event_shape and "covariance" in vars(type(d)):
        np.testing.assert_allclose(np.cov(x.T), d.covariance.array, rtol=0.06, atol=0.03)


@pytest.mark.parametrize(
    ("d", "exact"),
    [
        (D.Poisson(0.0), stats.poisson(0.0)), (D.Poisson(9.99), stats.poisson(9.99)),
        (D.Poisson(10.0), stats.poisson(10.0)), (D.Poisson(400.0), stats.poisson(400.0)),
        (D.Binomial(5, 1.0), stats.binom(5, 1.0)), (D.Binomial(12, 0.95), stats.binom(12, 0.95)),
        (D.Binomial(30, 0.34), stats.binom(30, 0.34)), (D.Binomial(1000, 0.7), stats.binom(1000, 0.7)),
        (D.Geometric(1.0), stats.geom(1.0)), (D.Geometric(0.02), stats.geom(0.02)),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_counts_have_the_probabilities_of_both_algorithms(d: D.Distribution, exact) -> None:
    x = d.sample_n(N).array
    assert np.all((x >= exact.support()[0]) & (x <= exact.support()[1]) & (x == np.floor(x)))
    levels = np.unique(exact.ppf([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98]))
    share = (x[:, None] <= levels).mean(0)
    expected = exact.cdf(levels)
    np.testing.assert_array_less(abs(share - expected), 5 * np.sqrt(expected * (1 - expected) / N) + 1e-9)


def test_categories_have_their_probabilities() -> None:
    p = np.asarray([[0.1, 0.2, 0.7], [0.0, 1.0, 0.0]])
    x = D.Categorical(p).sample(N).array
    np.testing.assert_allclose([(x == k).mean(0) for k in range(3)], p.T, atol=0.02)
    assert x.dtype == np.int64
    one = D.OneHotCategorical(p).sample((3, 4))
    assert one.shape == (3, 4, 2, 3)
    assert np.all(one.array.sum(-1) == 1)


@pytest.mark.parametrize("a", [1e-3, 0.05, 0.7, 1.0, 3.5, 80.0, 1e5])
def test_derivative_of_a_gamma_variate_agrees_with_its_quantile(a: float) -> None:
    k = Variable(np.asarray(a), requires_grad=True)
    x = D.Gamma(k, 1.0).sample_n(200)
    level = special.gammainc(a, x.array)
    inside = (x.array > 1e-290) & (level > 1e-3) & (level < 1 - 1e-3)
    step = a * 1e-6
    change = (special.gammaincinv(a + step, level) - special.gammaincinv(a - step, level)) / (2 * step)
    derivative = np.asarray([xpgrad.grad([x[i]], [k])[0].array if inside[i] else 0.0 for i in range(0, 200, 10)])
    np.testing.assert_allclose(derivative, np.where(inside, change, 0.0)[::10], rtol=1e-4)


def test_derivatives_of_means_of_samples() -> None:
    a, b = (Variable(np.asarray(v), requires_grad=True) for v in (1.3, 0.6))
    by_a, by_b = xpgrad.grad([D.Beta(a, b).sample_n(N).mean()], [a, b])
    np.testing.assert_allclose(by_a.array, 0.6 / 1.9**2, rtol=0.03)
    np.testing.assert_allclose(by_b.array, -1.3 / 1.9**2, rtol=0.03)
    df = Variable(np.asarray(7.0), requires_grad=True)
    x = D.StudentT(df).sample_n(100_000)
    (by_df,) = xpgrad.grad([(x * x).mean()], [df])
    np.testing.assert_allclose(by_df.array, -2 / 25, rtol=0.15)
    alpha = Variable(np.asarray([0.5, 1.5]), requires_grad=True)
    (by_alpha,) = xpgrad.grad([D.Dirichlet(alpha).sample_n(N)[:, 0].mean()], [alpha])
    np.testing.assert_allclose(by_alpha.array, [1.5 / 4, -0.5 / 4], rtol=0.04)


def test_tiny_shapes_give_finite_samples_and_gradients() -> None:
    alpha = Variable(np.full(3, 1e-4, np.float32), requires_grad=True)
    x = D.Dirichlet(alpha).sample_n(100)
    assert np.all(np.isfinite(x.array))
    np.testing.assert_allclose(x.array.sum(-1), 1, rtol=1e-5)
    (gradient,) = xpgrad.grad([(x[:, 0] * np.float32(1.0)).sum()], [alpha])
    assert np.all(np.isfinite(gradient.array))


def test_seeds_and_sample_shapes() -> None:
    d = D.Gamma(np.asarray([0.5, 3.0]), 1.0)
    xpgrad.random.seed(3)
    first = d.sample((2, 3))
    xpgrad.random.seed(3)
    assert np.all(d.sample((2, 3)).array == first.array)
    assert first.shape == (2, 3, 2)
    assert d.sample(()).shape == (2,)
    assert d.sample(0).shape == (0, 2)
    assert D.Bernoulli(0.5).sample(4).dtype == np.int64
