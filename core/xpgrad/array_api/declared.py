"""Declarations for type checkers of names that each backend's namespace defines: creation functions and dtypes.

The functions are defined and documented in `creation.creators` and `data_types.dtype_functions`; a test compares the
signatures.
"""

# These are declarations, not definitions:
# mypy: disable-error-code="empty-body"
# ruff: noqa: D103

from typing import Any

from xpgrad.array_api.creation import Lengths
from xpgrad.array_api.inspection import NamespaceInfo
from xpgrad.backend.array_api_backend import FloatLimits
from xpgrad.graph.variable import Variable
from xpgrad.types import AnyArray, Dtype, Operand

int8: Dtype
int16: Dtype
int32: Dtype
int64: Dtype
uint8: Dtype
uint16: Dtype
uint32: Dtype
uint64: Dtype
float16: Dtype
float32: Dtype
float64: Dtype
complex64: Dtype
complex128: Dtype


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: Dtype | None = None, device: Any = None
) -> Variable: ...
def asarray(obj: Any, /, *, dtype: Dtype | None = None, device: Any = None, copy: bool | None = None) -> Variable: ...
def empty(shape: Lengths, *, dtype: Dtype | None = None, device: Any = None) -> Variable: ...
def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Dtype | None = None, device: Any = None
) -> Variable: ...
def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Variable: ...
def full(shape: Lengths, fill_value: Operand, *, dtype: Dtype | None = None, device: Any = None) -> Variable: ...
def linspace(
    start: Operand, stop: Operand, /, num: int, *, dtype: Dtype | None = None, device: Any = None, endpoint: bool = True
) -> Variable: ...
def ones(shape: Lengths, *, dtype: Dtype | None = None, device: Any = None) -> Variable: ...
def zeros(shape: Lengths, *, dtype: Dtype | None = None, device: Any = None) -> Variable: ...
def can_cast(from_: Dtype | AnyArray, to: Dtype, /) -> bool: ...
def finfo(type: Dtype | AnyArray, /) -> FloatLimits: ...
def iinfo(type: Dtype | AnyArray, /) -> Any: ...
def isdtype(dtype: Dtype, kind: Any) -> bool: ...
def result_type(*arrays_and_dtypes: Any) -> Dtype: ...
def __array_namespace_info__() -> NamespaceInfo: ...  # noqa: N807 - the standard's name
