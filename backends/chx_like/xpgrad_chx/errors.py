"""The errors of ChainerX's interface; each derives from the corresponding error of xpgrad, if any."""

import re
from typing import Any, NoReturn

import xpgrad

_ABOUT_SHAPES = "broadcast|shape|dimension|axis|axes|size|length"
_ABOUT_DTYPES = "ufunc|[Cc]annot cast|data type"


class ChainerxError(xpgrad.XpgradError, RuntimeError):
    """Base of all errors of chx arrays."""


class BackendError(ChainerxError):
    """The kind of memory is unknown."""


class ContextError(ChainerxError):
    """A context is missing, or does not hold the device."""


class DeviceError(ChainerxError, xpgrad.DeviceMismatch):
    """An operation has arrays of two devices, or a device does not exist."""


class DimensionError(ChainerxError, xpgrad.ShapeError):
    """Shapes do not match."""


class AxisOutOfRange(DimensionError, xpgrad.AxisError):
    """An axis is out of range, or given twice."""


class DtypeError(ChainerxError, xpgrad.DtypeError):
    """An operation does not support a dtype."""


class OperandError(DimensionError, DtypeError):
    """A neural-network routine does not support a shape or a dtype."""


class GradientError(ChainerxError, xpgrad.GradientError):
    """A gradient does not match its array, or a backward computation cannot be started."""


class GradientCheckError(ChainerxError):
    """A gradient differs from its numerical estimate."""


class NotImplementedError(ChainerxError):
    """A device does not support an operation."""


def raise_translated(error: Exception, name: str, *operands: Any) -> NoReturn:
    """Raise the error of chx arrays for an error about shapes, axes or dtypes; other errors are raised unchanged.

    Parameters
    ----------
    error : Exception
        Raised by xpgrad, whose text is kept, or by the library of the buffers.
    name : str
        The operator or function.
    *operands
        Its arrays and numbers.
    """
    own, text = isinstance(error, xpgrad.XpgradError), str(error)
    kind: type[Exception] | None = None
    if isinstance(error, ChainerxError):
        raise error
    if isinstance(error, IndexError):
        kind = AxisOutOfRange if isinstance(error, ValueError) else None
    elif isinstance(error, xpgrad.ShapeError) or (type(error) is ValueError and re.search(_ABOUT_SHAPES, text)):
        kind = DimensionError
    elif isinstance(error, xpgrad.DtypeError) or (
        isinstance(error, TypeError) and not own and re.search(_ABOUT_DTYPES, text)
    ):
        kind = DtypeError
    if kind is None:
        raise error
    if not own:
        got = ", ".join(f"{x.dtype} {tuple(x.shape)}" if hasattr(x, "shape") else repr(x) for x in operands)
        remedy = "; cast with astype" if kind is DtypeError else ""
        text = f"{name}: {text.removeprefix(f'{name}: ').rstrip('. ')}; got {got}{remedy}"
    raise kind(text) from error
