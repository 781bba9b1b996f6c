"""The one slot through which the graph reaches functions of higher layers."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, cast

from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.types import Array, Dtype, Namespace, Shape

if TYPE_CHECKING:
    from xpgrad.graph.variable import Variable


class Differentiable(Protocol):
    """The functions that the graph needs; `array_api` provides them when it is imported."""

    def add(self, x1: Any, x2: Any, /) -> "Variable":
        """Return ``x1 + x2``."""
        ...

    def sum_to(self, x: Any, /, shape: Shape) -> "Variable":
        """Return `x` summed to `shape`."""
        ...

    def astype(self, x: Any, dtype: Dtype, /) -> "Variable":
        """Return `x` in another dtype."""
        ...

    def real(self, x: Any, /) -> "Variable":
        """Return the real part."""
        ...

    def conj(self, x: Any, /) -> "Variable":
        """Return the complex conjugate."""
        ...

    def copy(self, x: Any, /, device: Device | None = None) -> "Variable":
        """Return a copy, on another device if one is given."""
        ...

    def namespace(self, backend: Backend) -> Namespace:
        """Return the differentiable namespace of `backend`."""
        ...


class _Empty:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("xpgrad.array_api has not been imported, so the graph has no differentiable functions")


class Slot:
    """References to functions and classes that later modules define.

    Attributes
    ----------
    functions : Differentiable
        Set by `array_api` when it is imported.
    variable_over : callable
        By `graph.variable`: returns a Variable over a node, with an array that the graph kept.
    """

    functions: Differentiable = cast(Differentiable, _Empty())
    variable_over: "Callable[[Any, Array | None], Variable]"


slot = Slot()
