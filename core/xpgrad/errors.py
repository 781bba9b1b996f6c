"""What can go wrong. Each error is one sentence: function, expected, got, what to do."""


class XpgradError(Exception):
    """Base of all errors that xpgrad raises itself."""


class BackendUnavailable(XpgradError, RuntimeError):
    """A backend is known but cannot be used here; the text says what is missing and how to get it."""


class PluginError(XpgradError, RuntimeError):
    """A plugin broke the contract: a misspelt hook, an unknown kernel, a name or a type that another one holds."""


class MissingFunction(XpgradError, NotImplementedError, AttributeError):
    """An operation needs a function that the array library lacks; the text names both.

    Attributes
    ----------
    function : str
        The function as the standard calls it: ``linalg.det``.
    """

    def __init__(self, backend: str, function: str) -> None:
        super().__init__(
            f"{backend}: the library has no {function!r}, which this operation needs; "
            "its plugin can give a kernel for the operation"
        )
        self.function = function


class SpecifierError(XpgradError, ValueError):
    """A device specifier that no backend understands."""


class ShapeError(XpgradError, ValueError):
    """Shapes that do not fit together, or a gradient of another shape than its array."""


class SingularMatrix(XpgradError, ValueError):
    """A matrix for which what was asked for does not exist: singular, not positive definite, no convergence."""


class DtypeError(XpgradError, TypeError):
    """A dtype that an operation does not take, or a gradient of another dtype than its array."""


class DeviceMismatch(XpgradError, ValueError):
    """Arrays of two devices met in one operation."""


class BackendMismatch(XpgradError, TypeError):
    """Arrays of two libraries met in one operation."""


class UnknownArray(XpgradError, TypeError):
    """An object that no backend takes for one of its arrays."""


class GradientError(XpgradError, ValueError):
    """A backward computation was started wrongly, or a rule returned something that is no gradient."""


class GraphError(XpgradError, RuntimeError):
    """The graph cannot be swept: what it kept was released, or an old-style function ends it."""


class NotANumber(XpgradError, RuntimeError):
    """Debug mode found a NaN; the text names the function and the pass."""


class AnomalyError(NotANumber):
    """Anomaly detection found the first NaN or Inf; the text names the function, the pass and the line."""


class GraphEndWarning(UserWarning):
    """A number was taken out of a Variable that requires a gradient, which does not flow through it."""


class StructureError(XpgradError, ValueError):
    """A tree of arrays is not built like the one that it belongs to."""


class ChangedArray(XpgradError, RuntimeError):
    """An array that a Variable holds has another shape or dtype by now, or was written to since the graph kept it.

    The latter is found in debug mode, and where the configuration says ``detect_mutation``. Or a hook or a backward
    computation wrote into a gradient that a sweep records.
    """
