"""Missing capabilities are declared from a closed list, with reasons, and named when they are needed."""

import array_api_strict
import numpy as np
import pytest

import xpgrad
from xpgrad.array_api.namespace import namespace
from xpgrad.backend.standard import CHAPTERS, DTYPES, FUNCTIONS
from xpgrad.errors import MissingFunction, PluginError
from xpgrad.plugin import FACTS, Capabilities


def test_unknown_fact_raises_with_the_nearest_name() -> None:
    with pytest.raises(PluginError, match="unknown fact 'negative_step'; did you mean 'negative_steps'"):
        Capabilities(missing={"negative_step": "no"})
    with pytest.raises(PluginError, match="unknown fact 'xyzzy'; known facts are several_devices"):
        Capabilities(missing_on={"0": {"xyzzy": "no"}})


def test_every_fact_needs_a_reason() -> None:
    for reason in ("", "  ", None):
        with pytest.raises(PluginError, match="'fft' needs a reason in words"):
            Capabilities(missing={"fft": reason})  # type: ignore[dict-item]
    with pytest.raises(PluginError, match=r"'K01\*' needs a reason"):
        Capabilities(expected={"K01*": ""})


def test_tolerances_can_only_grow() -> None:
    assert Capabilities(tolerances={"float32": (2, "sums in float16")}).tolerances["float32"][0] == 2
    with pytest.raises(PluginError, match=r"expected a factor above 1 for the tolerance of 'float32', got 0.5"):
        Capabilities(tolerances={"float32": (0.5, "better")})


def test_missing_capabilities_of_extensions_and_devices_are_found() -> None:
    lacks = Capabilities(missing={"linalg": "none"}, missing_on={"small": {"float64": "32 bits"}})
    assert lacks.lacking(("float32", "linalg.det")) == "linalg: none"
    assert lacks.lacking(("fft.fft", "float64")) is None
    assert lacks.lacking(("float64",), "small") == "float64: 32 bits"
    assert lacks.lacking(("float64",), "large") is None


def test_function_may_be_missing_in_one_dtype() -> None:
    lacks = Capabilities(missing={"linalg.inv[complex64]": "real only"}, missing_on={"0": {"sin[float32]": "no"}})
    assert lacks.lacking(("linalg.inv",)) is None
    assert lacks.lacking(("linalg.inv",), dtype="complex64") == "linalg.inv[complex64]: real only"
    assert lacks.lacking_in("complex64", ("inv", "linalg.inv")) == "linalg.inv[complex64]: real only"
    assert lacks.lacking_in("float32", ("sin",)) is None
    assert lacks.lacking_in("float32", ("sin",), "0") == "sin[float32]: no"
    with pytest.raises(PluginError, match="expected a dtype of the standard in brackets, got 'half'"):
        Capabilities(missing={"sin[half]": "no"})
    with pytest.raises(PluginError, match=r"unknown fact 'threads\[float32\]'"):
        Capabilities(missing={"threads[float32]": "no"})


def test_wrong_function_is_available_but_not_supported() -> None:
    lacks = Capabilities(wrong={"linalg.eigh": "issue 12", "sin[float32]": "issue 13"})
    assert lacks.lacking(("linalg.eigh",)) == "linalg.eigh: issue 12"
    assert lacks.lacking(("linalg.eigh",), wrong=False) is None
    assert lacks.wrong_in("float32", ("sin",)) == "sin[float32]: issue 13"
    assert lacks.wrong_in("float64", ("sin",)) is None
    with pytest.raises(PluginError, match="unknown fact 'threads'"):
        Capabilities(wrong={"threads": "they hang"})


def test_fact_that_follows_from_another_need_not_be_declared() -> None:
    lacks = Capabilities(missing={"dlpack_import": "none"})
    assert lacks.lacking(("from_dlpack",)) == lacks.lacking(("dlpack_shares_memory",)) == "dlpack_import: none"
    assert lacks.lacking(("dlpack_export",)) is None


def test_capabilities_are_made_again_from_plain_data() -> None:
    given = Capabilities(
        {"fft": "none"}, {"0": {"float64": "no"}}, {"exp": (2.0, "fast")}, {"K*": "bug"}, {"sin": "bug"}
    )
    assert Capabilities(**given.as_dict()) == given


def test_capabilities_do_not_change() -> None:
    given = {"fft": "none"}
    lacks = Capabilities(missing=given)
    given["linalg"] = "none"
    assert dict(lacks.missing) == {"fft": "none"}
    with pytest.raises(TypeError):
        lacks.missing["linalg"] = "none"  # type: ignore[index]


def test_chapters_of_the_standard_agree_with_the_strict_library() -> None:
    for chapter, names in CHAPTERS.items():
        for name in names:
            module, _, function = name.rpartition(".")
            found = getattr(array_api_strict, module) if module else array_api_strict
            assert hasattr(found, function), f"{chapter}: {name}"
    assert all(hasattr(array_api_strict, name) for name in DTYPES)
    functions = {n for n in array_api_strict.__all__ if callable(getattr(array_api_strict, n)) and n.islower()}
    own = {"set_array_api_strict_flags", "get_array_api_strict_flags", "reset_array_api_strict_flags", *DTYPES}
    assert functions - own - set(FUNCTIONS) == {"__array_namespace_info__"}
    assert not set(FACTS) & {*FUNCTIONS, *DTYPES}


@pytest.mark.parametrize("name", ["expm1", "linalg.det", "fft.rfft", "take_along_axis", "linalg.slogdet"])
def test_function_that_a_library_lacks_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    backend = xpgrad.get_device("@strict").backend
    module, _, function = name.rpartition(".")
    monkeypatch.delattr(getattr(array_api_strict, module) if module else array_api_strict, function)
    backend.xp.set_providers(backend.xp._providers)  # clears resolved kernels
    here = namespace(backend)
    call = getattr(getattr(here, module) if module else here, function)
    x = xpgrad.Variable(array_api_strict.asarray(np.eye(3) + 0.1))
    args = (x, array_api_strict.zeros((3, 3), dtype=array_api_strict.int64)) if function == "take_along_axis" else (x,)
    with pytest.raises(MissingFunction, match=f"strict: the library has no '{name}', which this operation needs") as e:
        call(*args)
    assert e.value.function == name
    monkeypatch.undo()
    backend.xp.set_providers(backend.xp._providers)
    call(*args)
