"""Dtypes by name, as the configuration and initialisers say them."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import xpgrad
from xpgrad import using_config
from xpgrad.errors import DtypeError
from xpgrad_conformance.checks.spellings import OfAnotherLibrary


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_get_dtype_uses_the_configuration(name):
    assert xpgrad.get_dtype(name) == np.dtype(name)
    assert xpgrad.get_dtype(np.dtype(name)) == np.dtype(name)
    assert xpgrad.get_dtype(getattr(np, name)) == np.dtype(name)
    assert xpgrad.get_dtype() == np.dtype("float32")
    for value in (name, np.dtype(name), getattr(np, name)):
        with using_config("dtype", value):
            assert xpgrad.get_dtype() == np.dtype(name)


def test_get_dtype_is_of_the_current_device():
    with xpgrad.using_device("@strict:device1") as device:
        assert xpgrad.get_dtype("float64") == device.xp.float64
        assert xpgrad.get_dtype() == device.xp.float32


@pytest.mark.parametrize("code", ["e", "f", "d", "f2", "f4", "f8", "F", "D", "?", "i", "i4", "i8"])
def test_get_dtype_accepts_the_short_names_of_numpy(code):
    assert xpgrad.get_dtype(code) == np.dtype(code)


def test_get_dtype_of_an_unknown_name():
    with pytest.raises(TypeError, match="get_dtype: unknown dtype 'float31'; did you mean 'float32'"):
        xpgrad.get_dtype("float31")
    with pytest.raises(TypeError, match="get_dtype: unknown dtype 'sum'; numpy has bool, int8"):
        xpgrad.get_dtype("sum")


def test_a_dtype_that_few_libraries_have_is_not_unknown():
    for dtype in ("float8_e4m3fn", OfAnotherLibrary("float8_e4m3fn"), OfAnotherLibrary("bfloat16")):
        with pytest.raises(TypeError, match=r"zeros: strict has no dtype b?float\d+\w*; it has bool, int8"):
            xpgrad.array_api.zeros(2, dtype=dtype, device="@strict:cpu")


def test_dtypes_of_another_package_for_numpy_in_each_spelling(device):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    if device.backend.name not in ("numpy", "chx"):
        return
    for dtype in (ml_dtypes.bfloat16, "bfloat16", np.dtype(ml_dtypes.bfloat16), OfAnotherLibrary("bfloat16")):
        x = xpgrad.Variable(xpgrad.array_api.ones(3, dtype=dtype, device=device).array)
        xpgrad.array_api.sum(xpgrad.array_api.exp(x) * x).backward()
        assert x.grad.dtype == x.dtype == ml_dtypes.bfloat16
        assert xpgrad.array_api.finfo(x.dtype).bits == 16
        assert xpgrad.initializers.generate_array(xpgrad.initializers.One(dtype), (2,), device=device).dtype == x.dtype


def test_mixed16():
    mixed16 = xpgrad.mixed16
    assert repr(mixed16) == "dtype('mixed16')"
    assert mixed16.dtype == np.float16
    assert xpgrad.get_dtype(mixed16) is mixed16
    assert xpgrad.get_dtype("mixed16") is mixed16
    assert xpgrad.get_dtype(mixed16, map_mixed16=np.float32) == np.float32
    assert xpgrad.get_dtype("float64", map_mixed16=np.float32) == np.float64
    assert pickle.loads(pickle.dumps(mixed16)) is mixed16
    assert copy.deepcopy(mixed16) is mixed16
    with using_config("dtype", mixed16):
        assert xpgrad.get_dtype() is mixed16
        assert xpgrad.Parameter(0, (2,)).dtype == np.float32


def test_default_dtypes_agree_with_the_library(device):
    backend = device.backend
    for kind, value in (("int", 0), ("float", 0.0), ("complex", 0j)):
        assert backend.default_dtype(kind) == backend.namespace.asarray(value).dtype


def test_get_dtype_raises_the_error_of_a_plugin(monkeypatch):
    def empty(*args, **kwargs):
        raise DtypeError("zeros: the library supports 64 bits only if it is configured to")

    host = xpgrad.get_device("@numpy").backend
    monkeypatch.setattr(host, "namespace", SimpleNamespace(empty=empty, float64=np.float64))
    with pytest.raises(DtypeError, match="only if it is configured to"):
        xpgrad.get_dtype("float64")
