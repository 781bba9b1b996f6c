"""Faults of dtypes: numbers that are read with the wrong sign, width, byte order, or without their imaginary part."""

from typing import Any

import numpy as np
from tests.faults.fault import fault, from_host, misreading, misreading_both, planted_by, replacing
from tests.faults.testbed import Testbed, change


@replacing("argsort", "argsort of unsigned integers in descending order negates them, and 0 comes first", "K")
def argsort_by_negation(right: Any, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    if descending and x.dtype.kind == "u":
        return right(np.negative(x), axis=axis, descending=False, stable=True)
    return right(x, axis=axis, descending=descending, stable=stable)


@fault("int() of a 0-d uint64 array reads it as int64, negative from 2^63 on", "D")
def int_of_uint64_is_signed(bed: Testbed) -> None:
    def number(self: Any) -> int:
        return int(self.inner.view(np.int64)) if self.inner.dtype == np.uint64 else int(self.inner)

    change(bed.library.Array, __int__=number, __index__=number)


@replacing("astype", "astype from complex numbers to bool asks the real parts only", "K")
def bool_of_real_parts(right: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
    if x.dtype.kind == "c" and np.dtype(dtype) == np.bool_:
        return np.asarray(x.real != 0)
    return right(x, dtype, **options)


@replacing("searchsorted", "searchsorted compares uint64 as if it were int64", "K")
def search_of_uint64_is_signed(right: Any, x1: Any, x2: Any, /, **options: Any) -> Any:
    if x1.dtype == x2.dtype == np.uint64:
        x1, x2 = x1.astype(np.int64), x2.astype(np.int64)
    return right(x1, x2, **options)


@planted_by(from_host, "host arrays in the other byte order are read as in the own one", "T")
def foreign_bytes_are_read_as_own(x: Any) -> Any:
    own = np.array(x)
    return own if x.dtype.isnative else own.view(x.dtype.newbyteorder("="))


@misreading(
    "isin", "isin casts the elements to the dtype of those that it looks for, so that 261 is among uint8 5", "K"
)
def isin_casts_to_the_second(x1: Any, x2: Any, **_: Any) -> Any:
    if hasattr(x1, "dtype") and hasattr(x2, "dtype") and x1.dtype != x2.dtype and x1.dtype.kind in "iu":
        x1 = x1.astype(x2.dtype)
    return x1


@misreading_both("add", "a Python integer next to an array of uint64 is refused from 2**63 on", "K")
def scalars_of_63_bits(x1: Any, x2: Any) -> Any:
    if any(type(x) is int and x >= 2**63 for x in (x1, x2)):
        raise OverflowError("Python integer is too large to convert to C long")
    return x1, x2


@replacing("take", "take reads indices of uint8 as signed bytes, so that those from 128 on count from the end", "K")
def take_by_signed_bytes(right: Any, x: Any, indices: Any, /, *, axis: Any = None) -> Any:
    if indices.dtype == np.uint8:
        length = x.shape[0 if axis is None else axis]
        indices = indices.astype(np.int8).astype(np.int64) % max(length, 1)
    return right(x, indices, axis=axis)


all_of_real_parts = replacing("all", "all takes complex numbers whose real part is 0 for zero", "K")(
    lambda right, x, **options: right(x.real if x.dtype.kind == "c" else x, **options)
)
astype_bool_by_integers = misreading(
    "astype", "astype of floats to bool goes through integers, and 0.5 is False", "DK"
)(lambda x, dtype, **_: np.trunc(x) if x.dtype.kind == "f" and dtype == np.bool_ else x)
unsigned_casts_through_signed = misreading(
    "astype", "astype of uint32 to floating-point numbers converts them as int32, which is negative from 2**31 on", "K"
)(lambda x, dtype, **_: x.astype(np.int32) if x.dtype == np.uint32 and np.dtype(dtype).kind == "f" else x)
count_nonzero_real_part = misreading(
    "count_nonzero", "count_nonzero of complex numbers looks at their real parts only", "K"
)(lambda x, **_: x.real if x.dtype.kind == "c" else x)
