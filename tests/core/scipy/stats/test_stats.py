"""SciPy's distributions: values, tails, quantiles and moments against SciPy, gradients against finite differences."""

import importlib

import numpy as np
import pytest
import scipy.stats

import xpgrad
from xpgrad import array_api as xp
from xpgrad.scipy import stats
from xpgrad.scipy.stats.univariate import Continuous, Discrete
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import grad, jvp, vmap

SHAPES = {
    "alpha": (3.6,), "beta": (2.3, 0.6), "betaprime": (5.0, 6.0), "bradford": (0.3,), "burr": (10.5, 4.3),
    "burr12": (10.0, 4.0), "chi": (7.8,), "chi2": (5.5,), "dgamma": (1.1,), "dweibull": (2.07,), "erlang": (3.0,),
    "exponnorm": (1.5,), "exponpow": (2.7,), "exponweib": (2.9, 1.95), "f": (29.0, 18.0), "fatiguelife": (2.9,),
    "fisk": (3.1,), "foldcauchy": (4.7,), "foldnorm": (1.95,), "gamma": (2.0,), "genextreme": (-0.1,),
    "genlogistic": (0.4,), "gennorm": (1.3,), "genpareto": (0.1,), "gompertz": (0.95,), "halfgennorm": (0.675,),
    "invgamma": (4.1,), "invgauss": (0.145,), "invweibull": (10.6,), "johnsonsb": (4.3, 3.2), "johnsonsu": (2.55, 2.25),
    "loggamma": (0.41,), "loglaplace": (3.25,), "lognorm": (0.95,), "loguniform": (0.01, 1.25), "lomax": (1.88,),
    "mielke": (10.4, 4.6), "nakagami": (4.97,), "pareto": (2.6,), "powerlaw": (1.66,), "powernorm": (4.45,),
    "rdist": (1.6,), "skewnorm": (4.0,), "t": (2.74,), "triang": (0.16,), "truncexpon": (4.7,), "truncnorm": (0.1, 2.0),
    "weibull_max": (2.87,), "weibull_min": (1.79,), "bernoulli": (0.3,), "betabinom": (5.0, 2.3, 0.63),
    "binom": (5.0, 0.4), "boltzmann": (1.4, 19.0), "dlaplace": (0.8,), "geom": (0.5,), "hypergeom": (20.0, 7.0, 12.0),
    "logser": (0.6,), "nbinom": (5.5, 0.5), "planck": (0.51,), "poisson": (0.6,), "randint": (7.0, 31.0),
    "skellam": (15.0, 8.0), "yulesimon": (11.0,), "zipf": (6.5,),
}  # fmt: skip
COUNTS = {"betabinom": 1, "binom": 1, "boltzmann": 2, "hypergeom": 3, "randint": 2}
"""Discrete distributions whose first shapes, or all, are integers, which have no derivatives."""
CONTINUOUS = [name for name in stats.__all__ if isinstance(getattr(stats, name), Continuous)]
DISCRETE = [name for name in stats.__all__ if isinstance(getattr(stats, name), Discrete)]
WITHOUT_CDF = {"betabinom", "hypergeom", "logser", "skellam", "zipf"}
LEVELS = np.asarray([1e-3, 0.05, 0.3, 0.5, 0.7, 0.95, 0.999])
METHODS = "cdf", "sf", "logcdf", "logsf", "ppf", "isf"


def both(name):
    """Return xpgrad's and SciPy's distribution, and shapes, a location and a scale."""
    own = getattr(stats, name)
    options = (0.3, 1.7) if isinstance(own, Continuous) else (2,)
    return own, getattr(scipy.stats, name), (*SHAPES.get(name, ()), *options)


def points_of(exact, parameters):
    x = exact.ppf(LEVELS, *parameters)
    low, high = exact.support(*parameters)
    return np.concatenate([x, [v for v in (low - 1, high + 1) if np.isfinite(v)]])


def test_at_least_as_many_as_people_use() -> None:
    assert (len(CONTINUOUS), len(DISCRETE)) >= (60, 12)
    assert dir(stats) == sorted(stats.__all__)
    with pytest.raises(AttributeError, match="did you mean 'norm'"):
        _ = stats.nrom


