"""Names of dtypes, whichever of their forms is given."""

import pytest

import xpgrad
import xpgrad_chx as chx


@pytest.mark.parametrize("name", ["bool", "int8", "uint64", "float32", "complex128"])
def test_dtype_of_the_namespace_has_its_name(name: str) -> None:
    backend = xpgrad.get_device("native:0").backend
    dtype = getattr(chx, name)
    assert backend.dtype_name(dtype) == backend.dtype_name(chx.zeros((2,), dtype=dtype).dtype) == name
