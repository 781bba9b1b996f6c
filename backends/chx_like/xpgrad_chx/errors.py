"""The errors of ChainerX's interface; each derives from the corresponding error of xpgrad, if any."""

import xpgrad


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