@pytest.mark.parametrize("name", CONTINUOUS + DISCRETE)
def test_densities(name: str) -> None:
    own, exact, parameters = both(name)
    x = points_of(exact, parameters)
    log, plain = ("logpdf", "pdf") if isinstance(own, Continuous) else ("logpmf", "pmf")
    np.testing.assert_allclose(getattr(own, log)(x, *parameters).array, getattr(exact, log)(x, *parameters), rtol=1e-8)
    np.testing.assert_allclose(getattr(own, plain)(x, *parameters).array, getattr(exact, plain)(x, *parameters), 1e-8)
    if isinstance(own, Discrete):
        assert own.pmf(x[0] + 0.5, *parameters).array == 0


@pytest.mark.parametrize("name", CONTINUOUS + DISCRETE)
def test_densities_of_a_library_that_follows_the_standard_only(name: str) -> None:
    own, _, parameters = both(name)
    device = xpgrad.get_device("@strict:cpu")
    x = np.asarray([0.5, 1.0, 2.1, 9.0])
    log = "logpdf" if isinstance(own, Continuous) else "logpmf"
    moved = getattr(own, log)(device.send(x), *(device.send(np.asarray(float(p))) for p in parameters))
    np.testing.assert_allclose(on_host(moved.array), getattr(own, log)(x, *parameters).array, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CONTINUOUS + DISCRETE)
@pytest.mark.exhaustive(1)
def test_tails_and_quantiles(name: str, method: str) -> None:
    own, exact, parameters = both(name)
    at = LEVELS if method in ("ppf", "isf") else points_of(exact, parameters)
    if name in WITHOUT_CDF:
        with pytest.raises(NotImplementedError, match="no formula of its distribution function"):
            getattr(own, method)(at, *parameters)
        return
    actual = getattr(own, method)(at, *parameters)
    np.testing.assert_allclose(actual.array, getattr(exact, method)(at, *parameters), rtol=2e-6, atol=1e-12)


