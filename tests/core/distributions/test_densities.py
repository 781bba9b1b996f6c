"""Densities, distribution functions, quantiles and moments, compared with SciPy."""

import math
import warnings

import numpy as np
import pytest
from scipy import stats
from tests.core.distributions.cases import LAWS, UNIVARIATE, Law

from xpgrad import distributions as D
from xpgrad.transforms import grad

named = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
of_numbers = pytest.mark.parametrize("law", UNIVARIATE, ids=lambda law: law.name)
SCIPY = {
    "cdf": "cdf", "survival_function": "sf", "log_cdf": "logcdf", "log_survival_function": "logsf", "icdf": "ppf",
}  # fmt: skip


def close(actual, expected, rtol=1e-9) -> None:
    np.testing.assert_allclose(actual.array, expected, rtol=rtol, atol=1e-300)


@named
def test_log_prob_and_prob(law: Law) -> None:
    d, x = law.make(*map(np.asarray, law.parameters)), np.asarray(law.points)
    columns = x.T if law.name == "Dirichlet" else x
    expected = (law.exact.logpmf if law.discrete else law.exact.logpdf)(columns)
    close(d.log_prob(x), expected)
    close(d.prob(x), np.exp(expected))
    with np.errstate(over="ignore"):
        close(d.perplexity(x), np.exp(-expected))


@pytest.mark.parametrize("name", SCIPY)
@of_numbers
def test_tails_and_quantiles(law: Law, name: str) -> None:
    d = law.make(*law.parameters)
    x = np.asarray([1e-9, 0.1, 0.5, 0.8, 1 - 1e-7]) if name == "icdf" else np.asarray(law.points + list(law.outside))
    with np.errstate(divide="ignore"):
        close(getattr(d, name)(x), getattr(law.exact, SCIPY[name])(x), 1e-6 if law.name in ("beta", "F") else 1e-8)


@pytest.mark.parametrize("name", ["mean", "variance", "entropy", "stddev"])
@named
def test_moments(law: Law, name: str) -> None:
    d = law.make(*law.parameters) if law in UNIVARIATE else law.make(*map(np.asarray, law.parameters))
    if name in law.lacking or (name == "stddev" and "variance" in law.lacking):
        return
    exact = getattr(law.exact, {"variance": "var", "stddev": "std"}.get(name, name), None)
    exact = np.sqrt(law.exact.var()) if exact is None else exact
    close(getattr(d, name), exact() if callable(exact) else exact)


@of_numbers
def test_density_is_0_outside_of_the_support_and_gradients_are_not_nan(law: Law) -> None:
    for x in law.outside:
        parameters = tuple(map(np.asarray, law.parameters))
        assert float(law.make(*parameters).log_prob(np.asarray(x)).array) == -math.inf
        f = grad(lambda *a, x=x: law.make(*a).log_prob(np.asarray(x)), tuple(range(len(parameters))))
        assert all(float(g) == 0 for g in f(*parameters))


@pytest.mark.parametrize(
    ("d", "mode"),
    [
        (D.Beta(3.0, 2.0), 2 / 3), (D.Beta(0.5, 2.0), 0.0), (D.Gamma(3.0, 2.0), 4.0), (D.Gamma(0.5, 2.0), 0.0),
        (D.LogNormal(1.0, 0.5), math.exp(0.75)), (D.Pareto(2.0, 3.0), 2.0), (D.Poisson(3.5), 3.0),
        (D.Binomial(10, 0.42), 4.0), (D.Bernoulli(0.7), 1.0), (D.FisherSnedecor(4.0, 6.0), 0.375),
        (D.Laplace(2.0, 3.0), 2.0), (D.Cauchy(2.0, 3.0), 2.0), (D.StudentT(3.0, 2.0, 4.0), 2.0),
        (D.Chisquare(5.0), 3.0), (D.Geometric(0.3), 1.0), (D.Categorical(np.asarray([0.2, 0.5, 0.3])), 1),
    ],
)  # fmt: skip
def test_mode(d: D.Distribution, mode: float) -> None:
    close(d.mode, mode)


def test_moments_that_do_not_exist() -> None:
    with pytest.warns(RuntimeWarning, match="Mean of the Cauchy"):
        assert math.isnan(D.Cauchy(0.0, 1.0).mean.array)
    with pytest.warns(RuntimeWarning, match="Variance of the Cauchy"):
        assert math.isnan(D.Cauchy(0.0, 1.0).variance.array)
    assert D.Pareto(1.0, 0.9).mean.array == D.Pareto(1.0, 1.9).variance.array == math.inf
    assert math.isnan(D.StudentT(0.9).mean.array)
    assert D.StudentT(1.9).variance.array == D.FisherSnedecor(2.0, 1.0).mean.array == math.inf


