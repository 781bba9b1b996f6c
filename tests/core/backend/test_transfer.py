from collections.abc import Iterator
from typing import Any

import array_api_strict
import numpy as np
import pytest
from tests.core.backend.third_party import ThirdParty
from tests.core.toy_arrays import Plugin, ToyArray, registered

import xpgrad
from xpgrad.backend import copyto
from xpgrad.backend.transfer import send, transfer
from xpgrad.errors import DtypeError, PluginError, ShapeError
from xpgrad.testing.arrays import on_host, placed

SHARES = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy 2.0 hands out read-only arrays, which are not taken"
)
DEVICES = "@numpy", "@strict:cpu", "@strict:device1", "@strict:device2"


def test_send_takes_a_librarys_scalars_and_keeps_their_dtype() -> None:
    host, strict = xpgrad.get_device(-1), xpgrad.get_device("@strict:device1")
    assert host.send(np.float32(2)).dtype == np.float32
    assert isinstance(host.send(np.float32(2)), np.ndarray)
    assert strict.send(np.float32(2)).dtype == array_api_strict.float32


@pytest.mark.parametrize("target", DEVICES)
@pytest.mark.parametrize("source", DEVICES)
def test_copyto_writes_across_devices_and_broadcasts(source: str, target: str) -> None:
    dst = placed(np.zeros((2, 3)), xpgrad.get_device(target))
    src = placed(np.asarray([1, 2, 3], np.int32), xpgrad.get_device(source))
    assert copyto(dst, src) is None  # type: ignore[func-returns-value]  # as in Chainer
    assert on_host(dst).tolist() == [[1.0, 2.0, 3.0]] * 2
    assert on_host(dst).dtype == np.float64


def test_copyto_writes_into_views_and_0d_arrays() -> None:
    dst = np.zeros(4)
    copyto(dst[1:3], np.float64(5))
    assert dst.tolist() == [0.0, 5.0, 5.0, 0.0]
    zero = np.zeros(())
    copyto(zero, array_api_strict.asarray(2.0))
    assert zero == 2.0


def test_copyto_rejects_mismatched_arrays() -> None:
    dst = np.zeros((2, 3), np.float32)
    with pytest.raises(ShapeError, match=r"copyto: expected an array that broadcasts to shape \(2, 3\), got \(2,\)"):
        copyto(dst, np.zeros(2))
    with pytest.raises(DtypeError, match=r"copyto: complex128 \(3,\) cannot be copied to float32 \(2, 3\); cast it"):
        copyto(dst, np.zeros(3, complex))
    with pytest.raises(DtypeError):
        copyto(np.zeros(3, np.int32), np.zeros(3))
    for pair in ((dst, [1.0]), ([1.0], dst), (dst, 1.0), (dst, xpgrad.Variable(dst))):
        with pytest.raises(TypeError):
            copyto(*pair)
    assert not dst.any()


# The ways, in their order


@pytest.fixture
def toy_arrays() -> Iterator[Any]:
    """A third-party backend, with one device in host memory and one simulated device."""
    with registered(Plugin()) as backend:
        yield backend


class Untrodden(Exception):
    """Raised on a code path that must not run."""


def forbid(monkeypatch: pytest.MonkeyPatch, backend: Any, *names: str) -> None:
    def stop(*_: Any) -> Any:
        raise Untrodden

    for name in names:
        monkeypatch.setattr(backend, name, stop)


