"""Derivatives with respect to parameters and points, in both modes, batched and compiled, on several devices."""

import warnings

import numpy as np
import pytest
from tests.core.distributions.cases import LAWS, Law
from tests.devices import DEVICES, device_or_skip

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad import distributions as D
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import grad, jacfwd, jacrev, jvp, vmap

named = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
PLUGINS = ("@torch:cpu", pytest.param("@jax:cpu", marks=pytest.mark.exhaustive(4)), "@dask")
SOME = [law for law in LAWS if law.name in ("beta", "Student's t", "Poisson", "multivariate normal", "one-hot")]

REPARAMETRISED = [law for law in LAWS if law.make(*map(np.asarray, law.parameters)).has_rsample]


def host(y):
    return np.asarray(on_host(xpgrad.as_array(y)))


def quantities(law: Law, points):
    """Return a function of the parameters: one number for each quantity of the distribution."""

    def f(*parameters):
        d = law.make(*parameters)
        values = [d.log_prob(points), d.prob(points)]
        values += [getattr(d, name)(points) for name in ("cdf", "log_survival_function") if name not in law.lacking]
        values += [getattr(d, name) for name in ("mean", "variance", "entropy") if name not in law.lacking]
        return xp.stack([xp.sum(value) for value in values])

    return f


def moderate(law: Law, device):
    """Return points at which finite differences are accurate."""
    points = np.asarray(law.points)
    if points.ndim == 1 and not law.discrete:
        points = points[(np.abs(points) < 5) & (np.abs(points) > 1e-3)]
    return device.send(points[:1] if law.name.startswith("Bernoulli") else points)


def numerical(f, parameters, device, step=1e-6):
    columns = []
    for i in range(len(parameters)):
        above, below = ([p + s * (i == k) for k, p in enumerate(parameters)] for s in (step, -step))
        ends = [host(f(*(device.send(np.asarray(p)) for p in end))) for end in (above, below)]
        columns.append((ends[0] - ends[1]) / (2 * step))
    return columns


@named
def test_derivatives_agree_with_finite_differences(law: Law) -> None:
    device = xpgrad.get_device("@numpy")
    f, parameters = quantities(law, moderate(law, device)), [np.asarray(p) for p in law.parameters]
    which = tuple(range(len(parameters)))
    reverse, forward = jacrev(f, which)(*parameters), jacfwd(f, which)(*parameters)
    for one, other, expected in zip(reverse, forward, numerical(f, law.parameters, device), strict=True):
        np.testing.assert_allclose(host(one), expected, rtol=2e-6, atol=2e-7)
        np.testing.assert_allclose(host(other), host(one), rtol=1e-9, atol=1e-12)


@pytest.mark.exhaustive(1)
@named
def test_batches_and_programs_give_the_same_numbers(law: Law) -> None:
    f = quantities(law, moderate(law, xpgrad.get_device("@numpy")))
    batch = [np.asarray(p) * np.asarray([1.0, 1.1, 0.9]) for p in law.parameters]
    each = np.stack([host(f(*(np.asarray(p[i]) for p in batch))) for i in range(3)])
    np.testing.assert_allclose(host(vmap(f)(*batch)), each, rtol=1e-9)
    compiled = xpgrad.compile(f)
    for i in (0, 0, 1):
        np.testing.assert_allclose(host(compiled(*(np.asarray(p[i]) for p in batch))), each[i], rtol=1e-9)


@pytest.mark.parametrize("device", [*DEVICES[1:], *PLUGINS])
@pytest.mark.parametrize("law", SOME, ids=lambda law: law.name)
def test_devices_give_the_numbers_of_numpy(law: Law, device: str) -> None:
    dtype = np.float32 if device.startswith("@jax") else np.float64  # its double precision is an option of the process
    results = []
    for place in (xpgrad.get_device("@numpy"), device_or_skip(device)):
        parameters = [place.send(np.asarray(p, dtype)) for p in law.parameters]
        f = quantities(law, place.send(np.asarray(law.points, dtype)))
        gradients = grad(lambda *a, f=f: xp.sum(f(*a)), tuple(range(len(parameters))))(*parameters)
        sample = law.make(*parameters).sample(2)
        assert xpgrad.get_device_from_array(sample.array).backend is place.backend
        results.append([host(y) for y in (f(*parameters), *gradients)] + [host(sample).shape])
    for expected, actual in zip(*results, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-7 if dtype is np.float64 else 1e-3, atol=1e-12)


@pytest.mark.exhaustive(2)
@pytest.mark.parametrize("law", REPARAMETRISED, ids=lambda law: law.name)
def test_samples_have_derivatives_in_both_modes_and_compiled(law: Law) -> None:
    parameters = tuple(np.asarray(p) for p in law.parameters)

    def total(*a):
        return xp.sum(xp.log1p(xp.abs(law.make(*a).sample(3))))

    def seeded(f, *a):
        xpgrad.random.seed(7)
        return f(*a)

    which = tuple(range(len(parameters)))
    gradients = seeded(grad(total, which), *parameters)
    _, tangent = seeded(lambda *a: jvp(total, a, tuple(np.ones(()) for _ in a)), *parameters)
    np.testing.assert_allclose(host(tangent), sum(host(g) for g in gradients), rtol=1e-9)
    compiled = xpgrad.compile(grad(total, which))
    for _ in range(3):
        for one, other in zip(seeded(compiled, *parameters), gradients, strict=True):
            np.testing.assert_allclose(host(one), host(other), rtol=1e-9)


def test_each_member_of_a_batch_draws_separate_numbers() -> None:
    drawn = vmap(lambda scale: D.Normal(np.zeros(()), scale).sample())(np.ones(4))
    assert len(set(host(drawn))) == 4


def test_a_distribution_outlives_the_transformation_that_used_it() -> None:
    d = D.Normal(np.zeros(2), log_scale=Variable(np.zeros(2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = xpgrad.compile(lambda x: d.log_prob(x))
        for _ in range(3):
            compiled(np.ones(2))
        jvp(d.log_prob, (np.ones(2),), (np.ones(2),))
    np.testing.assert_allclose(d.log_prob(np.ones(2)).array, [-1.4189385, -1.4189385])
