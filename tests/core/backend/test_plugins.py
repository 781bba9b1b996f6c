from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest
from tests.core.backend.third_party import GOOD, ThirdParty, gives

from xpgrad.backend.plugins import Plugins, plugins
from xpgrad.errors import BackendUnavailable, UnknownArray


class Tagged(np.ndarray):
    """A subclass that no backend lists."""


def test_backends_are_found_by_name() -> None:
    assert {"numpy", "cupy", "chx", "strict"} <= set(plugins.names())
    assert plugins.backend("strict").name == "strict"
    assert plugins.backend("numpy") is plugins.backend("numpy") is plugins.host


def test_an_unknown_name_raises_with_the_installed_names() -> None:
    with pytest.raises(
        BackendUnavailable, match=r"npu: no backend of this name is installed; .*installed: .*chx, .*cupy, .*numpy"
    ):
        plugins.backend("npu")


def test_an_unclaimed_prefix_raises() -> None:
    with pytest.raises(BackendUnavailable, match="no available backend serves 'tpu'"):
        plugins.backend_of_prefix("tpu")


def test_prefixes_of_standard_specifiers_are_reserved(third_party: ThirdParty) -> None:
    third_party.install("impostor", GOOD, backends="npu", words="cpu")
    assert third_party.plugins().host.name == "numpy"


def test_arrays_are_recognised_by_type(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "data", np.float32, "w+", shape=(3,))
    for array in (np.zeros(2), np.zeros(()), np.array([True]), mapped):
        assert plugins.backend_of(array).name == "numpy"


@pytest.mark.parametrize(
    "array",
    [np.zeros(2).view(Tagged), np.ma.masked_array([1.0]), np.zeros(2, "f4,f4").view(np.recarray)],
    ids=lambda array: type(array).__name__,
)
def test_unlisted_subclasses_raise_with_advice(array: Any) -> None:
    with pytest.raises(
        UnknownArray, match=r"is a subclass of numpy.ndarray that no backend lists; convert it to a plain"
    ):
        plugins.backend_of(array)


@pytest.mark.parametrize("obj", [3.0, [1.0], "text", None, object()], ids=lambda obj: type(obj).__name__)
def test_anything_else_is_no_array(obj: Any) -> None:
    title = f"^{type(obj).__qualname__} is not an array"
    with pytest.raises(UnknownArray, match=f"{title}.*numpy.ndarray"):
        plugins.backend_of(obj)


def test_an_array_of_a_broken_plugin_raises_with_the_cause(third_party: ThirdParty) -> None:
    source = gives("1 / 0")
    module = third_party.install("xpgrad-npu", source, backends="npu")
    third_party.write("more", {"xpgrad.array_modules": {module: module}})
    found = third_party.plugins()
    with pytest.warns(UserWarning, match="ZeroDivisionError"):
        found.load(found.installed.backends["npu"][0])
    array = __import__(module).Array()
    with pytest.raises(BackendUnavailable, match=r"xpgrad-npu 1.0 failed to load: ZeroDivisionError"):
        found.backend_of(array)


def test_a_working_plugin_is_used_if_another_for_its_library_is_broken(third_party: ThirdParty) -> None:
    good = third_party.install("good", GOOD, backends="npu")
    third_party.install("bad", "1 / 0", modules=good)
    third_party.write("more", {"xpgrad.array_modules": {good: good}})
    found = third_party.plugins()
    array = __import__(good).Array()
    with pytest.warns(UserWarning, match="ZeroDivisionError"):
        assert found.backend_of(array).name == "npu"


@pytest.mark.parametrize("scalar", [True, 1, 2.5, 1j, np.float32(1), np.bool_(True), np.int8(3)], ids=repr)
def test_scalars_of_python_and_of_libraries(scalar: Any) -> None:
    assert Plugins().is_scalar(scalar)  # np.float32 loads the plugin that lists it


@pytest.mark.parametrize(
    "obj", [np.zeros(()), [1], "1", None, array_api_strict.asarray(1.0)], ids=lambda o: type(o).__name__
)
def test_arrays_and_other_objects_are_no_scalars(obj: Any) -> None:
    assert not Plugins().is_scalar(obj)


def test_a_scalar_of_a_library_belongs_to_its_backend() -> None:
    assert plugins.backend_of_scalar(np.float32(1)) is plugins.backend("numpy")
    assert plugins.backend_of_scalar(1.0) is None


def test_a_direct_path_must_arrive(third_party: ThirdParty) -> None:
    source = "@hookimpl\ndef xpgrad_transfer(source, target): return lambda array: array"
    third_party.install("liar", source, modules="numpy")
    program = """
import numpy, xpgrad
try:
    xpgrad.get_device("@strict:device1").send(numpy.ones(2))
except xpgrad.PluginError as error:
    print(error)
"""
    expected = "a plugin's direct path from @numpy to @strict:device1 gave numpy.ndarray on @numpy; expected an array"
    assert expected in third_party.run(program)


def test_a_direct_path_is_preferred_to_the_host_and_may_decline(third_party: ThirdParty) -> None:
    source = """
import array_api_strict
@hookimpl
def xpgrad_transfer(source, target):
    def copy(array):
        if array.ndim != 1:
            return NotImplemented
        return array_api_strict.asarray([7.0], device=target.handle)
    return copy if str(target).startswith("@strict") and str(source) == "@numpy" else None
"""
    third_party.install("direct", source, modules="numpy")
    program = """
import numpy, xpgrad
device = xpgrad.get_device("@strict:device1")
print(float(device.send(numpy.ones(1))[0]), float(device.send(numpy.ones(()))))
"""
    assert third_party.run(program) == "7.0 1.0"
