"""The errors of ChainerX's interface; each is one of xpgrad's, too, where xpgrad has one for it."""

import xpgrad


class ChainerxError(xpgrad.XpgradError, RuntimeError):
    """Base of all errors of chx arrays."""


class BackendError(ChainerxError):
    """There is no kind of memory of this name."""


class ContextError(ChainerxError):
    """A context is missing, or does not hold the device."""


class DeviceError(ChainerxError, xpgrad.DeviceMismatch):
    """Arrays of two devices met in one operation, or there is no such device."""


class DimensionError(ChainerxError, xpgrad.ShapeError):
    """Shapes that do not fit together."""


class DtypeError(ChainerxError, xpgrad.DtypeError):
    """A dtype that an operation does not take."""


class OperandError(DimensionError, DtypeError):
    """A shape or a dtype that a routine for networks does not take."""


class GradientError(ChainerxError, xpgrad.GradientError):
    """A gradient does not fit its array, or a backward computation was started wrongly."""


class GradientCheckError(ChainerxError):
    """A gradient differs from its numerical estimate."""


class NotImplementedError(ChainerxError):
    """An operation that a device lacks."""
