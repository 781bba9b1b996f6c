"""The namespaces: every name of the standard with its signature, and the description of a namespace."""

import inspect
import operator
import re
import types
from pathlib import Path

import array_api_strict
import pytest
from tests.devices import device_or_skip

import xpgrad
from xpgrad import Variable, array_api, ops
from xpgrad.array_api.namespace import namespace
from xpgrad.backend.standard import CHAPTERS, DTYPES
from xpgrad.testing.arrays import on_host, placed

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
OTHERS = {"Device", "ArrayAPIStrictFlags", "__version__", "linalg"}
"""Names specific to array-api-strict, and the extension with a separate test."""
MAIN = [name for name in array_api_strict.__all__ if not name.endswith("_flags") and name not in OTHERS]
MODULES = ("array_api", "numpy", "strict")
EXTENSIONS = ("linalg", "fft")
CONSTANTS = ("e", "inf", "nan", "newaxis", "pi")
ITSELF = ("__array_api_version__", "__array_namespace_info__")
DOCUMENTED = Path(__file__).parents[3].joinpath("docs/interop.md").read_text(encoding="utf-8")
INTERNAL = (
    "gate", "constant_power", "tanh_slope", "tanh_backward", "transposed_matmul", "sum_to", "getitem", "setitem",
    "complex_sign", "duplicate", "cornered", "windows", "fold", "relu", "softmax_from_log", "_cast",
)  # fmt: skip
"""Primitives that rules and compositions call."""


def module_of(word):
    return array_api if word == "array_api" else namespace(device_or_skip(f"@{word}").backend)


