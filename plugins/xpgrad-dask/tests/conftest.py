"""Small chunks, so that small arrays have several, computed in this thread."""

from collections.abc import Iterator

import dask
import pytest

import xpgrad

xpgrad.global_config.detect_mutation = True


@pytest.fixture(autouse=True)
def _small_chunks() -> Iterator[None]:
    with dask.config.set({"scheduler": "synchronous", "array.chunk-size": "64B", "xpgrad.most-chunks": 8}):
        yield
