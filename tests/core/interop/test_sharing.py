"""`interop.framework`: arrays of one library as arrays of another, in the same memory if possible."""

import array_api_strict
import numpy as np
import pytest

import xpgrad
from xpgrad.interop.framework import peer, shared

HOST, STRICT = xpgrad.get_device("@numpy"), xpgrad.get_device("@strict")


def test_an_array_of_the_device_is_itself() -> None:
    x = np.ones(2)
    assert shared(x, HOST) is x


def test_memory_is_shared_by_dlpack() -> None:
    x = np.arange(6.0).reshape(2, 3)[:, ::2]
    y = shared(x, STRICT)
    assert type(y).__module__.startswith("array_api_strict")
    x[0, 1] = 7.0
    assert float(y[0, 1]) == 7.0


def test_arrays_with_negative_strides_are_copied() -> None:
    x = np.arange(3.0)[::-1]
    y = shared(x, STRICT)
    x[0] = 7.0
    assert [float(v) for v in y] == [2.0, 1.0, 0.0]


def test_the_peer_is_the_device_that_holds_the_memory() -> None:
    x = array_api_strict.asarray([1.0])
    assert peer(x, HOST.backend) == HOST
    assert peer(x, STRICT.backend) == STRICT
    assert peer(np.ones(1), STRICT.backend) == STRICT


@pytest.mark.parametrize("index", ["device1"])
def test_an_array_of_a_device_without_shared_memory_is_copied(index: str) -> None:
    x = np.ones(2)
    y = shared(x, xpgrad.get_device(f"@strict:{index}"))
    x[0] = 2.0
    assert float(y[0]) == 1.0