def assert_takes_what_the_standard_takes(function, standard):
    """Compare parameters by name, kind and default; additional parameters and positional keywords may be allowed."""
    wanted, given = (inspect.signature(each).parameters for each in (standard, function))
    positional = [p for p in wanted.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    for ours, theirs in zip(given.values(), positional, strict=False):
        assert ours.kind is theirs.kind, f"{standard.__name__}: {theirs.name} is {ours.kind}"
    for name, theirs in wanted.items():
        if theirs.kind is theirs.VAR_POSITIONAL:
            assert any(p.kind is p.VAR_POSITIONAL for p in given.values()), standard.__name__
            continue
        assert name in given, standard.__name__
        assert given[name].kind in (theirs.kind, inspect.Parameter.POSITIONAL_OR_KEYWORD), standard.__name__
        if theirs.default is not inspect.Parameter.empty and "Undef" not in repr(theirs.default):  # "not given"
            assert given[name].default == theirs.default, standard.__name__
    for name in given.keys() - wanted.keys():
        assert given[name].default is not inspect.Parameter.empty, standard.__name__


@pytest.mark.parametrize("word", MODULES)
def test_every_name_of_the_standard_is_here(word):
    assert {"add", "asarray", "unique_all", "__array_namespace_info__", "float32", "pi", "newaxis"} <= set(MAIN)
    for name in MAIN:
        found, standard = getattr(module_of(word), name), getattr(array_api_strict, name)
        if isinstance(standard, types.FunctionType):
            assert_takes_what_the_standard_takes(found, standard)


@pytest.mark.parametrize("word", MODULES)
def test_every_name_of_the_extension_fft_is_here(word):
    standard = {
        name: value
        for name, value in vars(array_api_strict.fft).items()
        if isinstance(value, types.FunctionType) and "fft" in name
    }
    assert len(standard) == 14
    for name, function in standard.items():
        assert_takes_what_the_standard_takes(getattr(module_of(word).fft, name), function)


def additions(halves):
    """The names that docs/interop.md promises beyond the standard."""
    section = DOCUMENTED.partition("### Beyond the standard")[2].partition("\n## ")[0]
    of_numpy = re.findall(r"`(\w+)`", section.partition("These functions of NumPy are")[2].partition(":")[2])
    assert len(of_numpy) == len(set(of_numpy)) > 50
    return {"lib", "special", *halves, *ops.__all__, *of_numpy}


@pytest.mark.parametrize(("word", "halves"), [("array_api", ["float16"]), ("numpy", ["float16"]), ("strict", [])])
def test_a_namespace_has_the_standard_its_extensions_and_the_documented_additions_only(word, halves):
    module = module_of(word)
    standard = {name for chapter, names in CHAPTERS.items() if chapter not in EXTENSIONS for name in names}
    assert set(dir(module)) == {*standard, *DTYPES, *CONSTANTS, *EXTENSIONS, *ITSELF, *additions(halves)}
    for name in dir(module):
        assert getattr(module, name) is not None or name == "newaxis"
    for name in INTERNAL:
        assert not hasattr(module, name)


@pytest.mark.parametrize("word", ["numpy", "strict"])
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_an_extension_has_the_standards_names_only(word, extension):
    module = getattr(module_of(word), extension)
    assert [f"{extension}.{name}" for name in dir(module)] == sorted(CHAPTERS[extension])
    assert not hasattr(module, "cofactors")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_function_is_defined_in_the_module_of_its_chapter(chapter):
    module = {"statistics": "statistical", "utilities": "utility"}.get(chapter, chapter.replace(" ", "_"))
    for name in CHAPTERS[chapter]:
        home = inspect.unwrap(operator.attrgetter(name)(array_api)).__module__
        shared = chapter == "linalg" and name.partition(".")[2] in CHAPTERS["linear algebra"]
        assert home.split(".")[:3] == ["xpgrad", "array_api", "linear_algebra" if shared else module], f"{name}: {home}"


def test_functions_are_shared_between_namespaces(backend):
    own = namespace(backend)
    assert own is namespace(backend) is Variable(backend.asarray([1.0])).__array_namespace__()
    assert isinstance(own, types.ModuleType)
    assert isinstance(own.fft, types.ModuleType)
    for name in array_api.__all__:
        assert getattr(own, name) is getattr(array_api, name)
    assert own.fft.rfft is array_api.fft.rfft
    assert own.linalg.inv is array_api.linalg.inv


def test_dtypes_agree_with_the_library(backend):
    own = namespace(backend)
    for name in ("bool", "int8", "uint64", "float32", "complex128"):
        assert own.zeros(1, dtype=getattr(own, name)).dtype == getattr(backend.namespace, name)


def test_the_versions_of_the_standard(device):
    x = Variable(device.send(xpgrad.get_device(-1).xp.ones(1)))
    own = namespace(device.backend)
    assert own.__array_api_version__ == array_api.__array_api_version__ == "2025.12"
    assert all(x.__array_namespace__(api_version=version) is own for version in (None, *VERSIONS))
    with pytest.raises(ValueError, match=r"__array_namespace__: expected a version .*2025\.12\), got '1999\.12'"):
        x.__array_namespace__(api_version="1999.12")


def test_namespace_info(device):
    backend = device.backend
    info = namespace(backend).__array_namespace_info__()
    assert info.capabilities().keys() >= {"boolean indexing", "data-dependent shapes", "max dimensions"}
    assert info.devices() == list(backend.devices())
    assert device in info.devices()
    assert info.default_device() == backend.default_device
    with xpgrad.using_device(device):
        assert info.default_device() == device
    for place in (device, device.handle, device.name):
        defaults = info.default_dtypes(device=place)
        assert defaults["real floating"] == backend.default_dtype("float")
        assert defaults.keys() >= {"real floating", "complex floating", "integral", "indexing"}
        assert info.dtypes(device=place, kind="bool") == {"bool": backend.namespace.bool}
    assert set(info.dtypes(kind=("real floating", "bool"))) == {"bool", "float32", "float64"}
    assert "info" in repr(info)
    assert backend.name in repr(info)


def test_the_shared_module_follows_the_current_device(device):
    with xpgrad.using_device(device):
        assert array_api.ones(2).device == array_api.fft.fftfreq(4).device == device
        assert array_api.float32 == device.backend.namespace.float32
        assert device in array_api.__array_namespace_info__().devices()
    assert {"float32", "asarray", "sin", "fft"} <= set(dir(array_api))


def test_a_creation_function_that_is_found_within_a_transformation_works_outside(device):
    found = []
    with xpgrad.using_device(device):
        xpgrad.compile(lambda x: (found.append(array_api.zeros), x * 2)[1])(array_api.ones(1))
        assert on_host(found[0](2)).tolist() == [0.0, 0.0]


def test_missing_attribute_is_named():
    with pytest.raises(AttributeError, match=r"module 'xpgrad\.array_api' has no attribute 'nonsense'"):
        array_api.nonsense  # noqa: B018 - raises
    with pytest.raises(AttributeError, match=r"'xpgrad\.array_api\.fft' has no attribute 'nonsense'"):
        array_api.fft.nonsense  # noqa: B018 - raises


def test_functions_of_dtypes_take_variables(backend):
    xp = namespace(backend)
    x = xp.ones(2, dtype=xp.float32)
    assert xp.result_type(x, 1.0) == xp.result_type(x, xp.float32) == xp.float32
    assert xp.result_type(x, xp.float64) == xp.float64
    assert xp.result_type(x, 1j) == xp.complex64
    assert xp.can_cast(x, xp.float64) is True
    assert xp.can_cast(xp.float64, xp.float32) is False
    assert xp.finfo(x).bits == xp.finfo(xp.float32).bits == 32
    assert xp.iinfo(xp.ones(1, dtype=xp.int8)).max == 127
    assert xp.isdtype(x.dtype, "real floating") is True
    assert xp.isdtype(x.dtype, (xp.float64, "integral")) is False


def test_portable_standard_code(device):
    def normalised(x):
        xp = x.__array_namespace__()
        eps = float(xp.finfo(x.dtype).eps)
        spectrum = xp.fft.rfft(x - xp.mean(x, axis=-1, keepdims=True))
        power = xp.abs(spectrum) ** 2
        return xp.astype(power / (xp.sum(power, axis=-1, keepdims=True) + eps), x.dtype, copy=False)

    x = Variable(device.send(xpgrad.get_device(-1).xp.asarray([[1.0, 3.0, -2.0, 0.5], [0.0, 1.0, 2.0, 4.0]])))
    y = normalised(x)
    assert y.device == device
    y[:, 1].sum().backward()
    slope, step = on_host(x.grad), 1e-6
    moved = on_host(x).copy()
    moved[0, 1] += step
    again = normalised(Variable(device.send(moved)))
    assert abs((on_host(again) - on_host(y))[:, 1].sum() / step - slope[0, 1]) < 1e-5


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_limits_of_floats_are_python_floats(backend):
    xp = namespace(device_or_skip(f"@{backend}").backend)
    for dtype in (xp.float32, xp.complex128):
        info = xp.finfo(dtype)
        assert {type(getattr(info, name)) for name in ("eps", "max", "min", "smallest_normal")} == {float}
        assert info.bits == (32 if dtype == xp.float32 else 64)
        assert xp.isdtype(info.dtype, "real floating")
    with pytest.raises(AttributeError):
        _ = info.no_such_limit


def test_several_arrays_come_in_a_tuple(device):
    xp = namespace(device.backend)
    x = xp.ones(2)
    for several in (xp.broadcast_arrays(x, x), xp.meshgrid(x, x), xp.unstack(x), xp.nonzero(x)):
        assert type(several) is tuple


@pytest.mark.parametrize("word", ["numpy", "strict"])
def test_namespaces_have_numpys_names_beyond_the_standard(word):
    v = Variable(placed([[1.0, 2.0], [3.0, 4.0]], device_or_skip(f"@{word}")))
    xp = v.__array_namespace__()
    y = xp.pad(v, ((1, 0), (0, 0)), mode="constant", constant_values=5.0)
    assert on_host(y.array).tolist() == [[5.0, 5.0], [1.0, 2.0], [3.0, 4.0]]
    assert y.requires_grad
    assert float(xp.einsum("ij,ij->", v, v).array) == 30.0
    for module in (xp, array_api):
        assert not hasattr(module, "not_there")
        assert not hasattr(module, "_private")
