import array_api_strict
import numpy as np

import xpgrad
from xpgrad import backend


def test_array_module_of_the_first_array_that_is_not_on_the_host() -> None:
    strict = array_api_strict.asarray([1.0])
    assert xpgrad.get_array_module() is np
    assert xpgrad.get_array_module(None, 3, [1.0], "text") is np
    assert xpgrad.get_array_module(np.ones(2)) is np
    assert xpgrad.get_array_module(np.ones(2), strict) is array_api_strict


def test_array_module_sees_through_variables() -> None:
    x = xpgrad.Variable(array_api_strict.asarray([1.0]))
    assert xpgrad.get_array_module(x) is array_api_strict
    assert xpgrad.get_array_module(np.ones(1), xpgrad.Parameter(np.ones(2)), x) is array_api_strict
    assert xpgrad.get_array_module(xpgrad.Parameter()) is np


def test_array_types() -> None:
    assert np.ndarray in backend.modules.get_array_types()
    assert np.ndarray in backend.modules.get_cpu_array_types()
    assert type(array_api_strict.asarray(1.0)) not in backend.modules.get_cpu_array_types()


def test_arrays_of_one_backend_are_compatible() -> None:
    strict = array_api_strict.asarray([1.0])
    assert backend.modules.is_arrays_compatible([np.ones(2), None, xpgrad.Variable(None), xpgrad.Variable(np.ones(2))])
    assert not backend.modules.is_arrays_compatible([np.ones(2), strict])
    assert not backend.modules.is_arrays_compatible([1])


def test_the_package_has_the_names_of_chainers_module() -> None:
    public = {"get_array_module", "get_device", "get_device_from_array", "using_device", "copyto", "to_chx", "from_chx"}
    assert public | {"Device"} == set(backend.__all__)
    assert all(callable(getattr(backend, name)) for name in public)
