"""Signatures at run time, as editors show them, equal the signatures for type checkers."""

import inspect
import types
from typing import Any

import pytest

import xpgrad.array_api as xp
import xpgrad.functions as F
from xpgrad import ops, special, transforms
from xpgrad.array_api import declared

MODULES = xp, xp.linalg, xp.fft, F, ops, special, transforms
PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in MODULES
    for name in dir(module)
    if callable(getattr(module, name)) and not name.startswith("_")
}
DECLARED = [
    name for name, f in vars(declared).items() if isinstance(f, types.FunctionType) and not name.startswith("_")
]


def _arguments(function: Any) -> list[tuple[str, Any, Any]]:
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


def test_no_public_function_hides_its_arguments() -> None:
    functions = {path: f for path, f in PUBLIC.items() if not isinstance(f, type)}
    assert len(functions) > 500
    assert [path for path, f in functions.items() if {"args", "kwargs"} <= {name for name, *_ in _arguments(f)}] == []


@pytest.mark.parametrize("name", DECLARED)
def test_generated_backend_functions_have_the_declared_arguments(name: str) -> None:
    assert _arguments(getattr(xp, name)) == _arguments(getattr(declared, name))
