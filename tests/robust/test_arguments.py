"""Wrong arguments of public functions: a clear error or the right value; each commit tries a part of the values."""

import functools
import importlib
import inspect
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.robust import calls, recorded
from tests.robust.arguments import fault
from tests.robust.wrong import WRONG
from tests.turn import part_of

PARTS = 14
FAMILIES: dict[str, Callable[[], list[calls.Call]]] = {
    "cases": calls.of_cases, "links": calls.of_links, "modules": calls.of_modules, "methods": calls.of_methods,
    "scipy": recorded.of_scipy, "special": recorded.of_special, "distributions": recorded.of_distributions,
    "statistics": recorded.of_statistics,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("family", "value"), part_of(list(itertools.product(FAMILIES, WRONG)), PARTS))
def test_wrong_arguments_raise_a_clear_error(
    family: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tried = [(call, place) for call in FAMILIES[family]() for place in call.places()]
    found = [(call.name, place, fault(call, place, value)) for call, place in tried]
    assert not [each for each in found if each[2]]


MODULES = {
    "xpgrad": {
        "elementwise", "force_backprop_mode", "get_array_types", "get_cpu_array_types", "get_function_hooks",
        "is_debug", "no_backprop_mode", "primitive", "set_debug", "use",
    },
    "xpgrad.array_api": set(), "xpgrad.fft": set(), "xpgrad.linalg": set(), "xpgrad.ops": set(),
    "xpgrad.distributions": set(), "xpgrad.functions": set(), "xpgrad.transforms": {"axis_index"},
    "xpgrad.scipy.fft": set(), "xpgrad.scipy.integrate": set(), "xpgrad.scipy.interpolate": set(),
    "xpgrad.scipy.linalg": set(), "xpgrad.scipy.ndimage": set(), "xpgrad.scipy.signal": set(),
    "xpgrad.scipy.sparse.linalg": {"aslinearoperator"}, "xpgrad.scipy.spatial.distance": set(),
}  # fmt: skip
"""Modules whose functions are all called, except for these."""


@functools.cache
def called() -> set[object]:
    """Return the names of the functions that are called, and their definitions, which aliases share."""
    calls = [call for family in FAMILIES.values() for call in family()]
    return {x for call in calls for x in (call.name.rpartition(".")[2], getattr(call.function, "definition", None))}


@pytest.mark.parametrize("module", MODULES)
def test_every_public_function_is_called_with_wrong_arguments(module: str) -> None:
    space = importlib.import_module(module)
    functions = {name: getattr(space, name) for name in space.__all__ if name not in MODULES[module]}
    left = [name for name, x in functions.items() if inspect.isroutine(x) and name not in called()]
    assert [name for name in left if getattr(functions[name], "definition", name) not in called()] == []
