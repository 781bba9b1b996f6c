"""`xpgrad.backends.cuda`, on machines without a GPU, with a GPU, and with a fake GPU library."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable
from xpgrad.backends import cuda, intel64
from xpgrad.errors import BackendUnavailable


@pytest.fixture
def without() -> None:
    """Only on machines without a GPU."""
    if cuda.available:
        pytest.skip("there is a GPU here")


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> xpgrad.Device:
    """A device that counts as GPU number 0: a device of array-api-strict whose library compiles kernels from source."""
    device = xpgrad.get_device("@strict:device1")
    library = SimpleNamespace(
        ElementwiseKernel=lambda *args, **kwargs: ["elementwise", *args, kwargs],
        ReductionKernel=lambda *args, **kwargs: ["reduce", *args, kwargs],
        RawKernel=lambda *args, **kwargs: ["raw", *args, kwargs],
        fuse=lambda function: ["fused", function],
        cuda=SimpleNamespace(Event="event", Stream="stream"),
    )
    from xpgrad.backend.plugins import plugins

    before = plugins.backend_of_prefix
    monkeypatch.setattr(plugins, "backend_of_prefix", lambda p: device.backend if p == "gpu" else before(p))
    monkeypatch.setattr(device.backend, "device", lambda index: device)
    monkeypatch.setattr(device.backend, "_devices", (device, *device.backend.devices()))
    monkeypatch.setattr(device.backend, "module", library)
    return device


def test_the_modules_have_chainers_names() -> None:
    assert xpgrad.cuda is xpgrad.backends.cuda is cuda
    assert xpgrad.backends.intel64 is intel64
    assert not cuda.cudnn_enabled
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = cuda.nonsense


@pytest.mark.usefixtures("without")
def test_cuda_imports_without_a_gpu_and_available_is_false() -> None:
    assert cuda.available is False
    assert not isinstance(np.zeros(1), cuda.ndarray)
    assert np is not cuda.cupy
    for call in (cuda.check_cuda_available, cuda.Event, cuda.Stream, lambda: cuda.copy(np.zeros(1))):
        with pytest.raises(BackendUnavailable, match=r"^cupy: "):
            call()
    for call in (lambda: cuda.get_device_from_id(0), lambda: cuda.to_gpu(np.zeros(1)), lambda: cuda.raw("code", "f")):
        with pytest.raises(RuntimeError, match=r"^cupy: "):
            call()


def test_the_dummy_device_is_a_context_without_effect() -> None:
    with cuda.DummyDevice as entered:
        assert entered is cuda.DummyDevice
    cuda.DummyDevice.use()
    cuda.DummyDevice.synchronize()
    assert int(cuda.DummyDevice) == cuda.DummyDevice.id == -1
    assert cuda.DummyDevice == cuda.DummyDeviceType()
    assert hash(cuda.DummyDevice) == hash(cuda.DummyDeviceType())
    assert cuda.DummyDevice != xpgrad.get_device(-1)
    assert cuda.get_device_from_id(None) is cuda.get_device_from_id(-1) is cuda.DummyDevice
    assert cuda.get_device_from_array(np.zeros(1), None, 3) is cuda.DummyDevice


def test_arrays_of_the_host() -> None:
    a = np.zeros(1)
    assert cuda.to_cpu(a) is a
    assert cuda.to_cpu([a, (None,)]) == [a, (None,)]
    assert cuda.to_cpu(xpgrad.get_device("@strict:device1").send(a)).tolist() == [0.0]
    assert cuda.get_array_module(a, Variable(a)) is np


def test_memoize_runs_once_for_each_set_of_arguments_and_device() -> None:
    runs: list[Any] = []
    once, each = cuda.memoize()(runs.append), cuda.memoize(for_each_device=True)(runs.append)
    for _ in range(2):
        once("a")
        each("b")
    with xpgrad.using_device("@strict:device1"):
        once("a")
        each("b")
    assert runs == ["a", "b", "b"]
    cuda.clear_memo()
    once("a")
    assert runs == ["a", "b", "b", "a"]


@pytest.mark.usefixtures("without")
def test_fuse_passes_functions_through() -> None:
    @cuda.fuse
    def plain(x: int) -> int:
        return x + 1

    @cuda.fuse()
    def called(x: int) -> int:
        return x + 2

    assert (plain(1), called(1)) == (2, 3)


def test_levels_of_cudnn_and_ideep() -> None:
    for ask in (cuda.should_use_cudnn, intel64.should_use_ideep):
        assert not ask("==always")
        assert not ask(">=auto")
        with pytest.raises(ValueError, match="expected one of ==always, >=auto, got 'auto'"):
            ask("auto")
    assert not cuda.should_use_cudnn("==always", 5000)
    assert cuda.get_max_workspace_size() == 8 * 2**20
    assert not intel64.is_ideep_available()


def test_with_a_gpu(pretended: xpgrad.Device) -> None:
    cuda.clear_memo()
    a = np.ones(2)
    assert cuda.available
    assert cuda.cupy is pretended.backend.module
    assert (cuda.Event, cuda.Stream) == ("event", "stream")
    moved = cuda.to_gpu(a)
    assert isinstance(moved, cuda.ndarray)
    assert pretended.is_array_supported(moved)
    with xpgrad.using_device("@strict:device2") as other:
        assert other.is_array_supported(cuda.to_gpu([a], None)[0])
    assert pretended.is_array_supported(cuda.to_gpu(a, 0))
    assert cuda.get_device_from_id(0) is cuda.get_device_from_array(a, moved) is pretended.handle
    copied = cuda.copy(moved)
    assert copied is not moved
    assert pretended.is_array_supported(copied)
    assert xpgrad.get_device("@strict:device2").is_array_supported(cuda.copy(moved, out_device="@strict:device2"))
    out = np.zeros(2)
    assert cuda.copy(moved, out) is out
    assert out.tolist() == [1.0, 1.0]
    assert cuda.elementwise("T x", "T y", "y = x", "f") is cuda.elementwise("T x", "T y", "y = x", "f")
    assert cuda.reduce("T x", "T y", "x", "a + b", "y = a", "0", "f")[:2] == ["reduce", "T x"]
    assert cuda.raw("code", "f", options=("-O3",)) == ["raw", "code", "f", {"options": ("-O3",)}]
    assert cuda.fuse(abs) == ["fused", abs]
    cuda.clear_memo()


@pytest.mark.gpu
def test_on_the_card() -> None:
    a = cuda.to_gpu(np.ones(2, np.float32))
    assert isinstance(a, cuda.ndarray)
    assert float(cuda.elementwise("T x", "T y", "y = x + 1", "xpgrad_test")(a)[0]) == 2.0
    assert cuda.to_cpu(a).tolist() == [1.0, 1.0]
