"""SciPy's distributions: values, tails, quantiles and moments against SciPy, gradients against finite differences."""

import contextlib
import importlib

import numpy as np
import pytest
import scipy.stats

import xpgrad
from xpgrad.scipy import stats
from xpgrad.scipy.stats.univariate import Continuous, Discrete
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import grad, jvp, value_and_grad, vmap

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


@pytest.mark.parametrize("name", CONTINUOUS + DISCRETE)
@pytest.mark.exhaustive(1)
def test_tails_and_quantiles(name: str) -> None:
    own, exact, parameters = both(name)
    for method in METHODS:
        at = LEVELS if method in ("ppf", "isf") else points_of(exact, parameters)
        actual = getattr(own, method)(at, *parameters).array
        np.testing.assert_allclose(actual, getattr(exact, method)(at, *parameters), 2e-6, 1e-12, err_msg=method)


@pytest.mark.parametrize("name", CONTINUOUS + DISCRETE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.exhaustive(1)
def test_moments(name: str) -> None:
    own, exact, parameters = both(name)
    for method in ("mean", "var", "std", "entropy"):
        with contextlib.suppress(NotImplementedError):
            actual = getattr(own, method)(*parameters).array
            np.testing.assert_allclose(actual, getattr(exact, method)(*parameters), 1e-6, 1e-12, err_msg=method)


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


@pytest.mark.parametrize("name", CONTINUOUS + DISCRETE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_quantiles_of_0_and_1_and_nan(name: str) -> None:
    own, exact, parameters = both(name)
    low, high = exact.support(*parameters)
    ends = np.asarray([low - isinstance(own, Discrete), high, np.nan, np.nan])
    q = np.asarray([0.0, 1.0, 1.5, np.nan])
    np.testing.assert_allclose(own.ppf(q, *parameters).array, ends, rtol=1e-15)
    np.testing.assert_allclose(own.isf(q, *parameters).array, ends[[1, 0, 2, 3]], rtol=1e-15)
    by_loc = grad(lambda loc: own.ppf(np.asarray(0.0), *parameters[: len(own.shapes)], loc))(np.asarray(2.0))
    assert by_loc == 1
    log, plain = ("logpdf", "pdf") if isinstance(own, Continuous) else ("logpmf", "pmf")
    assert all(np.isnan(getattr(own, method)(np.nan, *parameters).array) for method in (log, plain, *METHODS))


@pytest.mark.parametrize("name", CONTINUOUS + DISCRETE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_parameters_outside_of_the_domain(name: str) -> None:
    own, exact, shapes = getattr(stats, name), getattr(scipy.stats, name), SHAPES.get(name, ())
    rest, log = ((0.0, 1.0), "logpdf") if isinstance(own, Continuous) else ((), "logpmf")
    given = [
        (*shapes[:i], v, *shapes[i + 1 :], *rest) for i in range(len(shapes)) for v in (-1.5, -1.0, 0.0, 0.5, np.nan)
    ]
    given += [(*shapes, 0.0, v) for v in (-1.0, 0.0, np.nan) if rest]
    rows = np.asarray([(*shapes, *rest), *given])
    outside = np.isnan(exact.cdf(1.0, *rows.T))
    assert not outside[0]
    assert outside[np.isnan(rows).any(axis=1)].all()
    np.testing.assert_array_equal(np.isnan(own.cdf(1.0, *rows.T).array), outside)
    for method in (log, *METHODS):
        assert np.isnan(getattr(own, method)(0.5, *rows[outside].T).array).all()
    assert np.isnan(_moment(own, rows[outside].T)).all()
    with pytest.raises(ValueError, match="expected parameters within the domain"):
        own.rvs(*rows[0, :-1], np.nan)


def _moment(own, parameters):
    """Return the first of the moments that has a formula, or NaN."""
    for method in ("var", "mean", "std", "entropy"):
        try:
            return getattr(own, method)(*parameters).array
        except NotImplementedError:
            continue
    return np.nan


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_parameters_outside_of_the_domain_under_transformations() -> None:
    a = np.asarray([2.0, -2.0, 3.0])
    expected = scipy.stats.gamma.logpdf(1.0, a)
    np.testing.assert_allclose(vmap(lambda a: stats.gamma.logpdf(1.0, a))(a), expected)
    program = xpgrad.compile(lambda a, scale: stats.gamma.logpdf(1.0, a, 0.0, scale))
    np.testing.assert_allclose([program(np.asarray(each), np.asarray(1.0)) for each in a], expected)
    assert np.isnan(program(np.asarray(2.0), np.asarray(-1.0)))
    value, _ = jvp(lambda a: stats.gamma.logpdf(1.0, a), (a,), (np.ones(3),))
    np.testing.assert_allclose(value, expected)
    quantile = xpgrad.compile(stats.gamma.ppf)
    np.testing.assert_array_equal(
        [quantile(np.asarray(q), np.asarray(2.0)) for q in (0.0, 1.0, 1.5)], [0, np.inf, np.nan]
    )
    np.testing.assert_array_equal(stats.norm.rvs(2.0, 0.0, size=2).array, [2.0, 2.0])


FAR = [
    ("alpha", (0.4,), "isf", 1e-15, 561882703796963.0, -5.61882703797e29),
    ("foldnorm", (1.95,), "isf", 1e-300, 38.9970962993612, -2.69730446504e298),
    ("foldcauchy", (4.7,), "isf", 1e-100, 6.36619772367581e99, -6.36619772368e199),
    ("exponweib", (2.9, 1.95), "isf", 1e-300, 28.6031089182507, -2.12018037758e298),
    ("moyal", (), "isf", 1e-300, 1381.09947309114, -2.0e300),
    ("invgauss", (1.7,), "isf", 1e-300, 3929.1436313174, -5.76729366228e300),
    ("exponnorm", (1.5,), "isf", 1e-300, 1036.49662518065, -1.5e300),
    ("exponnorm", (1.5,), "ppf", 1e-300, -36.9381264798642, 2.70331089016e298),
    ("powernorm", (4.45,), "ppf", 1e-300, -37.0873426390067, 2.69438165464e298),
    ("loggamma", (0.41,), "ppf", 1e-300, -1685.11147208318, 2.43902439024e300),
    ("genlogistic", (0.4,), "ppf", 1e-300, -1726.93881974553, 2.5e300),
    ("halfcauchy", (), "isf", 0.9999999999, 1.57079645676317e-10, -1.57079632679),
    ("arcsine", (), "isf", 0.9999999999, 2.46740150857972e-20, -4.93480260885e-10),
    ("cosine", (), "ppf", 1e-15, -3.14155912280593, 11176927955.4),
    ("semicircular", (), "ppf", 1e-300, -1.0, 9.36927888801e99),
    ("alpha", (3.6,), "sf", 1e10, 6.11999304570442e-14, -6.11999304681e-24),
    ("exponweib", (2.9, 1.95), "sf", 7.0, 1.42863943953917e-19, -1.76929554762e-18),
    ("exponweib", (2.9, 1.95), "logcdf", 7.0, -1.42863943953917e-19, 1.76929554762e-18),
    ("moyal", (), "sf", 1000.0, 5.68458951719923e-218, -2.8422947586e-218),
    ("moyal", (), "logcdf", 50.0, -1.10809759912131e-11, 5.54048799564e-12),
    ("invgauss", (1.7,), "logsf", 1e5, -17316.8838415921, -0.173025379706),
    ("invgauss", (0.145,), "logcdf", 1e-4, -4997.9368874354, 50004975.2288),
    ("skewnorm", (1.7,), "cdf", -5.0, 1.42090407183844e-24, 2.81868188215e-23),
    ("skewnorm", (-2.0,), "logsf", 9.0, -210.349714501343, -45.2204717053),
    ("exponnorm", (1.5,), "cdf", -20.0, 8.84087065181272e-91, 1.77681027473e-89),
    ("cosine", (), "cdf", -3.14, 1.07160023619322e-10, 2.01851831269e-7),
    ("foldnorm", (1.95,), "cdf", 1e-10, 1.19189412137632e-11, 0.119189412138),
    ("foldcauchy", (4.7,), "cdf", 1e-10, 2.75712331038363e-12, 0.0275712331038),
    ("loggamma", (0.41,), "cdf", -1000.0, 9.80514552860516e-179, 4.02010966673e-179),
]
"""Values far from the mean, and their derivatives by the point, with 50 digits or more by mpmath."""


@pytest.mark.parametrize("case", FAR, ids=lambda case: f"{case[0]}-{case[2]}-{case[3]}")
def test_far_from_the_mean(case) -> None:
    name, shapes, method, at, value, slope = case
    found, gradient = value_and_grad(lambda x: getattr(getattr(stats, name), method)(x, *shapes))(np.asarray(at))
    np.testing.assert_allclose([found, gradient], [value, slope], rtol=1e-8)


def test_probabilities_that_are_summed() -> None:
    k, step = np.asarray([0.0, 2.0, 4.0]), 1e-6
    for own, exact, shapes in (
        (
            lambda *given: stats.betabinom.cdf(k, 5, *given),
            lambda *given: scipy.stats.betabinom.cdf(k, 5, *given),
            (2.3, 0.63),
        ),
        (lambda *given: stats.skellam.sf(k, *given), lambda *given: scipy.stats.skellam.sf(k, *given), (1.7, 2.3)),
        (lambda *given: stats.logser.sf(k + 1, *given), lambda *given: scipy.stats.logser.sf(k + 1, *given), (0.6,)),
        (lambda *given: stats.zipf.cdf(k + 1, *given), lambda *given: scipy.stats.zipf.cdf(k + 1, *given), (3.5,)),
    ):
        _, slope = jvp(own, tuple(map(np.asarray, shapes)), tuple(np.ones(()) for _ in shapes))
        ends = [exact(*(v + s for v in shapes)) for s in (step, -step)]
        np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=1e-6, atol=1e-10)
    several = stats.hypergeom.cdf(k[:, None], np.asarray([20.0, 30.0]), 7.0, 12.0)
    np.testing.assert_allclose(several.array, scipy.stats.hypergeom.cdf(k[:, None], [20, 30], 7, 12), rtol=1e-12)
    assert stats.poisson.pmf(1.5, 2.0, 0.5).array == scipy.stats.poisson.pmf(1.5, 2.0, 0.5)
    program, n = xpgrad.compile(lambda n: stats.betabinom.cdf(k, n, 2.3, 0.63)), np.asarray([5.0, 900.0, 2000.0])
    expected = scipy.stats.betabinom.cdf(k, n[:2, None], 2.3, 0.63)
    for found in ([on_host(program(x)) for x in n], vmap(lambda n: stats.betabinom.cdf(k, n, 2.3, 0.63))(n)):
        np.testing.assert_allclose(found[:2], expected, rtol=1e-10)
        assert np.isnan(found[2]).all()  # more terms than a sum of unknown length has


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


@pytest.mark.parametrize(
    ("method", "at", "shapes", "exact"),
    [
        (stats.truncnorm.cdf, 1e-15, (0.0, 1e-3), 1.0000001666666695e-12),
        (stats.truncnorm.logsf, 1e-15, (0.0, 1e-3), -1.0000001666671695e-12),
        (stats.truncnorm.cdf, 3.0 + 2**-40, (3.0, 8.0), 2.9859608320543617e-12),
        (stats.truncnorm.logcdf, 20.9375, (20.0, 21.0), -3.2383068916105515e-9),
        (stats.truncnorm.logsf, -7.5, (-8.0, -3.0), -2.3177173341217328e-11),
        (stats.skellam.logpmf, 400.0, (1.7, 2.3), -1792.23964705318),
        (stats.skellam.logpmf, -200.0, (1.7, 2.3), -700.6307108056025),
        (stats.skellam.logpmf, 1000.0, (1e-3, 2.0), -12821.884455472298),
    ],
)
def test_tails_have_the_digits_of_exact_arithmetic(method, at, shapes, exact) -> None:
    at, xs, step = np.asarray(at), tuple(map(np.asarray, shapes)), 1e-6
    np.testing.assert_allclose(method(at, *xs).array, exact, rtol=1e-10)
    slope = grad(lambda b: method(at, xs[0], b))(xs[1])
    ends = [method(at, xs[0], xs[1] * (1 + s)).array for s in (step, -step)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step * xs[1]), rtol=1e-5, atol=1e-6 * abs(exact))


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