@SHARES
def test_dlpack_is_preferred_to_the_host_if_both_use_the_same_memory(
    toy_arrays: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, near, far = (xpgrad.get_device(name) for name in ("@numpy", "@toy:cpu", "@toy:away"))
    strict = xpgrad.get_device("@strict:cpu")
    assert host.backend.dlpack_device(host) == near.backend.dlpack_device(near) == (1, 0)
    assert far.backend.dlpack_device(far) is None
    assert strict.backend.dlpack_device(xpgrad.get_device("@strict:device1")) is None  # it only pretends
    for backend in (toy_arrays, strict.backend):
        forbid(monkeypatch, backend, "to_host", "from_host")
    array = np.arange(6.0).reshape(2, 3)[::-1, ::2]
    for source, target in ((host, near), (near, strict), (strict, near), (host, strict)):
        there = transfer(array if source is host else transfer(array, source), target)
        assert target.is_array_supported(there)
        np.testing.assert_array_equal(np.from_dlpack(there), array)
    with pytest.raises(Untrodden):
        transfer(array, far)


def test_moves_within_one_library_use_the_library(toy_arrays: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    forbid(monkeypatch, toy_arrays, "to_host", "from_host", "from_dlpack")
    far = transfer(ToyArray([1.0]), xpgrad.get_device("@toy:away"))
    assert (far.device, far.values.tolist()) == ("away", [1.0])


def test_exported_copies_have_a_layout_that_every_library_accepts(toy_arrays: Any) -> None:
    near, base = xpgrad.get_device("@toy:cpu"), np.arange(4.0)
    for array in (base[::-1], np.broadcast_to(base, (2, 4)), base[::2]):
        there = transfer(array, near).values
        assert all(stride >= 0 for stride in there.strides)
        assert not np.shares_memory(there, base)
        assert there.flags.writeable


@SHARES
def test_memory_is_shared_only_where_neither_library_can_write(
    toy_arrays: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = xpgrad.get_device("@strict:cpu")
    toy_array = ToyArray([1.0, 2.0])
    monkeypatch.setattr(toy_arrays, "immutable", True)
    there = transfer(toy_array, here)
    assert not np.shares_memory(np.from_dlpack(there), toy_array.values)
    there[0] = 5.0
    monkeypatch.setattr(here.backend, "immutable", True)
    assert np.shares_memory(np.from_dlpack(transfer(toy_array, here)), toy_array.values)


def test_arrays_that_dlpack_does_not_support_are_moved_through_the_host(
    toy_arrays: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> Any:
        raise BufferError("not this dtype")

    monkeypatch.setattr(toy_arrays, "from_dlpack", refuse)
    assert transfer(np.ones(2), xpgrad.get_device("@toy:cpu")).values.tolist() == [1.0, 1.0]


def test_the_host_owns_the_memory_of_moved_arrays(toy_arrays: Any) -> None:
    for array in (ToyArray([1.0, 2.0]), ToyArray([1.0, 2.0], "away"), array_api_strict.ones(2)):
        arrived = transfer(array, xpgrad.get_device("@numpy"))
        assert arrived.base is None  # so a gradient that arrives is not copied once more
        assert arrived.flags.writeable


def test_a_library_that_changes_the_dtype_is_an_error(toy_arrays: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    far = xpgrad.get_device("@toy:away")
    monkeypatch.setattr(toy_arrays, "from_host", lambda array, device: ToyArray(array.astype("float32"), device.handle))
    with pytest.raises(
        DtypeError, match="the copy through the host from @numpy to @toy:away converts float64 to float32"
    ):
        transfer(np.ones(2), far)
    assert transfer(np.ones(2, ">f4"), far).values.tolist() == [1.0, 1.0]  # another byte order is the same dtype
    monkeypatch.setattr(toy_arrays, "from_host", lambda array, device: ToyArray(array[None], device.handle))
    with pytest.raises(PluginError, match=r"gave shape \(1, 2\); expected \(2,\)"):
        transfer(np.ones(2), far)


def test_an_error_names_array_source_and_target_of_a_move() -> None:
    with pytest.raises(ValueError, match="float64") as caught:
        send([None, (np.ones((2, 3)),)], xpgrad.get_device("@strict:no_float64"))
    assert caught.value.__notes__ == [
        "while float64 (2, 3) was moved from @numpy to @strict:no_float64",
        "at arrays[1][0]",
    ]


def test_an_error_names_the_dtype_that_the_target_lacks() -> None:
    with pytest.raises(TypeError, match=r"to @strict:cpu: strict has no dtype float16; it has bool.*; cast the array"):
        send(np.ones(2, np.float16), xpgrad.get_device("@strict:cpu"))


def test_transfer_hooks_are_called_once_for_each_pair_of_devices(third_party: ThirdParty) -> None:
    source = """
from xpgrad import get_device
@hookimpl
def xpgrad_transfer(source, target):
    print(source, "to", target)
"""
    third_party.install("asked", source, modules="numpy")
    program = """
import numpy, xpgrad
host, device = xpgrad.get_device(-1), xpgrad.get_device("@strict:device1")
for _ in range(3):
    host.send(device.send(numpy.ones(2)))
"""
    assert third_party.run(program).splitlines() == ["@numpy to @strict:device1", "@strict:device1 to @numpy"]
