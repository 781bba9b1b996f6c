"""Inputs that dpnp passes to oneMKL for arrays in any layout: oneMKL requires elements that share no memory."""

import numpy as np
import pytest

from xpgrad.testing.arrays import on_host

VALUES = np.diag([2.0, 3.0, 4.0]) + np.arange(9.0).reshape(3, 3) / 10
LAYOUTS = {
    "plain": lambda xp, x: xp.stack([x, x + 1.0]),
    "spread matrices": lambda xp, x: xp.broadcast_to(x, (2, 3, 3)),
    "spread rows": lambda xp, x: xp.broadcast_to(x[:, :1, None], (3, 3, 3)),
    "spread columns": lambda xp, x: xp.broadcast_to(x[:, None, :], (3, 3, 3)),
    "one number": lambda xp, x: xp.broadcast_to(x[0, 0], (2, 3, 3)),
    "all reversed at a distance": lambda xp, x: xp.concat([x, x], axis=1)[None, ::-1, ::-2],
    "reversed": lambda xp, x: xp.stack([x, x + 1.0])[::-1, ::-1, ::-1],
    "transposed": lambda xp, x: xp.permute_dims(xp.stack([x, x + 1.0, x]), (1, 2, 0)),
    "every other": lambda xp, x: xp.stack([xp.concat([x, x], axis=1), xp.concat([x, x + 1.0], axis=1)])[:, :, ::2],
}
FUNCTIONS = {
    "matmul": lambda xp, x: xp.matmul(x, x),
    "matmul first": lambda xp, x: xp.matmul(x, x[0]),
    "matmul vector": lambda xp, x: xp.matmul(x, x[0, 0]),
    "matmul vectors": lambda xp, x: xp.matmul(x[0, 0], x[0, 1]),
    "tensordot": lambda xp, x: xp.tensordot(x, x[0], axes=1),
    "vecdot": lambda xp, x: xp.vecdot(x, x[0]),
    "where": lambda xp, x: xp.where(x > 2.5, x, x * 2.0),
    "where number": lambda xp, x: xp.where(x > 2.5, x, 0.0),
    "fft": lambda xp, x: xp.fft.fft(x),
    "ifft first axis": lambda xp, x: xp.fft.ifft(x, axis=0),
    "rfftn": lambda xp, x: xp.fft.rfftn(x, axes=(0, 1, 2)),
    "irfft": lambda xp, x: xp.fft.irfft(xp.astype(x, xp.complex128), n=4),
    "solve": lambda xp, x: xp.linalg.solve(xp.eye(3) * 2.0, x),
    "matrix_power": lambda xp, x: xp.linalg.matrix_power(x, 3),
    "svdvals": lambda xp, x: xp.linalg.svdvals(x),
    "det": lambda xp, x: xp.linalg.det(x),
    "cumulative_sum": lambda xp, x: xp.cumulative_sum(x, axis=1),
    "sort": lambda xp, x: xp.sort(x, axis=1),
    "var": lambda xp, x: xp.var(x, axis=(0, 2)),
    "take": lambda xp, x: xp.take(x, xp.asarray([1, 0]), axis=1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_are_those_of_numpy(function, layout, device):
    xp = device.backend.namespace
    got = FUNCTIONS[function](xp, LAYOUTS[layout](xp, device.send(VALUES)))
    expected = FUNCTIONS[function](np, LAYOUTS[layout](np, VALUES))
    np.testing.assert_allclose(on_host(got), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["irfft", "irfftn", "hfft"])
@pytest.mark.parametrize("count", [2, 4, 8])
def test_transforms_write_to_no_argument(name, count, device, rng):
    xp = device.backend.namespace
    values = rng.normal(size=(3, 5)) + 1j * rng.normal(size=(3, 5))
    x = device.send(values)
    options = {"s": (count,), "axes": (1,)} if name == "irfftn" else {"n": count}
    got = getattr(xp.fft, name)(x, **options)
    np.testing.assert_allclose(on_host(got), getattr(np.fft, name)(values, **options), rtol=1e-12, atol=1e-12)
    assert np.array_equal(on_host(x), values)
