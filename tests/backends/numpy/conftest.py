"""What tests of NumPy's kernels in C share."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from xpgrad_c.cache import Cache, default_directory
from xpgrad_c.directory import CacheError
from xpgrad_numpy.kernels import sources


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A directory for compiled code: the one in pytest's cache, where the next run finds it, if that can be used."""
    kept = os.environ.get("XPGRAD_CACHE_DIR")
    try:
        Cache(default_directory() if kept else "/dev/null").create()
    except CacheError:
        kept = None
    return kept or str(tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def built(folder: str, codegen: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any, Any], None]]:
    """``built(module, loops)`` compiles a module's C source; `loops` returns what it loads, until the test ends.

    Arrays of any size are then large enough for it.
    """
    monkeypatch.setenv("XPGRAD_CACHE_DIR", folder)
    caches = [sources.compiled]

    def build(module: Any, loops: Any) -> None:
        caches.append(loops)
        for cached in caches:
            cached.cache_clear()
        assert module.build()
        monkeypatch.setattr(module, "LEAST", 1, raising=False)

    yield build
    for cached in caches:
        cached.cache_clear()
