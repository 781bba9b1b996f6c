"""The case table's row: one differentiable function, how to call it, and an independent reference for its value."""

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from xpgrad.types import Shape


@dataclass(frozen=True)
class Input:
    """One array input of a case.

    Attributes
    ----------
    shape : tuple of int
    low, high : float
        Range of the values, which are distinct and irrational-looking; for complex inputs the range of both parts.
    kind : str
        "float" follows the run's dtype, "real" is its real part's also in complex runs; "int" and "bool" are inputs
        without a gradient.
    diagonal : float
        A number added to the main diagonals of matrices, so that no matrix is nearly singular.
    values : object
        Nested lists, where the values matter (an index, a permutation); they override range and shape.
    """

    shape: tuple[int, ...] = (3, 4)
    low: float = -2.0
    high: float = 2.0
    kind: str = "float"
    diagonal: float = 0.0
    values: Any = None


Inputs = tuple[Input | Shape, ...]


@dataclass(frozen=True)
class Case:
    """One line of the case table; it drives every test of its function on every backend.

    Attributes
    ----------
    name : str
        Name of the function with a suffix where it has several cases: ``sum``, ``sum-axis``.
    call : callable
        ``call(xp, *xs)`` calls the function and returns its output or a tuple of outputs; `xp` is the differentiable
        namespace, `xpgrad.functions` for `area` "F", `xpgrad.ops` for "ops". A row may give the arguments that the
        function of its name gets after the inputs instead: ``{"axis": 1}``, or ``(1,)`` by position.
    reference : callable
        ``reference(*arrays)`` computes the value with NumPy, from float64 or complex128, with a different algorithm if
        possible. Finite differences of it are the reference of the gradient.
    inputs : tuple of Input
        A shape stands for an input of this shape with the values that it has by default.
    keeps : tuple of str or None
        Arrays that the graph retains when every input needs a gradient: names of inputs, and "y"; None where a
        composition decides. For FunctionNodes, which have no names, "x0", "x1", ... and "y0", ...
    order : int
        Highest order of derivative that is checked: 0 for functions without a gradient.
    elementwise : bool
        Also run with 0-d, empty and (with several inputs) broadcast operands.
    complex : bool
        Also run with complex inputs.
    needs : tuple of str
        Capabilities without which a backend skips the case: "index_arrays", "float64", "data_dependent_shapes", ...;
        "complex" is the complex dtype of the run's precision, for cases that compute complex numbers from real inputs.
    dtype : str, tuple of str or None, or None
        Kind of the result if it is not the inputs' dtype: "bool", "int", "real", "complex", "default" (the library's
        default floating-point dtype), or a dtype by name; a tuple has one for each output.
    rtol : dict
        Wider relative tolerances by dtype name; a comment next to each gives the reason.
    area : str
        "xp" for the Array API, "F" for Chainer's functions, "ops" for `xpgrad.ops`.
    """

    name: str
    call: Any
    reference: Callable[..., Any]
    inputs: tuple[Any, ...] = (Input(),)
    keeps: tuple[str, ...] | None = None
    order: int = 3
    elementwise: bool = False
    complex: bool = False
    needs: tuple[str, ...] = ()
    dtype: str | tuple[str | None, ...] | None = None
    rtol: dict[str, float] = field(default_factory=dict)
    area: str = "xp"

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(Input(x) if isinstance(x, tuple) else x for x in self.inputs))
        if isinstance(self.call, (dict, tuple)):
            object.__setattr__(self, "call", _by_name(self.function, self.call))

    def __repr__(self) -> str:
        return self.name

    @property
    def function(self) -> str:
        """The name of its function: the name of the case without its suffix."""
        return self.name.partition("-")[0]


def _by_name(name: str, given: dict[str, Any] | tuple[Any, ...]) -> Callable[..., Any]:
    """Return the call of a function by its name in the namespace, with all inputs and given arguments after them."""
    function = attrgetter(name.removeprefix("F."))
    if isinstance(given, dict):
        return lambda xp, *xs: function(xp)(*xs, **given)
    return lambda xp, *xs: function(xp)(*xs, *given)


def of_functions(
    name: str, call: Any, reference: Callable[..., Any], inputs: Inputs = ((3, 4),), **options: Any
) -> Case:
    """Return the case of a function of `xpgrad.functions`."""
    return Case(f"F.{name}", call, reference, inputs, area="F", **options)
