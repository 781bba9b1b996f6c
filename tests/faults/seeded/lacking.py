"""Correct backends of libraries that lack a part of the standard, and declare it: every check must let them pass."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from tests.faults.fault import freedom
from tests.faults.seeded.creating import MAKERS
from tests.faults.testbed import Testbed, change

from xpgrad.plugin import Capabilities

BY_FLOAT32 = {"float64": "float32", "complex128": "complex64"}
BY_INT32 = {"int64": "int32", "uint64": "uint32"}
REASON = "this library has none"
RARE = """acosh asinh atanh copysign hypot logaddexp nextafter signbit reciprocal trunc floor_divide remainder
bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor logical_xor isin
unique_all unique_counts unique_inverse unique_values nonzero count_nonzero searchsorted sort argsort cumulative_prod
cumulative_sum diff tensordot vecdot unstack moveaxis roll repeat tile meshgrid tril triu take_along_axis conj imag
real"""
"""Functions that a small library does without."""


def declare(bed: Testbed, missing: Iterable[str]) -> None:
    """Declare facts as missing, in addition to the missing facts of the testbed."""
    given = dict.fromkeys(missing, REASON)
    bed.backend.declared = Capabilities({**bed.backend.capabilities.missing, **given})


def without(bed: Testbed, *names: str) -> None:
    """Take functions and extensions from the library, and declare them as missing."""
    bed.library.absent |= set(names)
    declare(bed, names)


def without_dtypes(bed: Testbed, *names: str) -> None:
    """Take dtypes from the library, which raises where a result would have one, and declare them as missing."""
    right = bed.library.array

    def array(inner: Any, device: str) -> Any:
        if inner.dtype.name in names:
            raise TypeError(f"this library has no {inner.dtype.name}")
        return right(inner, device)

    change(bed.library, array=array)
    without(bed, *names)


def default_to(bed: Testbed, narrow: dict[str, str]) -> None:
    """Let creation functions use other default dtypes: a mapping from NumPy's defaults to the library's."""
    right = bed.backend.default_dtype

    def default_dtype(kind: str) -> Any:
        found = right(kind)
        return np.dtype(narrow.get(found.name, found.name))

    change(bed.backend, default_dtype=default_dtype)
    for name in MAKERS:
        bed.library.names[name] = _narrow_maker(bed, name, narrow)


def _narrow_maker(bed: Testbed, name: str, narrow: dict[str, str]) -> Callable[..., Any]:
    found = bed.original(name)

    def make(*args: Any, dtype: Any = None, **options: Any) -> Any:
        made = found(*args, dtype=dtype, **options)
        of_array = name == "asarray" and isinstance(args[0], (np.ndarray, np.generic))
        wanted = None if dtype is not None or of_array else narrow.get(made.dtype.name)
        return made if wanted is None else found(*args, dtype=np.dtype(wanted), **options)

    return lambda *args, **options: bed.library.call(make, *args, **options)


def refuse_keys(bed: Testbed, refused: Callable[[Any], bool], *methods: str) -> None:
    """Let ``x[key]`` and ``x[key] = u``, or one of these `methods`, raise IndexError for keys with a refused item."""

    def checked(right: Callable[..., Any], self: Any, key: Any, *value: Any) -> Any:
        if any(refused(item) for item in (key if type(key) is tuple else (key,))):
            raise IndexError("only integers and slices are valid indices")
        return right(self, key, *value)

    for method in methods or ("__getitem__", "__setitem__"):
        bed.method(f"Array.{method}", checked)


@freedom("float32 is the only floating-point dtype; no extension and few functions")
def float32_alone(bed: Testbed) -> None:
    default_to(bed, BY_FLOAT32)
    without_dtypes(bed, "float64", "complex64", "complex128")
    without(bed, "linalg", "fft", *RARE.split())


@freedom("there is no float64 and no complex128")
def without_float64(bed: Testbed) -> None:
    default_to(bed, BY_FLOAT32)
    without_dtypes(bed, "float64", "complex128")


@freedom("there are no complex numbers")
def without_complex(bed: Testbed) -> None:
    without_dtypes(bed, "complex64", "complex128")
    without(bed, "fft", "linalg.eig", "linalg.eigvals")


@freedom("complex numbers are in single precision, real ones in both")
def without_complex128(bed: Testbed) -> None:
    default_to(bed, {"complex128": "complex64"})
    without_dtypes(bed, "complex128")


@freedom("there is no linalg and no fft")
def without_extensions(bed: Testbed) -> None:
    without(bed, "linalg", "fft")


@freedom("there is one device")
def one_device(bed: Testbed) -> None:
    bed.library.devices = bed.library.devices[:1]
    bed.backend._given_devices = dict(zip(bed.library.devices, bed.library.devices, strict=True))
    declare(bed, ["several_devices"])


@freedom("int32 is the default integer dtype, of index arrays and positions, and the widest")
def integers_of_32_bits(bed: Testbed) -> None:
    default_to(bed, BY_INT32)
    without_dtypes(bed, *BY_INT32)
    closed = bed.library.closed

    def narrowed(item: Any, device: str) -> Any:
        wanted = BY_INT32.get(item.dtype.name) if isinstance(item, (np.ndarray, np.generic)) else None
        return closed(item if wanted is None else np.asarray(item, wanted), device)

    change(bed.library, closed=narrowed)
    right = bed.library.inner.namespace.astype

    def astype(x: Any, dtype: Any, /, **options: Any) -> Any:
        if dtype in BY_INT32:
            raise TypeError(f"this library has no {dtype}")
        return bed.library.call(right, x, dtype, **options)

    bed.library.names["astype"] = astype


@freedom("an index out of range is an error when the values are looked at", lazy=True)
def errors_when_looked_at(bed: Testbed) -> None:
    call, to_host, scatter = bed.library.call, bed.backend.to_host, bed.kernels["scatter_add"]

    def of_inputs(result: Any, inputs: Any) -> Any:
        seen: list[Any] = []
        bed.library.opened(inputs, seen)
        errors = [array.error for array in seen if hasattr(array, "error")]
        return _with_error(bed, result, errors[0]) if errors else result

    def calls(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return of_inputs(call(function, *args, **kwargs), [*args, *kwargs.values()])

    def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
        def taken(array: Any, places: Any) -> Any:
            return np.take(array, places, axis=axis)

        length = x.shape[0 if axis is None else axis]
        numbers = indices.inner.tolist()
        wrong = [i for i in numbers if not -length <= i < length] if indices.ndim == 1 else []
        if not wrong:
            return calls(taken, x, indices)
        clipped = bed.library.array(np.zeros_like(indices.inner), indices.device)
        error = IndexError(f"index {wrong[0]} is out of bounds for axis {axis} with size {length}")
        return _with_error(bed, calls(taken, x, clipped), error)

    def looked_at(array: Any) -> Any:
        if hasattr(array, "error"):
            raise array.error
        return to_host(array)

    bed.library.names["take"] = take
    bed.kernels["scatter_add"] = lambda spec, parts: of_inputs(scatter(spec, parts), [list(each) for each in parts])
    change(bed.library, call=calls)
    change(bed.backend, to_host=looked_at)


def _with_error(bed: Testbed, result: Any, error: Exception) -> Any:
    """Return a result whose arrays raise `error` when they are read."""
    for array in result if isinstance(result, tuple) else (result,):
        if isinstance(array, bed.library.Array):
            setattr(array, "error", error)  # noqa: B010  # pretend arrays declare no such attribute
    return result


@freedom("arrays cannot be written to")
def immutable(bed: Testbed) -> None:
    def refuse(self: Any, key: Any, value: Any) -> None:
        raise TypeError("arrays of this library are immutable")

    change(bed.library.Array, __setitem__=refuse)
    bed.backend.immutable = True
    declare(bed, ["in_place_update", "index_assignment", "index_assignment_arrays"])


@freedom("eigenvalues of a general matrix are in the reverse of NumPy's order")
def eigenvalues_in_another_order(bed: Testbed) -> None:
    def eig(original: Any, x: Any, /) -> Any:
        values, vectors = original(x)
        return type(original(x))(values[..., ::-1].copy(), -vectors[..., ::-1])

    bed.replace("linalg.eig", eig)
    bed.replace("linalg.eigvals", lambda original, x, /: original(x)[..., ::-1].copy())


@freedom("eigenvectors, singular vectors and the factors of qr have other signs than NumPy's")
def signs_of_factors(bed: Testbed) -> None:
    def eigh(original: Any, x: Any, /) -> Any:
        found = original(x)
        return type(found)(found.eigenvalues, -found.eigenvectors)

    def svd(original: Any, x: Any, /, *, full_matrices: bool = True) -> Any:
        found = original(x, full_matrices=full_matrices)
        return type(found)(-found.U, found.S, -found.Vh)

    def qr(original: Any, x: Any, /, *, mode: str = "reduced") -> Any:
        found = original(x, mode=mode)
        return type(found)(-found.Q, -found.R)

    bed.replace("linalg.eigh", eigh)
    bed.replace("linalg.svd", svd)
    bed.replace("linalg.qr", qr)


@freedom("x[i] takes no index arrays, but the backend's kernels getitem and setitem do")
def indices_by_a_kernel(bed: Testbed) -> None:
    basic, assign = bed.library.Array.__getitem__, bed.library.Array.__setitem__

    def written(x: Any, u: Any, *, index: Any) -> Any:
        made = bed.backend.copy(x)
        assign(made, index, u)
        return made

    refuse_keys(bed, lambda item: isinstance(item, bed.library.Array))
    bed.kernels["getitem"] = lambda x, *, index: basic(x, index)
    bed.kernels["setitem"] = written


@freedom("x[i] takes integers and slices alone, and nothing can be assigned by an index array")
def without_index_arrays(bed: Testbed) -> None:
    refuse_keys(bed, lambda item: isinstance(item, bed.library.Array))
    facts = "index_arrays", "index_arrays_with_slices", "negative_index_arrays", "checked_index_arrays"
    declare(bed, [*facts, "index_assignment_arrays", "data_dependent_shapes"])
    without(bed, "take", "take_along_axis", "searchsorted", "argsort", "nonzero")


@freedom("there is no take, argsort or searchsorted, which assignment by an index array would use")
def without_sorting(bed: Testbed) -> None:
    immutable.plant(bed)
    without(bed, "take", "argsort", "searchsorted", "sort")


@freedom("what goes through DLPack is copied")
def dlpack_by_copies(bed: Testbed) -> None:
    def copied(self: Any, **options: Any) -> Any:
        self.library.wait()
        return self.inner.copy().__dlpack__(**{**options, "copy": None})

    change(bed.library.Array, __dlpack__=copied)
    declare(bed, ["dlpack_shares_memory"])


@freedom("arrays are not exchanged by DLPack in either direction")
def without_dlpack(bed: Testbed) -> None:
    def refuse(self: Any, **options: Any) -> Any:
        raise AttributeError("this library has no DLPack")

    change(bed.library.Array, __dlpack__=refuse, __dlpack_device__=refuse)
    bed.library.absent.add("from_dlpack")
    declare(bed, ["dlpack_export", "dlpack_import", "dlpack_shares_memory"])


@freedom("no result's shape depends on values")
def without_shapes_of_values(bed: Testbed) -> None:
    refuse_keys(bed, lambda item: isinstance(item, bed.library.Array) and bool(item.dtype == bool), "__getitem__")
    without(bed, "nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values")
    declare(bed, ["data_dependent_shapes"])
