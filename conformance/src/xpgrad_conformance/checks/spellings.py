"""Family D, third part: every function that takes a dtype or a device takes it in every spelling."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad import Variable, array_api, functions, get_device, initializers, links, ops, random
from xpgrad.backend.standard import FUNCTIONS
from xpgrad_conformance.check import check
from xpgrad_conformance.subject import Subject

BY_NUMPYS_NAMES = "cumsum", "cumprod", "cov", "corrcoef", "nanmean", "nanvar", "nanstd", "trace"


def _by_name(name: str, x: Variable, dtype: Any) -> Any:
    """Return the result of a function with NumPy's arguments; for type checkers some names mean another function."""
    return getattr(array_api, name)(x, dtype=dtype)


INITIALIZERS = "Constant", "Identity", "Normal", "Uniform"
"""Some of the initializers, which share the parameter dtype of their base class."""
LINKS: dict[str, Callable[..., Any]] = {
    "BatchNormalization": lambda dtype: links.BatchNormalization(2, dtype=dtype).gamma,
    "BatchRenormalization": lambda dtype: links.BatchRenormalization(2, dtype=dtype).gamma,
    "BinaryHierarchicalSoftmax": lambda dtype: (
        links.BinaryHierarchicalSoftmax(
            2, links.BinaryHierarchicalSoftmax.create_huffman_tree({0: 1, 1: 2}), dtype=dtype
        ).W
    ),
    "DecorrelatedBatchNormalization": lambda dtype: Variable(
        links.DecorrelatedBatchNormalization(2, groups=1, dtype=dtype).avg_mean
    ),
    "InceptionBN": lambda dtype: next(
        p for name, p in links.InceptionBN(2, 2, 2, 2, 2, 2, "max", 2, dtype=dtype).namedparams() if "gamma" in name
    ),
    "NegativeSampling": lambda dtype: links.NegativeSampling(2, [1, 2], 1, dtype=dtype).W,
}
"""A parameter of a link that takes a dtype; links are made on the host, and then moved."""


def _initialized(name: str, x: Variable, dtype: Any, device: Any) -> Any:
    """Return an array with the values of an initializer, to which the dtype is given."""
    options = {"fill_value": 2} if name == "Constant" else {}
    return initializers.generate_array(getattr(initializers, name)(dtype=dtype, **options), (2, 2), device=device)


