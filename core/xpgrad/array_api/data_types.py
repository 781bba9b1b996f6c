"""Data type functions: casts, and limits, kinds and promotion of dtypes of any library."""

import functools
import itertools
from collections.abc import Callable
from typing import Any

from xpgrad.array_api.shared.copying import copy as copied
from xpgrad.array_api.shared.copying import duplicate
from xpgrad.backend.array_api_backend import FloatLimits
from xpgrad.backend.backend import Backend
from xpgrad.backend.checks import check_cast
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spellings import dtype_of, is_name, name_of
from xpgrad.errors import DtypeError
from xpgrad.graph.definition import identity
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.types import AnyArray, Array, Dtype, Namespace

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
KINDS = "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"


@primitive(linear=("x",), x=identity)
def _cast(xp: Namespace, x: AnyArray, /, dtype: Dtype) -> Array:
    """Cast to another dtype; the sweep casts the cotangent back."""
    return xp.astype(x, dtype)


def astype(x: AnyArray, dtype: Dtype, /, *, copy: bool = True, device: Any = None) -> Variable:
    """Return `x` in another dtype.

    Parameters
    ----------
    x : Variable or array
    dtype : dtype of any library, or its name
    copy : bool
        False returns `x` itself if it has the dtype already.
    device : as `get_device` takes it, or None

    Raises
    ------
    DtypeError
        `x` is complex and `dtype` real; `real` takes the real part.
    """
    x = as_variable(x)
    if device is not None:
        x = copied(x, device)
    dtype = check_cast(x, dtype, "astype")
    if x.dtype == dtype:
        return duplicate(x) if copy else x
    return _cast(x, dtype=dtype)


def to_floating(x: AnyArray, /) -> Variable:
    """Return `x`, cast to the default dtype of its library if it is not floating-point."""
    x = as_variable(x)
    spec = x._node.spec
    return x if spec.differentiable else _cast(x, dtype=spec.backend.default_dtype("float"))


def library_of(backend: Backend, *dtypes: Any) -> Backend:
    """Return the backend of the first array among `dtypes`; without one `backend`, if its library has all the dtypes.

    If it lacks one, return the backend of a library that has them all: where one of the dtypes comes from.
    """
    given = [as_array(x) for x in dtypes]
    found = next((known for x in given if (known := plugins.by_type.get(type(x))) is not None), None)
    if found is not None:
        return found
    refusal: DtypeError | None = None
    for each in itertools.chain([backend], (other for x in given for other in plugins.backends_beside(x))):
        try:
            for dtype in given:
                dtype_of(dtype, each)
        except DtypeError as error:
            refusal = refusal or error
        else:
            return each
    raise refusal or DtypeError("expected a dtype")


def same_dtype(backend: Backend, dtype1: Any, dtype2: Any) -> bool:
    """Return whether two dtypes, of one library or of two, have the same name."""
    one, other = [(found := library_of(backend, x)).dtype_name(dtype_of(x, found)) for x in (dtype1, dtype2)]
    return one == other


def _own(backend: Backend, x: Any) -> Any:
    """Return an array unchanged, a scalar as a Python scalar, and a dtype as a dtype of `backend`."""
    array = as_array(x)
    if type(array) in plugins.by_type:
        return array
    return plugins.plain(array) if plugins.is_scalar(array) else dtype_of(array, backend)


def _with_plain_errors(expected: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `function` so errors name the expected and given arguments."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except DtypeError as error:
            raise DtypeError(f"{function.__name__}: {str(error).partition(': ')[2]}") from None
        except (AttributeError, RuntimeError, TypeError, ValueError) as error:
            kind = ValueError if isinstance(error, ValueError) else DtypeError
            given = ", ".join(repr(arg) for arg in (*args, *kwargs.values()))
        raise kind(f"{function.__name__}: expected {expected} got {given}")

    return wrapped


def dtype_functions(backend: Backend) -> dict[str, Callable[..., Any]]:
    """Return the functions of dtypes for the namespace of `backend`, by name; they take dtypes of any library."""

    def can_cast(from_: Any, to: Dtype, /) -> bool:
        """Return whether the dtype `from_`, or the dtype of the array `from_`, can be cast to `to` by promotion."""
        found = library_of(backend, from_, to)
        own = _own(found, from_)
        return bool(found.namespace.can_cast(getattr(own, "dtype", own), _own(found, to)))

    def finfo(type: Any, /) -> Any:
        """Return the limits of a floating-point dtype, or of an array's dtype: bits, eps, max, min, smallest_normal."""
        found = library_of(backend, type)
        return FloatLimits(found.finfo(_own(found, type)))

    def iinfo(type: Any, /) -> Any:
        """Return the limits of an integer dtype, or of an array's dtype: bits, max, min."""
        found = library_of(backend, type)
        return found.namespace.iinfo(_own(found, type))

    def isdtype(dtype: Dtype, kind: Any) -> bool:
        """Return whether `dtype` is of a kind: a dtype, a name such as "real floating", or a tuple of these."""
        found = library_of(backend, dtype)
        own = dtype_of(dtype, found)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        dtypes = [each for each in kinds if each not in KINDS and (not isinstance(each, str) or is_name(name_of(each)))]
        named = tuple([each for each in kinds if each not in dtypes])
        in_named = bool(named) and found.is_kind(own, named)
        return in_named or any(same_dtype(backend, dtype, each) for each in dtypes)

    def result_type(*arrays_and_dtypes: Any) -> Dtype:
        """Return the dtype to which arrays, Variables, dtypes and Python scalars promote; scalars are weak."""
        found = library_of(backend, *(x for x in arrays_and_dtypes if not plugins.is_scalar(x)))
        return found.namespace.result_type(*(_own(found, x) for x in arrays_and_dtypes))

    made: dict[Callable[..., Any], str] = {
        can_cast: "a dtype or an array, and a dtype,",
        finfo: "a floating-point dtype, or an array of one,",
        iinfo: "an integer dtype, or an array of one,",
        isdtype: "a dtype, and a kind such as 'real floating' or a dtype,",
        result_type: "dtypes, arrays and scalars of kinds that promote,",
    }
    for function in made:
        function.__qualname__ = function.__name__
    return {function.__name__: _with_plain_errors(expected, function) for function, expected in made.items()}
