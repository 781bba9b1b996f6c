"""Fixtures of the tests of executors: folders for compiled code."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.backends.c_executor.compilers import PATH

from xpgrad_c import executor
from xpgrad_c.cache import Cache
from xpgrad_c.compiler import found
from xpgrad_c.process import BuildError


@pytest.fixture(scope="session")
def probed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which the compiler of this machine is known; empty without a compiler."""
    path = tmp_path_factory.mktemp("probed") / "xpgrad"
    cache = Cache(str(path))
    cache.create()
    try:
        found(cache)
    except BuildError:
        pass
    return path


@pytest.fixture
def no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the folder of the cache is to be made, for one test."""
    monkeypatch.setenv("XPGRAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("XPGRAD_CODEGEN", raising=False)
    yield tmp_path / "cache" / "xpgrad"
    assert executor.wait(60)


@pytest.fixture
def shared_folder(probed_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory for all tests together, in which a test finds code that an earlier test compiled."""
    monkeypatch.setenv("XPGRAD_CACHE_DIR", str(probed_folder.parent))
    monkeypatch.delenv("XPGRAD_CODEGEN", raising=False)
    yield probed_folder
    assert executor.wait(60)


@pytest.fixture
def folder(no_folder: Path, probed_folder: Path) -> Path:
    """A folder for one test, in which the compiler is known."""
    Cache(str(no_folder)).create()
    for file in probed_folder.glob("compiler-*"):
        shutil.copy(file, no_folder)
    return no_folder


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A function that makes a shell script the only compiler."""

    def make(text: str, name: str = "cc") -> Path:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\nPATH='{PATH}'; export PATH\n{text}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", str(path.parent))
        monkeypatch.delenv("CC", raising=False)
        return path

    return make


@pytest.fixture(autouse=True)
def _compiling(codegen: None) -> None:
    pass
