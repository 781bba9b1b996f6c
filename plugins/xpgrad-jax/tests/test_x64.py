"""jax without 64 bits: silent conversions to 32 bits raise an error that explains how to enable 64 bits."""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import xpgrad
import xpgrad.array_api as xp
import xpgrad.ops
from xpgrad.errors import DtypeError

pytestmark = pytest.mark.exhaustive(1)


@pytest.fixture(autouse=True)
def _without_x64() -> Iterator[None]:
    with jax.enable_x64(False):
        yield


REFUSED: dict[str, Callable[[xpgrad.Variable, Any], Any]] = {
    "zeros": lambda v, ns: ns.zeros(2, dtype=ns.float64),
    "full": lambda v, ns: ns.full(2, 1.0, dtype=ns.complex128),
    "arange": lambda v, ns: ns.arange(2, dtype=ns.int64),
    "asarray": lambda v, ns: ns.asarray([1.0], dtype=ns.float64),
    "ones_like": lambda v, ns: xp.ones_like(v, dtype=ns.float64),
    "astype": lambda v, ns: xp.astype(v, ns.float64),
    "sum": lambda v, ns: xp.sum(v, dtype=ns.float64),
    "fftfreq": lambda v, ns: ns.fft.fftfreq(4, dtype=ns.float64),
    "from_dlpack": lambda v, ns: ns.from_dlpack(np.ones(2)),
    "to @jax:cpu:1": lambda v, ns: xpgrad.Variable(np.ones(2)).to_device("@jax:cpu:1"),
    "to @jax:cpu:0": lambda v, ns: xpgrad.get_device("@jax").send(np.ones(2)),
}


@pytest.mark.parametrize("title", REFUSED)
def test_64_bits_are_refused_by_name(title: str) -> None:
    v = xpgrad.Variable(jnp.asarray([1.0, 2.0]))
    message = rf'{title}: jax would make \w+ of (float64|int64|complex128).*jax.config.update\("jax_enable_x64", True\)'
    with pytest.raises(DtypeError, match=message):
        REFUSED[title](v, v.__array_namespace__())


def test_a_refused_move_changes_nothing() -> None:
    x = xpgrad.Variable(np.ones(2))
    x.grad = np.ones(2)
    with pytest.raises(DtypeError):
        x.to_device("@jax")
    assert type(x.array) is type(x.grad) is np.ndarray


def test_the_configured_dtype_is_refused_by_name() -> None:
    with xpgrad.using_device("@jax"), pytest.raises(DtypeError, match="jax_enable_x64"):
        xpgrad.get_dtype("float64")


def test_32_bits_are_the_default_everywhere() -> None:
    v = xpgrad.Variable(jnp.asarray([3.0, 1.0]))
    ns = v.__array_namespace__()
    assert {x.dtype for x in (ns.zeros(2), ns.asarray(1.0), xp.argsort(v) * 1.0, v[[0]])} == {jnp.dtype("float32")}
    assert ns.arange(3).dtype == jnp.int32
    assert v[[]].shape == (0,)
    assert (v * 1j).dtype == jnp.complex64
    assert xpgrad.ops.quantile(v, 0.5).dtype == jnp.float32
    xp.sum(v * v).backward()
    assert v.grad.dtype == jnp.float32
    with xpgrad.using_device("@jax"):
        assert xpgrad.random.uniform((2,)).dtype == jnp.float32