OF_ARRAYS: dict[str, Callable[..., Any]] = {
    "astype": lambda x, dtype: array_api.astype(x, dtype),
    "Variable.astype": lambda x, dtype: x.astype(dtype),
    "functions.cast": lambda x, dtype: functions.cast(x, dtype),
    "sum": lambda x, dtype: array_api.sum(x, dtype=dtype),
    "Variable.sum": lambda x, dtype: x.sum(dtype=dtype),
    "prod": lambda x, dtype: array_api.prod(x, axis=0, dtype=dtype),
    "cumulative_sum": lambda x, dtype: array_api.cumulative_sum(x, axis=0, dtype=dtype),
    "cumulative_prod": lambda x, dtype: array_api.cumulative_prod(x, axis=0, dtype=dtype),
    "linalg.trace": lambda x, dtype: array_api.linalg.trace(x, dtype=dtype),
    "nansum": lambda x, dtype: array_api.nansum(x, dtype=dtype),
    "nanprod": lambda x, dtype: array_api.nanprod(x, dtype=dtype),
    "nancumsum": lambda x, dtype: array_api.nancumsum(x, axis=0, dtype=dtype),
    "nancumprod": lambda x, dtype: array_api.nancumprod(x, axis=0, dtype=dtype),
    "ops.nansum": lambda x, dtype: ops.nansum(x, dtype=dtype),
    "ops.nanprod": lambda x, dtype: ops.nanprod(x, dtype=dtype),
    "ops.nancumsum": lambda x, dtype: ops.nancumsum(x, axis=0, dtype=dtype),
    "ops.nancumprod": lambda x, dtype: ops.nancumprod(x, axis=0, dtype=dtype),
    "one_hot": lambda x, dtype: array_api.one_hot(array_api.argmax(x, axis=0), 2, dtype=dtype),
    "concatenate": lambda x, dtype: array_api.concatenate([x, x], dtype=dtype),
    "hstack": lambda x, dtype: array_api.hstack([x, x], dtype=dtype),
    "vstack": lambda x, dtype: array_api.vstack([x, x], dtype=dtype),
    **{name: functools.partial(_by_name, name) for name in BY_NUMPYS_NAMES},
    "numpy.sum": lambda x, dtype: np.sum(x, dtype=dtype),
    "numpy.mean": lambda x, dtype: np.mean(x, dtype=dtype),
    "numpy.add": lambda x, dtype: np.add(x, x, dtype=dtype),
    "numpy.add.accumulate": lambda x, dtype: np.add.accumulate(x, dtype=dtype),
    "numpy.full_like": lambda x, dtype: np.full_like(x, 2, dtype=dtype),
    "result_type": lambda x, dtype: array_api.zeros_like(x, dtype=array_api.result_type(dtype)),
}
"""Functions of an array that take a dtype."""
CREATORS: dict[str, Callable[..., Any]] = {
    "arange": lambda x, **place: array_api.arange(3, **place),
    "asarray": lambda x, **place: array_api.asarray([1, 2], **place),
    "asarray of a Variable": lambda x, **place: array_api.asarray(x, **place),
    "empty": lambda x, **place: array_api.empty(2, **place),
    "empty_like": lambda x, **place: array_api.empty_like(x, **place),
    "eye": lambda x, **place: array_api.eye(2, **place),
    "fft.fftfreq": lambda x, **place: array_api.fft.fftfreq(4, **place),
    "fft.rfftfreq": lambda x, **place: array_api.fft.rfftfreq(4, **place),
    "full": lambda x, **place: array_api.full((2,), 1, **place),
    "full_like": lambda x, **place: array_api.full_like(x, 1, **place),
    "linspace": lambda x, **place: array_api.linspace(0, 1, 3, **place),
    "ones": lambda x, **place: array_api.ones(2, **place),
    "ones_like": lambda x, **place: array_api.ones_like(x, **place),
    "random.normal": lambda x, dtype, device: random.normal((2,), dtype, device),
    "random.uniform": lambda x, dtype, device: random.uniform((2,), dtype, device),
    "initializers.generate_array": lambda x, dtype, device: initializers.generate_array(
        initializers.One(dtype), (2,), device=device
    ),
    **{f"initializers.{name}": functools.partial(_initialized, name) for name in INITIALIZERS},
    "zeros": lambda x, **place: array_api.zeros(2, **place),
    "zeros_like": lambda x, **place: array_api.zeros_like(x, **place),
}
"""Functions that take a dtype and a device."""
INDICES: dict[str, Callable[..., Any]] = {
    "diag_indices": lambda device: array_api.diag_indices(2, device=device)[0],
    "tril_indices": lambda device: array_api.tril_indices(2, device=device)[0],
    "triu_indices": lambda device: array_api.triu_indices(2, device=device)[0],
}
"""Functions that take a device, but no dtype."""

NEEDS: dict[str, tuple[str, ...]] = {
    "Variable.sum": ("sum",), "numpy.sum": ("sum",), "numpy.mean": ("mean",), "numpy.add": ("add",),
    "numpy.add.accumulate": ("cumulative_sum",), "numpy.full_like": ("full_like",),
    "nansum": ("isnan", "sum"), "nanprod": ("isnan", "prod"),
    "nancumsum": ("isnan", "cumulative_sum"), "nancumprod": ("isnan", "cumulative_prod"), "one_hot": ("argmax",),
    **dict.fromkeys(("nanmean", "nanvar", "nanstd"), ("isnan", "sum", "where")),
    **dict.fromkeys(("cov", "corrcoef"), ("matmul", "sum", "sqrt")),
    "linalg.trace": ("linalg",), "trace": ("linalg",),
    "cumsum": ("cumulative_sum",), "cumprod": ("cumulative_prod",), "fft.fftfreq": ("fft",), "fft.rfftfreq": ("fft",),
    **dict.fromkeys(("tril_indices", "triu_indices"), ("nonzero", "data_dependent_shapes")),
}  # fmt: skip
"""Facts that a function needs in addition to the fact of its name."""


