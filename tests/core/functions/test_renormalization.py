"""Batch renormalization: its constants, its moving averages, and errors."""

import numpy as np

import xpgrad
import xpgrad.functions as F
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import jvp


def given(device, rng):
    x = rng.standard_normal((6, 3))
    return x, [device.send(a) for a in (x, np.full(3, 2.0), np.full(3, 0.5), np.zeros(3), np.full(3, 1.5))]


def test_with_wide_limits_it_is_normalization_by_the_moving_averages(device, rng):
    values, (x, gamma, beta, mean, var) = given(device, rng)
    y = F.batch_renormalization(x, gamma, beta, 100.0, 100.0, eps=0.1, running_mean=mean, running_var=var)
    np.testing.assert_allclose(on_host(y), values / np.sqrt(1.6) * 2 + 0.5, rtol=1e-12)


def test_corrections_are_constants(device, rng):
    values, (x, gamma, beta, mean, var) = given(device, rng)
    x, gamma = xpgrad.Variable(x), xpgrad.Variable(gamma)
    gy = device.send(rng.standard_normal((6, 3)))
    y = F.batch_renormalization(x, gamma, beta, 4.0, 1.0, running_mean=mean, running_var=var)
    y.grad = gy
    y.backward()
    std = np.sqrt(values.var(0) + 2e-5)
    r, d = std / np.sqrt(1.5 + 2e-5), values.mean(0) / np.sqrt(1.5 + 2e-5)
    assert (abs(d) < 1).all()
    assert (r < 4).all()
    assert (r > 0.25).all()
    plain = xpgrad.Variable(values)
    z = F.batch_normalization(plain, 2 * r, d)
    z.grad = on_host(gy)
    z.backward()
    np.testing.assert_allclose(on_host(x.grad), plain.grad, rtol=1e-9, atol=1e-12)
    hat = (values - values.mean(0)) / std * r + d
    np.testing.assert_allclose(on_host(gamma.grad), (on_host(gy) * hat).sum(0), rtol=1e-9)


def test_corrections_are_constants_in_forward_mode(rng):
    values, (x, gamma, beta, mean, var) = given(xpgrad.get_device("@numpy"), rng)

    def f(x):
        return F.batch_renormalization(x, gamma, beta, 4.0, 1.0, running_mean=mean, running_var=var)

    t, gy = rng.standard_normal((2, 6, 3))
    _, ty = jvp(f, (x,), (t,))
    v = xpgrad.Variable(values)
    F.sum(f(v) * gy).backward()
    np.testing.assert_allclose(np.sum(on_host(ty) * gy), np.sum(v.grad * t), rtol=1e-10)


def test_statistics_are_updated_on_demand_after_they_are_used(device, rng):
    values, (x, gamma, beta, mean, var) = given(device, rng)
    options = {"eps": 0.1, "running_mean": mean, "running_var": var, "decay": 0.75}
    first = F.batch_renormalization(x, gamma, beta, 2.0, 1.0, **options)
    np.testing.assert_array_equal(on_host(mean), 0.0)
    second = F.batch_renormalization(x, gamma, beta, 2.0, 1.0, **options, update_statistics=True)
    np.testing.assert_array_equal(on_host(first), on_host(second))
    np.testing.assert_allclose(on_host(mean), 0.25 * values.mean(0), rtol=1e-12)
    np.testing.assert_allclose(on_host(var), 0.75 * 1.5 + 0.25 * values.var(0, ddof=1), rtol=1e-12)
    with xpgrad.using_config("train", False):
        before = on_host(mean).copy()
        F.batch_renormalization(x, gamma, beta, 2.0, 1.0, **options, update_statistics=True)
    np.testing.assert_array_equal(on_host(mean), before)


def test_moving_averages_in_variables_get_new_arrays(device, rng):
    values, (x, gamma, beta, mean, var) = given(device, rng)
    kept = [xpgrad.Variable(v, requires_grad=False) for v in (mean, var)]
    F.batch_renormalization(x, gamma, beta, 2.0, 1.0, 0.1, *kept, 0.75, update_statistics=True)
    np.testing.assert_allclose(on_host(kept[0]), 0.25 * values.mean(0), rtol=1e-12)
    np.testing.assert_array_equal(on_host(mean), 0.0)
