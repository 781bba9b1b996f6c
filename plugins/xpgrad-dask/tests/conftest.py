"""Small chunks, so that small arrays have several, computed in this thread."""

from collections.abc import Iterator

import dask
import pytest


@pytest.fixture(autouse=True)
def _small_chunks() -> Iterator[None]:
    with dask.config.set({"scheduler": "synchronous", "array.chunk-size": "64B", "xpgrad.most-chunks": 8}):
        yield