def test_parameters_keep_their_dtype_and_integers_become_floating_point() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        single = D.Normal(np.zeros(3, np.float32), 1.0)
        half = D.Gamma(np.asarray([2.0, 300.0], np.float16), 1.0)
    assert single.log_prob(np.arange(3)).dtype == single.sample(2).dtype == np.float32
    assert half.log_prob(half.sample()).dtype == half.sample().dtype == np.float16
    close(
        half.log_prob(np.asarray([1.0, 250.0], np.float16)), stats.gamma([2.0, 300.0]).logpdf([1.0, 250.0]), rtol=1e-3
    )
    assert D.Poisson(np.asarray([1, 2])).lam.dtype == np.float64


def test_shapes_of_batches_of_distributions() -> None:
    d = D.Normal(np.zeros((2, 1)), np.ones(3))
    assert (d.batch_shape, d.event_shape) == ((2, 3), ())
    assert (d.sample(4).shape, d.sample((5, 4)).shape) == ((4, 2, 3), (5, 4, 2, 3))
    assert d.mean.shape == d.entropy.shape == d.variance.shape == (2, 3)
    assert repr(D.Dirichlet(np.ones((2, 3)))) == "Dirichlet(batch_shape=(2,), event_shape=(3,))"
    assert D.Normal(0.0, 1.0).xp is np
    assert list(D.Uniform(loc=0.0, scale=1.0).params) == ["loc", "scale"]


@pytest.mark.parametrize("case", ["neither", "both"])
def test_parameters_that_are_given_twice_or_not_at_all(case: str) -> None:
    given = {} if case == "neither" else None
    p = np.asarray([0.5, 0.5])
    for make, both in (
        (D.Bernoulli, {"p": p, "logit": p}),
        (D.Categorical, {"p": p, "logit": p}),
        (lambda **k: D.Normal(p, **k), {"scale": p, "log_scale": p}),
        (D.Uniform, {"low": p, "high": p, "loc": p, "scale": p}),
    ):
        with pytest.raises(ValueError, match="expected either"):
            make(**(both if given is None else given))
    with pytest.raises(ValueError, match="scale_tril"):
        D.MultivariateNormal(p)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_bernoulli_of_points_between_0_and_1() -> None:
    x = np.asarray([0.2, 0.7])
    close(D.Bernoulli(logit=0.5).log_prob(x), x * 0.5 - np.log1p(np.exp(0.5)))
    close(D.Bernoulli(1.0).log_prob(x), np.log(x))
    close(D.Bernoulli(0.0).log_prob(x), np.log1p(-x))
    checked = D.Bernoulli(0.3, binary_check=True)
    assert np.all(checked.log_prob(x).array == -math.inf)
    assert np.all(checked.prob(x).array == 0)


def test_categorical_of_logits_and_of_points_outside() -> None:
    logit = np.asarray([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]])
    d = D.Categorical(logit=logit)
    close(d.p, np.exp(logit) / np.exp(logit).sum(-1, keepdims=True))
    x = np.asarray([[0, 1], [2, 2], [3, -1]])
    expected = d.log_p.array[[[0, 1], [0, 1]], x[:2]]
    close(d.log_prob(x), np.concatenate([expected, np.full((1, 2), -math.inf)]))
    close(d.entropy, -(d.p.array * d.log_p.array).sum(-1))


def test_points_of_finite_supports() -> None:
    p = np.asarray([[0.2, 0.8], [0.5, 0.5]])
    np.testing.assert_array_equal(D.Bernoulli(p).enumerate_support().array, [np.zeros((2, 2)), np.ones((2, 2))])
    np.testing.assert_array_equal(D.Categorical(p).enumerate_support().array, [[0, 0], [1, 1]])
    np.testing.assert_array_equal(D.OneHotCategorical(p).enumerate_support().array, [[[1, 0]] * 2, [[0, 1]] * 2])
    for d in (D.Bernoulli(p), D.Categorical(p), D.OneHotCategorical(p)):
        close(d.prob(d.enumerate_support()).sum(axis=0), np.ones(d.batch_shape))
    with pytest.raises(NotImplementedError, match="Normal has no enumerate_support"):
        D.Normal(0.0, 1.0).enumerate_support()
    with pytest.raises(NotImplementedError, match="Poisson: there is no formula of its entropy"):
        _ = D.Poisson(1.0).entropy
