"""Arrays of MLX: where the namespace and the backend differ from MLX's own functions."""

import subprocess
import sys
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import xpgrad
import xpgrad.array_api as xp
from xpgrad_mlx import namespace

RNG = np.random.default_rng(0)


def test_nothing_imports_mlx_before_it_is_needed() -> None:
    program = "import sys, xpgrad; xpgrad.get_device('@numpy'); print('mlx' in sys.modules); xpgrad.get_device('@mlx')"
    done = subprocess.run([sys.executable, "-c", f"{program}; print('mlx' in sys.modules)"], capture_output=True)
    assert done.stdout.split() == [b"False", b"True"], done.stderr


def test_a_dtype_that_mlx_lacks_is_refused_and_never_narrowed() -> None:
    device = xpgrad.get_device("@mlx")
    assert device.send(np.asarray([0.1])).tolist() == [0.1]
    assert namespace.from_dlpack(np.asarray([0.1])).tolist() == [0.1]
    with pytest.raises(TypeError, match="mlx has no dtype complex128"):
        device.send(np.asarray([1j]))
    with pytest.raises(TypeError, match="MLX has no dtype complex128; cast first"):
        namespace.asarray(np.asarray([1j]))


@pytest.mark.parametrize("change", [lambda a: a[::-1], lambda a: a.astype(">f4"), lambda a: a.T, lambda a: a[:, ::-2]])
def test_arrays_of_the_host_come_in_any_layout_and_byte_order(change: Any) -> None:
    host = change(np.arange(12, dtype="float32").reshape(3, 4))
    assert namespace.asarray(host).tolist() == host.tolist()


@pytest.mark.parametrize(("shape", "axis"), [((3, 0), 1), ((0, 3), 0), ((2, 0, 3), (0, 1)), ((0,), None)])
def test_reductions_over_nothing_are_their_first_element(shape: Any, axis: Any) -> None:
    x = mx.zeros(shape[::-1]).T  # of a transposed array, MLX's own never end
    host = np.zeros(shape)
    for name in ("sum", "prod", "any", "all"):
        assert getattr(namespace, name)(x, axis=axis).tolist() == getattr(np, name)(host, axis=axis).tolist()


def test_assignment_to_an_array_without_elements_ends_nothing() -> None:
    x = xpgrad.Variable(mx.zeros((3, 0)))
    y = xp.sum(x[mx.array([1])])
    y.backward()
    x = xpgrad.Variable(mx.zeros((3, 0)), requires_grad=False)
    x[mx.array([0, 0])] = mx.ones((2, 0))
    assert (x.shape, y.array.item()) == ((3, 0), 0.0)


@pytest.mark.parametrize("name", ["exp", "sin", "cos"])
@pytest.mark.parametrize(("dtype", "units"), [("float32", 4), ("float64", 8)])
def test_elementary_functions_have_the_digits_of_their_dtype(name: str, dtype: str, units: int) -> None:
    host = np.linspace(-86, 86, 10_001).astype(dtype)
    got, wide = np.asarray(getattr(namespace, name)(namespace.asarray(host))), getattr(np, name)(host.astype("f8"))
    assert np.max(np.abs(got - wide) / np.spacing(np.abs(wide).astype(dtype))) <= units


def test_a_million_numbers_are_summed_without_losing_any() -> None:
    assert abs(namespace.sum(mx.full((1_000_000,), 0.1)).item() - 100_000) < 1


def complex_matrices(*shape: int) -> Any:
    return (RNG.normal(size=shape) + 1j * RNG.normal(size=shape)).astype("complex64")


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (1, 1), (2, 0, 0)])
def test_complex_matrices_are_inverted_and_solved(shape: tuple[int, ...]) -> None:
    a, b = complex_matrices(*shape), complex_matrices(*shape[:-1], 2)
    x, y = namespace.asarray(a), namespace.asarray(b)
    np.testing.assert_allclose(namespace.linalg.inv(x), np.linalg.inv(a), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(namespace.linalg.solve(x, y), np.linalg.solve(a, b), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(namespace.linalg.det(x), np.linalg.det(a), rtol=1e-3, atol=1e-4)
    for got, wanted in zip(namespace.linalg.slogdet(x), np.linalg.slogdet(a), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (2, 3, 3)])
def test_complex_matrices_have_factors(shape: tuple[int, ...], mode: str) -> None:
    a = complex_matrices(*shape)
    q, r = map(np.asarray, namespace.linalg.qr(namespace.asarray(a), mode=mode))
    for got, wanted in zip((q, r), np.linalg.qr(a, mode=mode), strict=True):
        assert got.shape == wanted.shape
    np.testing.assert_allclose(q @ r, a, atol=1e-5)
    unit = np.conj(np.swapaxes(q, -1, -2)) @ q
    np.testing.assert_allclose(unit, np.zeros_like(unit) + np.eye(q.shape[-1]), atol=1e-5)
    definite = a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(a.shape[-2], dtype="complex64")
    factor = namespace.linalg.cholesky(namespace.asarray(definite))
    np.testing.assert_allclose(factor, np.linalg.cholesky(definite), rtol=1e-3, atol=1e-4)
