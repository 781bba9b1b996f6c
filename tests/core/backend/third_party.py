"""Distributions of third_party: written to a folder as pip would leave them, found through their entry points."""

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from xpgrad.backend.plugins import Plugins

_numbers = itertools.count()

LIBRARY = """
import numpy as np
from xpgrad.plugin import ArrayAPIBackend, BackendUnavailable, hookimpl, scatter_add_by_sorting

class Array: ...

class Mute(Exception):
    def __str__(self):
        raise SystemExit("bye")

def stopped(error):
    raise error

def backend(name="npu", array_types=(Array,), **options):
    options = {"scatter_add": scatter_add_by_sorting, "devices": ["cpu"], **options}
    return ArrayAPIBackend(name, np, array_types, **options)
"""
"""Common beginning of the plugins in the tests: a library of one type, and a backend for it."""


def gives(expression: str) -> str:
    """Return the source of a plugin whose backend is `expression`."""
    return f"@hookimpl\ndef xpgrad_backend(): return {expression}\n"


def kernels(expression: str, backend: str | None = None) -> str:
    """Return the source of a hook that gives the kernels `expression`, for one backend or for all."""
    condition = "" if backend is None else f" if backend.name == {backend!r} else {{}}"
    return f"@hookimpl\ndef xpgrad_kernels(backend): return {expression}{condition}\n"


GOOD = gives("backend()")


class ThirdParty:
    """A directory on `sys.path` with distributions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(
        self, distribution: str, plugin: str, *, backends: str = "", modules: str = "", words: str = "",
        executors: str = "", version: str = "1.0",
    ) -> str:  # fmt: skip
        """Write a distribution whose one module has the source `plugin`, and return the module's name.

        `backends`, `modules`, `words` and `executors` are the names of entry points, separated by blanks; all lead to
        the module.
        """
        module = f"{distribution.replace('-', '_')}_{next(_numbers)}"
        (self.folder / f"{module}.py").write_text(LIBRARY + dedent(plugin))
        groups = {
            "xpgrad.backends": backends, "xpgrad.array_modules": modules, "xpgrad.devices": words,
            "xpgrad.executors": executors,
        }  # fmt: skip
        self.write(distribution, {g: dict.fromkeys(names.split(), module) for g, names in groups.items()}, version)
        return module

    def write(self, distribution: str, groups: Mapping[str, Mapping[str, str]], version: str = "1.0") -> Path:
        """Write the files that pip installs for a distribution, and return its directory."""
        info = self.folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        lines = []
        for group, entries in groups.items():
            lines += [f"[{group}]", *(f"{name} = {module}" for name, module in entries.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        return info

    def plugins(self) -> Plugins:
        """Return a plugin manager that has not looked yet."""
        return Plugins()

    def run(self, program: str, **environment: str) -> str:
        """Return the output of `program` in a new interpreter that finds the distributions."""
        done = self.attempt(program, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def attempt(self, program: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Run `program` in a new interpreter that sees the distributions."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("XPGRAD_")}
        path = os.pathsep.join(filter(None, [str(self.folder), inherited.get("PYTHONPATH")]))
        return subprocess.run(
            [sys.executable, "-c", dedent(program)], env=inherited | {"PYTHONPATH": path} | environment,
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip


@pytest.fixture
def third_party(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ThirdParty]:
    """An empty folder for distributions, on the path of this interpreter too."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("XPGRAD_DEVICE", "XPGRAD_BACKENDS", "XPGRAD_DISABLE_BACKENDS"):
        monkeypatch.delenv(name, raising=False)
    yield ThirdParty(tmp_path)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
