from types import SimpleNamespace
from typing import Any

import array_api_strict
import numpy as np
import pytest

import xpgrad
from xpgrad.errors import BackendUnavailable, PluginError, SpecifierError
from xpgrad.plugin import ArrayAPIBackend


class Array:
    """An array that only has a device."""

    def __init__(self, device: str) -> None:
        self.device = device


def toy(**options: Any) -> ArrayAPIBackend:
    info = SimpleNamespace(default_device=lambda: "gpu:1", devices=lambda: ["gpu:0", "gpu:1", None])
    namespace = SimpleNamespace(__array_namespace_info__=lambda: info, __version__="1.2")
    return ArrayAPIBackend("toy", namespace, [Array], **options)


def names(backend: ArrayAPIBackend) -> list[str]:
    return [device.name for device in backend.devices()]


def test_devices_agree_with_the_namespace_with_the_default_first() -> None:
    backend = toy()
    assert names(backend) == ["@toy:gpu:1", "@toy:gpu:0"]
    assert backend.default_device.handle == "gpu:1"
    assert backend.devices() is backend.devices()


def test_devices_may_be_given_by_index() -> None:
    backend = toy(devices={None: "main", "far": "other"})
    assert names(backend) == ["@toy", "@toy:far"]
    assert [device.handle for device in backend.devices()] == ["main", "other"]
    assert backend.device(None).name == "@toy"
    assert backend.device("far").handle == "other"
    with pytest.raises(SpecifierError, match="unknown device '@toy:near'; toy has @toy, @toy:far"):
        backend.device("near")


def test_devices_may_be_objects_which_are_named_by_str_or_numbered() -> None:
    assert names(toy(devices=["cpu", "cuda:0", SimpleNamespace(long="text with signs")])) == [
        "@toy:cpu",
        "@toy:cuda:0",
        "@toy:2",
    ]


def test_devices_may_be_a_function_that_is_called_late() -> None:
    calls: list[int] = []
    backend = toy(devices=lambda: calls.append(1) or ["cpu"])
    assert not calls
    assert names(backend) == names(backend) == ["@toy:cpu"]
    assert len(calls) == 1


def test_devices_of_one_name_and_no_devices_raise() -> None:
    with pytest.raises(PluginError, match="toy: two devices have the same name; give `devices` as a dict"):
        toy(devices=["cpu", "cpu"]).devices()
    with pytest.raises(BackendUnavailable, match="toy: the library has no device here"):
        _ = toy(devices=list).default_device


def test_the_device_of_an_array() -> None:
    backend = toy()
    assert backend.device_of(Array("gpu:0")) is backend.devices()[1]
    assert backend.device_of(Array("gpu:7")).name == "@toy:gpu:7"  # a device that was not listed


def test_name_version_and_module() -> None:
    assert toy().version == "1.2"
    assert toy(version="3").version == "3"
    backend = toy(module=np)
    assert backend.version == np.__version__
    assert backend.default_device.xp is np
    assert toy().default_device.xp is toy().namespace or toy().default_device.xp.__version__ == "1.2"


def test_functions_that_are_given_get_the_librarys_device_objects() -> None:
    seen: list[Any] = []
    backend = toy(
        synchronize=lambda device: seen.append(device),
        move=lambda array, device: Array(device),
        to_host=lambda array: np.full(2, 7.0),
        from_host=lambda array, device: Array(device),
        is_view=lambda array: False,
    )
    backend.default_device.synchronize()
    assert seen == ["gpu:1"]
    assert backend.move(Array("gpu:0"), backend.default_device).device == "gpu:1"
    assert backend.to_host(Array("gpu:0")).tolist() == [7.0, 7.0]
    assert backend.from_host(np.zeros(1), backend.devices()[1]).device == "gpu:0"
    assert not backend.is_view(Array("gpu:0"))


def test_views_are_assumed_where_the_library_does_not_say_and_can_write() -> None:
    assert toy().is_view(Array("gpu:0"))
    assert not toy(immutable=True).is_view(Array("gpu:0"))


def test_arrays_reach_the_host_from_the_device_called_cpu() -> None:
    moved = []

    class Away(ArrayAPIBackend):
        def move(self, array: Any, device: xpgrad.Device) -> Any:
            moved.append(device.name)
            return np.arange(3.0)

    backend = Away("toy", SimpleNamespace(), [Array], devices={0: "gpu:0", "cpu": "host"})
    assert backend.to_host(Array("gpu:0")).tolist() == [0.0, 1.0, 2.0]
    assert moved == ["@toy:cpu"]


def test_arrays_without_dlpack_and_buffer_raise_instead_of_object_arrays() -> None:
    with pytest.raises(TypeError, match=r"Array gives its values neither through DLPack nor as a buffer; .*to_host"):
        toy().to_host(Array("gpu:0"))


def test_scalars_of_the_library_become_arrays() -> None:
    backend = ArrayAPIBackend("toy", np, [np.ndarray], scalar_types=[np.generic])
    assert type(backend.restore(np.float32(1))) is np.ndarray
    assert backend.restore(np.float32(1)).dtype == np.float32
    result = Array("gpu:0")
    assert backend.restore(result) is result


def test_from_host_uses_dlpack_if_asarray_raises() -> None:
    def asarray(obj: Any, *, device: Any, copy: bool) -> Any:
        if isinstance(obj, np.ndarray):
            raise TypeError("nested lists only")
        return obj, device, copy

    backend = toy()
    backend.namespace.asarray, backend.namespace.from_dlpack = asarray, lambda array: array.tolist()
    assert backend.from_host(np.arange(2.0), backend.default_device) == ([0.0, 1.0], "gpu:1", True)


def test_values_for_debug_mode() -> None:
    backend = xpgrad.get_device("@strict:device1").backend
    send = xpgrad.get_device("@strict:device1").send
    a, b = send(np.asarray([1.0, np.nan])), send(np.asarray([1.0, 2.0]))
    assert backend.has_nan(a)
    assert not backend.has_nan(b)
    assert not backend.has_nan(send(np.asarray([1, 2])))
    assert backend.same_values(a, a)
    assert not backend.same_values(a, b)
    assert backend.same_values(send(np.asarray([True])), send(np.asarray([True])))


def test_dtypes_of_a_library() -> None:
    backend = xpgrad.get_device("@strict").backend
    assert backend.dtype_name(array_api_strict.float32) == "float32"
    assert backend.dtype_name(np.float32) == "float32"  # a type used as a dtype, as in JAX and dask
    assert backend.is_kind(array_api_strict.complex64, "complex floating")
    assert backend.default_dtype("float") == array_api_strict.float64


def test_equal_specs_are_one_object() -> None:
    device = xpgrad.get_device("@strict:device1")
    backend, array = device.backend, device.send(np.zeros((2, 3), np.float32))
    spec = backend.spec(array)
    assert spec is backend.spec(device.send(np.ones((2, 3), np.float32)))
    assert spec is backend.spec_for((2, 3), array_api_strict.float32, device.handle)
    assert repr(spec) == "float32 (2, 3)"
    assert (spec.ndim, spec.size, spec.differentiable, spec.complex) == (2, 6, True, False)
    assert spec is not backend.spec(xpgrad.get_device("@strict:device2").send(np.ones((2, 3), np.float32)))
