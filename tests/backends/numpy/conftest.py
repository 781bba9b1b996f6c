"""What tests of NumPy's kernels in C share."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from xpgrad_numpy.kernels import sources


@pytest.fixture(scope="session")
def _libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def built(_libraries: Path, codegen: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any, Any], None]]:
    """``built(module, loops)`` compiles a module's C source; `loops` returns what it loads, until the test ends.

    Arrays of any size are then large enough for it.
    """
    monkeypatch.setenv("XPGRAD_CACHE_DIR", str(_libraries))
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
