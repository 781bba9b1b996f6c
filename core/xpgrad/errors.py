"""Exceptions and warnings. Messages name the function, the expected and the given argument, and a remedy."""

from collections.abc import Iterable
from typing import Any


class XpgradError(Exception):
    """Base class of all errors that xpgrad raises itself."""


class BackendUnavailable(XpgradError, RuntimeError):
    """A backend is known but cannot be used; the message names the missing part and how to install it."""


class PluginError(XpgradError, RuntimeError):
    """A plugin breaks the contract: a misspelt hook, an unknown kernel, or a name or type that is already taken."""


class MissingFunction(XpgradError, NotImplementedError, AttributeError):
    """An operation needs a function that the array library lacks; the message names both.

    Attributes
    ----------
    backend, function : str
        The name of the backend, and the name of the function in the standard, such as ``linalg.det``.
    """

    def __init__(self, backend: str, function: str) -> None:
        super().__init__(
            f"{backend}: the library has no {function!r}, which this operation needs; "
            "its plugin can give a kernel for the operation"
        )
        self.backend, self.function = backend, function

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.backend, self.function), {"args": self.args}


class SpecifierError(XpgradError, ValueError):
    """A device specifier that no backend recognizes."""


class InvalidType(XpgradError, TypeError):
    """An input has a shape or dtype that the function does not take."""

    def __init__(self, expect: str, actual: str, msg: str | None = None) -> None:
        self.expect, self.actual = expect, actual
        super().__init__(msg if msg is not None else f"Expect: {expect}\nActual: {actual}")

    def locate(self, label: str, inputs: Iterable[object]) -> None:
        """Add the function's name and its inputs to the message."""
        got = ", ".join(map(str, inputs))
        parts = self.actual, got and f"inputs: {got}"
        self.actual = "; ".join(filter(None, parts))
        head = f"Invalid operation is performed in: {label} (Forward)"
        self.args = (f"{head}\n\nExpect: {self.expect}\nActual: {self.actual}",)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.expect, self.actual, self.args[0])


class ShapeError(InvalidType, ValueError):
    """Incompatible shapes, or a gradient with another shape than its array, as `message` says."""

    def __init__(self, message: str) -> None:
        super().__init__("shapes that fit", message, message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args


class AxisError(ShapeError, IndexError):
    """An axis that the array does not have, or has been given twice, as `message` says."""


class SingularMatrix(XpgradError, ValueError):
    """A matrix for which the result does not exist: singular, not positive definite, or no convergence."""


class DtypeError(XpgradError, TypeError):
    """A dtype that an operation does not support, or a gradient with another dtype than its array."""


class DeviceMismatch(XpgradError, ValueError):
    """The arrays of one operation are on different devices."""


class BackendMismatch(XpgradError, TypeError):
    """The arrays of one operation are of different libraries."""


class UnknownArray(XpgradError, TypeError):
    """An object that is not an array of any backend."""


class AllocationError(XpgradError, MemoryError):
    """An array is larger than the memory of its device; the message names the function and its arguments."""


class SerializationError(XpgradError, ValueError):
    """A file of arrays is damaged or has invalid content; the message names file, entry, expected and got."""


class AbsentAttribute(XpgradError, ValueError, AttributeError):
    """An attribute that only other Variables have: `mT` those of matrices, `chx_array` those over chx arrays."""


class GradientError(XpgradError, ValueError):
    """A backward computation was started incorrectly, or a rule returned something other than a gradient."""


class GraphError(XpgradError, RuntimeError):
    """The graph cannot be differentiated: its arrays were released, or an old-style function ends it."""


class ConnectedArray(GraphError, ValueError):
    """A Variable is given an array in a graph, or would cut its graph."""


class NotANumber(XpgradError, RuntimeError):
    """Debug mode found a NaN; the message names the function and the pass."""


class AnomalyError(NotANumber):
    """Anomaly detection found the first NaN or Inf; the message names the function, the pass and the line."""


class GraphEndWarning(UserWarning):
    """A Variable that requires a gradient was converted to a number, or `backward` was called on a constant."""


class PromotionWarning(UserWarning):
    """An array of a wider dtype promotes the result of a Variable that requires a gradient."""


class StructureError(XpgradError, ValueError):
    """The structure of a tree of arrays differs from the structure of the related tree."""


class SparsityError(XpgradError, ValueError):
    """A sparsity pattern that is not a matrix, has another shape than the Jacobian, or misses an entry."""


class IterationError(XpgradError, RuntimeError):
    """A loop or a solver has not come to its end within the steps that it may make, or cannot continue."""


class ChangedArray(XpgradError, RuntimeError):
    """The array of a Variable has changed its shape or dtype, or was written to since the graph kept it.

    The latter is detected in debug mode, and if the configuration entry ``detect_mutation`` is set. It is also raised
    if a hook or a backward computation writes to a gradient that a sweep records.
    """


class EscapedArray(XpgradError, RuntimeError):
    """An array of a transformation, such as `compile`, was used after the call that it belongs to had ended."""


class TraceError(XpgradError, RuntimeError):
    """A function cannot be compiled: Python needs a value that is known only when the program runs."""


class BatchError(XpgradError, RuntimeError):
    """A function cannot be computed for a batch: it needs a value that differs between elements, or has no rule."""


class BatchWarning(UserWarning):
    """A Jacobian was computed by a sweep for each element; the message names the function that rejected batches."""


class CompileWarning(UserWarning):
    """A compiled function runs without a program; the message gives the reason and a remedy."""


class StaleProgramWarning(CompileWarning):
    """A compiled function has computed something else than its program: the last calls may have been wrong."""
