"""`to_intel64`: with an installed third-party plugin, in a new interpreter, and without a plugin."""

from pathlib import Path

import pytest
from tests.core import toy_arrays
from tests.core.backend.third_party import ThirdParty, third_party

__all__ = ["third_party"]

PLUGIN = """
import toy_arrays

class Backend(ArrayAPIBackend):
    def suits(self, shape, dtype):
        return dtype == "float32" and len(shape) in (1, 2, 4)

@hookimpl
def xpgrad_backend():
    return Backend(NAME, toy_arrays, [toy_arrays.ToyArray], devices={None: "here"}, scatter_add=scatter_add_by_sorting)

@hookimpl
def xpgrad_device(specifier):
    if specifier == "intel64":
        from xpgrad import get_device
        return get_device("@" + NAME)
"""
PROGRAM = """
import numpy as np, xpgrad, xpgrad.functions as F
from xpgrad.backends import intel64

one = np.ones(2, np.float32)

# data and gradient, and back
x = xpgrad.Variable(one, grad=2 * one)
assert x.to_intel64() is x
print(x.device, type(x.array).__name__, type(x.grad).__name__)
F.sum(x * x).backward()
x.to_cpu()
print(x.device, x.array.tolist(), x.grad.tolist())

# what does not suit becomes NumPy's, wherever it was
strict = xpgrad.get_device("@strict:device1")
for array in (np.ones(2), np.ones((1, 1, 1), np.float32), np.ones((), np.float32), np.ones(2, np.int32)):
    for x in (xpgrad.Variable(array), xpgrad.Variable(strict.send(array))):
        print(x.to_intel64().device, type(x.array).__name__, end="; ")
print()
print(xpgrad.Variable(np.ones(2)).to_device(DEVICE).to_intel64().device)

# from another library, and inside a graph
w = xpgrad.Variable(strict.send(one))
y = w * 3.0
y.to_intel64()
F.sum(y).backward()
print(y.device, w.grad_var.device)

# parameters that have no array yet
for fill, shape in ((float, (2,)), (float, (1, 2, 3)), (np.ones(2), (2,))):
    p = xpgrad.Parameter(1.0 if fill is float else None).to_intel64()
    p.initializer = 1.0 if fill is float else fill
    p.initialize(shape)
    print(p.device, p.grad.shape == shape, end="; ")
print(xpgrad.get_device("intel64" if WORD else "@intel64"), intel64.is_ideep_available())
"""


@pytest.mark.parametrize("word", [False, True], ids=["a backend of this name", "a backend that claims the word"])
def test_only_supported_arrays_move_to_intel64(third_party: ThirdParty, word: bool) -> None:
    name = "mkl" if word else "intel64"
    (third_party.folder / "toy_arrays.py").write_text(Path(toy_arrays.__file__).read_text())
    third_party.install(
        "xpgrad-intel",
        f"NAME = {name!r}\n" + PLUGIN,
        backends=name,
        modules="toy_arrays",
        words="intel64" if word else "",
    )
    device = f"@{name}"
    program = f"DEVICE, WORD = {device!r}, {word}\n" + PROGRAM
    assert third_party.run(program).splitlines() == [
        f"{device} ToyArray ToyArray",
        "@numpy [1.0, 1.0] [4.0, 4.0]",
        "@numpy ndarray; " * 8,
        "@numpy",
        f"{device} @strict:device1",
        f"{device} True; @numpy True; @numpy True; {device} True",
    ]


def test_a_plugin_that_cannot_be_used_is_as_none(third_party: ThirdParty) -> None:
    source = "@hookimpl\ndef xpgrad_backend(): raise BackendUnavailable('intel64: no such processor')"
    third_party.install("xpgrad-intel", source, backends="intel64", words="intel64")
    program = """
import numpy as np, xpgrad
from xpgrad.backends import intel64
print(xpgrad.Variable(np.ones(2, np.float32)).to_intel64().device, intel64.is_ideep_available())
try:
    xpgrad.get_device("@intel64")
except RuntimeError as error:
    print(error)
"""
    assert third_party.run(program) == "@numpy False\nintel64: no such processor"


def test_a_claimed_prefix_is_the_device_that_its_plugin_returns(third_party: ThirdParty) -> None:
    (third_party.folder / "toy_arrays.py").write_text(Path(toy_arrays.__file__).read_text())
    source = """
    import toy_arrays

    @hookimpl
    def xpgrad_backend():
        options = {"devices": {"gpu": "away", "cpu": "here"}, "scatter_add": scatter_add_by_sorting}
        return ArrayAPIBackend("mkl", toy_arrays, [toy_arrays.ToyArray], **options)

    @hookimpl
    def xpgrad_device(specifier):
        from xpgrad import get_device
        return get_device("@mkl:cpu") if specifier in ("intel64", "@intel64") else None
    """
    third_party.install("xpgrad-intel", source, backends="mkl", modules="toy_arrays", words="intel64")
    program = """
import numpy as np, xpgrad
print(*map(xpgrad.get_device, ("@mkl", "intel64", "@intel64")), xpgrad.Variable(np.ones(2)).to_intel64().device)
try:
    xpgrad.get_device("@intel64:7")
except xpgrad.errors.SpecifierError as error:
    print(str(error).partition(";")[0])
"""
    assert third_party.run(program).splitlines() == [
        "@mkl:gpu @mkl:cpu @mkl:cpu @mkl:cpu",
        "get_device: unknown device '@intel64:7'",
    ]