class OfAnotherLibrary:
    """A dtype of an unknown library; the text of such an object ends in the standard's name.

    Parameters
    ----------
    name : str
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"another.{self.name}"


def spellings(s: Subject, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the spellings of a dtype: dtypes of the library, of NumPy, of another library, and names."""
    dtype = np.dtype(name)
    yield "the namespace's", s.dtype_of(name)
    yield "that of an array", s.array(np.ones(2, name), name).dtype
    yield "the standard's name", name
    yield "NumPy's short name", f"{dtype.kind}{dtype.itemsize}"
    yield "NumPy's", dtype
    yield "NumPy's type", dtype.type
    yield "another library's", OfAnotherLibrary(name)


def devices(s: Subject, x: Variable) -> Iterator[tuple[str, Any]]:
    """Yield the spellings of the device with their descriptions."""
    yield "the device", s.device
    yield "that of a Variable", x.device
    if get_device(s.device.name) == s.device:  # a device of a transformation has no name
        yield "its name", s.device.name


def _needs(title: str) -> tuple[str, ...]:
    """Return the facts that a function needs."""
    name = title.removeprefix("ops.")
    return (*((name,) if name in FUNCTIONS else ()), *NEEDS.get(name, ()))


def _present(s: Subject, functions: dict[str, Callable[..., Any]]) -> list[tuple[str, Callable[..., Any]]]:
    """Return the functions whose required arguments the library supports, with their names."""
    return [(title, call) for title, call in functions.items() if s.has(*_needs(title))]


@check("D28")
def spellings_of_dtypes(s: Subject) -> None:
    """A function with a dtype parameter accepts any spelling of a dtype, for any current device."""
    held = random.held_states()
    x = s.variable(s.values((2, 2), 0.5, 2.0, s.wide), s.wide)
    for name in s.dtypes("f"):
        for which, dtype in spellings(s, name):
            for title, call in _present(s, OF_ARRAYS):
                _expect(s, call(x, dtype), name, f"{title} with dtype={which} {name}")
            for title, call in _present(s, CREATORS):
                _expect(s, call(x, dtype=dtype, device=s.device), name, f"{title} with dtype={which} {name}")
            for title, parameter in LINKS.items():
                assert array_api.is_same_dtype(parameter(dtype).dtype, name), f"links.{title} with {which} {name}"
            for other in s.dtypes("f", "i"):
                same = array_api.is_same_dtype(dtype, s.dtype_of(other))
                assert same is (other == name), f"is_same_dtype of {which} {name} and {other} is {same}"
                same = array_api.isdtype(dtype, s.dtype_of(other))
                assert same is (other == name), f"isdtype of {which} {name} and {other} is {same}"
            assert array_api.isdtype(dtype, "real floating"), f"isdtype({which} {name}, 'real floating') is False"
            assert not array_api.isdtype(dtype, "integral"), f"isdtype({which} {name}, 'integral') is True"
            bits = array_api.finfo(dtype).bits
            assert bits == np.finfo(name).bits, f"finfo({which} {name}).bits is {bits}"
            assert array_api.can_cast(dtype, s.dtype_of(name)), f"can_cast({which} {name}, {name}) is False"
    random.restore(held)


@check("C14")
def spellings_of_devices(s: Subject) -> None:
    """A function with a device parameter accepts any spelling and creates its array there, for any current device."""
    held = random.held_states()
    x = s.variable(s.values((2, 2), 0.5, 2.0, s.wide), s.wide)
    for which, device in devices(s, x):
        for title, call in _present(s, CREATORS):
            _expect(s, call(x, dtype="float32", device=device), "float32", f"{title} with device={which}")
        for title, call in _present(s, INDICES):
            _expect(s, call(device), "", f"{title} with device={which}")
    random.restore(held)


def _expect(s: Subject, made: Any, dtype: str, what: str) -> None:
    """Raise AssertionError unless `made` is an array on the device, with the dtype of this name; "" is any."""
    s.expect(made, s.host(made), what, dtype=dtype)