@pytest.mark.parametrize("method", ["mean", "var", "std", "entropy"])
@pytest.mark.parametrize("name", CONTINUOUS + DISCRETE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.exhaustive(1)
def test_moments(name: str, method: str) -> None:
    own, exact, parameters = both(name)
    try:
        actual = getattr(own, method)(*parameters)
    except NotImplementedError:
        return
    np.testing.assert_allclose(actual.array, getattr(exact, method)(*parameters), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", CONTINUOUS + DISCRETE)
def test_gradients(name: str) -> None:
    own, exact, parameters = both(name)
    continuous = isinstance(own, Continuous)
    x = exact.ppf([0.23, 0.61], *(parameters if continuous else parameters[:-1]))
    constant = () if continuous else parameters[: COUNTS.get(name, 0)]
    free = parameters[len(constant) : None if continuous else -1]

    def f(*given):
        if continuous:
            return xp.sum(own.logpdf(given[0], *given[1:]))
        return xp.sum(own.logpmf(x, *constant, *given))

    arguments = tuple(np.asarray(v) for v in ((x, *free) if continuous else free))
    if not arguments:
        return
    gradients = grad(f, tuple(range(len(arguments))))(*arguments)
    for i, gradient in enumerate(gradients):
        step = 1e-6
        ends = [f(*(v + s * (i == k) for k, v in enumerate(arguments))) for s in (step, -step)]
        expected = (float(ends[0].array) - float(ends[1].array)) / (2 * step)
        np.testing.assert_allclose(np.sum(xpgrad.as_array(gradient)), expected, rtol=1e-5, atol=1e-6)
    _, tangent = jvp(f, arguments, tuple(np.ones_like(v) for v in arguments))
    total = sum(np.sum(xpgrad.as_array(g)) for g in gradients)
    np.testing.assert_allclose(xpgrad.as_array(tangent), total, rtol=1e-8, atol=1e-10)
    batch = tuple(np.stack([v, v]) for v in arguments)
    np.testing.assert_allclose(xpgrad.as_array(vmap(f)(*batch)), [float(f(*arguments).array)] * 2, rtol=1e-10)


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_ends_of_the_support(name: str) -> None:
    own, exact, shapes = getattr(stats, name), getattr(scipy.stats, name), SHAPES.get(name, ())
    ends = np.asarray(exact.support(*shapes), float)
    for method in ("logpdf", "cdf", "sf"):
        with np.errstate(all="ignore"):
            expected = getattr(exact, method)(ends, *shapes)
        expected = np.where(np.isnan(expected), -np.inf, expected)
        np.testing.assert_allclose(getattr(own, method)(ends, *shapes).array, expected, rtol=1e-6, atol=1e-12)


def test_special_values_of_shapes() -> None:
    np.testing.assert_array_equal(stats.uniform.logpdf(np.asarray([np.nan, 0.5, np.inf])).array, [np.nan, 0, -np.inf])
    x = np.asarray([0.2, 0.5, 0.9])
    for name, shapes in {
        "genpareto": [(0.0,), (-0.5,)], "genextreme": [(0.0,), (0.7,)], "triang": [(0.0,), (1.0,)],
        "truncnorm": [(-np.inf, 1.0), (30.0, 31.0), (-31.0, -30.0)], "weibull_min": [(1.0,)], "powerlaw": [(1.0,)],
    }.items():  # fmt: skip
        for given in shapes:
            at = x - 31 if given == (-31.0, -30.0) else np.clip(x, *given) if name == "truncnorm" else x
            for method in ("logpdf", "cdf", "sf"):
                actual = getattr(getattr(stats, name), method)(at, *given).array
                np.testing.assert_allclose(actual, getattr(getattr(scipy.stats, name), method)(at, *given), rtol=1e-7)


def test_quantiles_that_are_searched_have_derivatives_of_two_orders() -> None:
    def second(f, *at):
        return grad(grad(f))(*at)

    q, a, step = np.asarray(0.3), np.asarray(2.0), 1e-5
    by_q, by_a = grad(stats.skewnorm.ppf, (0, 1))(q, a)
    density = scipy.stats.skewnorm.pdf(scipy.stats.skewnorm.ppf(0.3, 2.0), 2.0)
    np.testing.assert_allclose(by_q, 1 / density, rtol=1e-9)
    ends = [scipy.stats.skewnorm.ppf(0.3, 2.0 + s) for s in (step, -step)]
    np.testing.assert_allclose(by_a, (ends[0] - ends[1]) / (2 * step), rtol=1e-6)
    ends = [float(grad(stats.skewnorm.ppf)(q + s, a)) for s in (step, -step)]
    np.testing.assert_allclose(second(stats.skewnorm.ppf, q, a), (ends[0] - ends[1]) / (2 * step), rtol=1e-6)
    np.testing.assert_allclose(
        vmap(stats.foldnorm.ppf)(np.asarray([0.2, 0.9]), np.asarray([0.5, 2.0])),
        scipy.stats.foldnorm.ppf([0.2, 0.9], [0.5, 2.0]),
    )
    np.testing.assert_allclose(
        xpgrad.as_array(xpgrad.compile(stats.poisson.ppf)(q, a)), scipy.stats.poisson.ppf(0.3, 2.0)
    )


def test_parameters_by_name_frozen_and_wrong() -> None:
    np.testing.assert_allclose(
        stats.gamma.logpdf(1.5, a=2.0, scale=3.0).array, scipy.stats.gamma.logpdf(1.5, 2.0, 0, 3.0)
    )
    frozen = stats.norm(1.0, scale=2.0)
    np.testing.assert_allclose(frozen.cdf(np.asarray([0.0, 1.0])).array, scipy.stats.norm.cdf([0.0, 1.0], 1.0, 2.0))
    np.testing.assert_allclose(frozen.std().array, 2.0)
    assert frozen.rvs(size=(3, 4)).shape == (3, 4)
    assert stats.gamma.rvs(np.asarray([1.0, 2.0]), size=(5, 2)).shape == (5, 2)
    assert np.isnan(stats.norm.ppf(1.5).array)
    assert repr(stats.norm) == "xpgrad.scipy.stats.norm"
    for wrong in (lambda: stats.gamma.pdf(1.0), lambda: stats.norm.pdf(1.0, 0.0, 1.0, 2.0), lambda: stats.norm(x=1.0)):
        with pytest.raises(TypeError, match="expected the parameters"):
            wrong()
    with pytest.raises(AttributeError, match="pmf"):
        frozen.pmf(1.0)


def test_scipy_is_not_needed() -> None:
    assert "scipy" not in vars(importlib.import_module("xpgrad.scipy.stats.distributions"))
