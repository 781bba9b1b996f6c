"""The functions that the backend calls exist in the installed CuPy, and the fake CuPy has no additional names."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from tests.backends.cupy import fake

import xpgrad_cupy

pytest.importorskip("cupy", reason="CuPy is not installed: pip install --group gpu-syntax")

SOURCES = sorted(Path(str(xpgrad_cupy.__file__)).parent.rglob("*.py"))
USED = sorted({name for path in SOURCES for name in re.findall(r"\b(cupyx?(?:\.[a-zA-Z_]\w*)+)", path.read_text())})


def resolved(name: str) -> Any:
    root, *path = name.split(".")
    value = importlib.import_module(root)
    for i, part in enumerate(path):
        if not hasattr(value, part):
            importlib.import_module(".".join((root, *path[: i + 1])))
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("name", USED)
def test_functions_that_the_backend_calls_exist(name: str) -> None:
    assert resolved(name) is not None


@pytest.mark.parametrize("section", sorted(fake.NAMES))
def test_the_names_of_the_fake_module_exist_in_cupy(section: str) -> None:
    assert fake.NAMES[section] <= set(dir(resolved(section)))


def test_special_functions_exist() -> None:
    special = importlib.import_module("xpgrad_cupy.kernels.special")
    assert all(special.find(f"special.{name}") is not None for name in special.NAMES)
    assert special.find("tanh") is None
    assert special.find("special.tanh") is None


def test_arrays_and_devices_have_the_attributes_that_the_backend_uses() -> None:
    cupy = importlib.import_module("cupy")
    wanted = "astype copy data device dtype get imag max nbytes ndim real reshape shape size sum take base"
    assert set(wanted.split()) <= set(dir(cupy.ndarray))
    assert {"use", "synchronize", "id", "__enter__", "__int__"} <= set(dir(cupy.cuda.Device))
    assert {"record", "wait_event", "synchronize"} <= set(dir(cupy.cuda.Stream))
    assert "device_id" in dir(cupy.cuda.MemoryPointer)
    handle = importlib.import_module("xpgrad_cupy.backend").Handle
    assert {handle(0): 1}[handle(0)] == 1
    assert handle(0) == cupy.cuda.Device(0)
