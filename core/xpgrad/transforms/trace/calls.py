"""`Call`, `Value`, `CallSequence`: calls of functions of an array library, and the arrays that they take and return."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import Any, Self

from xpgrad.backend.backend import Backend
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec

CONTAINERS = tuple, list, dict, slice
"""Types of nested arguments."""


class Value:
    """One array of a program: an input, or a result of a call. Two values are equal only if they are the same object.

    Attributes
    ----------
    spec : Spec
        Shape, dtype and device in the library that runs the program.
    name : str
        Its name in the source.
    """

    __slots__ = ("name", "spec")

    def __init__(self, spec: Spec, name: str = "") -> None:
        self.spec, self.name = spec, name

    def __repr__(self) -> str:
        return f"{self.name or 'value'}: {self.spec!r}"

    @property
    def nbytes(self) -> int:
        """Number of bytes of its elements."""
        return self.spec.size * self.spec.itemsize


class Composite(ABC):
    """A constant argument of a call that has separate programs, such as the body of a loop."""

    @abstractmethod
    def prepare(self, options: Any) -> None:
        """Prepare the functions that run its programs, with the `Options` of the compiled function."""


@dataclass(eq=False, slots=True)  # not frozen, because frozen instances take four times as long to create
class Call:
    """One call of a function of the array library, or of a kernel of its backend.

    Attributes
    ----------
    name, function : str, callable
        How the source calls it, ``multiply``, ``linalg.inv``, ``x[]``; it takes and returns arrays of the library.
    args, kwargs : tuple, dict
        The arguments. Arrays of the program are `Value` objects, also inside of tuples, lists, dictionaries and slices;
        everything else is a constant.
    results, single : tuple of Value, bool
        Its arrays, none for a call that only writes; whether it returns one array, not a tuple or list of arrays.
    writes, frees : tuple of Value
        The arguments to which it writes, and values to release after this call.
    draws : bool
        Whether it draws random numbers, or has another effect: it is never removed, repeated or moved.
    line : tuple of (str, int, str) or None
        File, line and function of the user's code that the call comes from.
    out : Value or None
        The argument whose memory takes the result, set by the pass ``buffers``.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: tuple[Value, ...]
    single: bool = True
    writes: tuple[Value, ...] = ()
    draws: bool = False
    line: tuple[str, int, str] | None = None
    out: Value | None = None
    frees: tuple[Value, ...] = ()
    _operands: tuple[Value, ...] | None = field(default=None, init=False, repr=False)

    def operands(self) -> tuple[Value, ...]:
        """Return the values among the arguments, in order; a repeated value is returned repeatedly."""
        if self._operands is None:
            self._operands = (*values_in(self.args), *values_in(self.kwargs))
        return self._operands

    @property
    def pure(self) -> bool:
        """Whether it has no effect but its results."""
        return not (self.writes or self.draws)

    def replaced(self, **changes: Any) -> "Call":
        """Return the call with some attributes replaced."""
        made = Call(*_ATTRIBUTES(self))  # `dataclasses.replace` takes five times as long
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    def substituted(self, values: Mapping[Value, Any]) -> "Call":
        """Return the call with arguments replaced by `values`."""
        if values.keys().isdisjoint(self.operands()):
            return self
        return self.replaced(
            args=substituted(self.args, values),
            kwargs=substituted(self.kwargs, values),
            writes=substituted(self.writes, values),
        )


_ATTRIBUTES = attrgetter(*(each.name for each in fields(Call) if each.init))


@dataclass(frozen=True, eq=False, slots=True)
class CallSequence:
    """Calls in order, with inputs and outputs: what a `Program` consists of.

    Attributes
    ----------
    name, inputs, calls : str, tuple of Value, tuple of Call
    outputs : tuple
        A `Value`, or a constant array, for each array that leaves.
    private : int
        How many of the last outputs stay within the library: they may share memory with anything.
    notes, executor : tuple of str, str
        Notes of passes, for readers, and the name of the executor, if chosen.
    origin : Trace or None
        The recorded run, in programs of compiled functions.
    """

    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Any, ...]
    calls: tuple[Call, ...]
    private: int = 0
    notes: tuple[str, ...] = ()
    executor: str = ""
    origin: Any = None

    def replaced(self, **changes: Any) -> Self:
        """Return the sequence with some attributes replaced."""
        return replace(self, **changes)

    def values(self) -> Iterator[Value]:
        """Yield all arrays: the inputs, then the results in order."""
        yield from self.inputs
        for call in self.calls:
            yield from call.results

    @property
    def backend(self) -> Backend | None:
        """The library whose functions it calls; None for a program without arrays."""
        for value in self.values():
            return value.spec.backend
        return next((plugins.backend_of(item) for item in self.outputs if not isinstance(item, Value)), None)

    @property
    def nbytes(self) -> int:
        """Number of bytes of all results of calls together, including views."""
        return sum(value.nbytes for call in self.calls for value in call.results)


def values_in(tree: Any) -> list[Value]:
    """Return the values in nested arguments, in order."""
    return [leaf for leaf in leaves_of(tree) if isinstance(leaf, Value)]


def leaves_of(tree: Any) -> list[Any]:
    """Return the values and constants in nested arguments, in order."""
    if isinstance(tree, dict):
        tree = tree.values()
    elif isinstance(tree, slice):
        tree = tree.start, tree.stop, tree.step
    elif not isinstance(tree, (tuple, list)):
        return [tree]
    found: list[Any] = []
    for item in tree:
        if isinstance(item, CONTAINERS):
            found += leaves_of(item)
        else:
            found.append(item)
    return found


def substituted(tree: Any, values: Mapping[Value, Any]) -> Any:
    """Return nested arguments with each value that is a key of `values` replaced."""
    return mapped(tree, lambda leaf: values.get(leaf, leaf) if isinstance(leaf, Value) else leaf)


def mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    """Return nested arguments with `change` applied to each leaf: each value and constant."""
    if isinstance(tree, (tuple, list)):
        items = [mapped(item, change) if isinstance(item, CONTAINERS) else change(item) for item in tree]
        return getattr(tree, "_make", type(tree))(items)
    if isinstance(tree, dict):
        return {key: mapped(item, change) for key, item in tree.items()}
    if isinstance(tree, slice):
        return slice(*mapped((tree.start, tree.stop, tree.step), change))
    return change(tree)
