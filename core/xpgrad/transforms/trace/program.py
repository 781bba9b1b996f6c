"""`Program`: the calls of an array library that a traced function made, in order, with inputs and outputs."""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.plugins import plugins
from xpgrad.transforms.trace.calls import Call, Value, substituted, values_in
from xpgrad.transforms.trace.constant_arrays import constants_as_inputs
from xpgrad.transforms.trace.explanation import explanation_of
from xpgrad.transforms.trace.lifetimes import peak
from xpgrad.transforms.trace.source import ProgramSource, load, source_of
from xpgrad.transforms.trace.text import text_of
from xpgrad.utils.pictures import drawer

if TYPE_CHECKING:
    from xpgrad.transforms.trace.tracing import Trace

__all__ = ["Call", "Program", "Value", "substituted", "values_in"]


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    """The calls of a traced function.

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
    notes: tuple[str, ...] = field(default=())
    executor: str = ""
    origin: "Trace | None" = None

    def replaced(self, **changes: Any) -> "Program":
        """Return the program with some attributes replaced."""
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

    @property
    def peak_bytes(self) -> int:
        """Largest number of bytes that results of calls hold at a time: in a run, above inputs and constants."""
        return peak(self)

    def source(self) -> str:
        """Return the Python source that the executor ``python`` runs."""
        return self.compiled().text

    def compiled(self) -> ProgramSource:
        """Return the source together with the objects that its names mean."""
        return source_of(self)

    def function(self) -> Callable[..., tuple[Any, ...]]:
        """Return the program as a Python function of the inputs' arrays, which returns a tuple of new arrays."""
        return load(self.compiled(), self.name)

    def with_constants_as_inputs(self, min_bytes: int = 0) -> tuple["Program", tuple[Any, ...]]:
        """Return the program with its constant arrays as further inputs, and these arrays.

        A library's compiler would treat a constant as unchanging, and may keep a copy of it.

        Parameters
        ----------
        min_bytes : int
            Arrays of fewer bytes stay constants.
        """
        return constants_as_inputs(self, min_bytes)

    def to_graphviz(self) -> Any:
        """Return the program as a graph: a `graphviz.Source` if that package is installed, else its DOT text."""
        return drawer.find("programs", "graphviz")(self)

    def explain(self) -> str:
        """Return a description for readers: the executor of the program, its groups, and their memory."""
        return explanation_of(self)

    def save(self, file: Any, weights: bool = False) -> None:
        """Save the program to a file, which `xpgrad.load_program` reads: for inference, or for other processes.

        Parameters
        ----------
        file : str, path or binary file
            JSON and arrays in an .npz file. Reading it runs no code.
        weights : bool
            Whether the file has the arrays that the function had from outside, such as parameters.

        Raises
        ------
        SerializationError
            It calls a function that is neither in the standard nor a kernel of xpgrad, draws random numbers, or stores
            values outside.
        """
        importlib.import_module("xpgrad.programs").save(self, file, weights)

    def __str__(self) -> str:
        return text_of(self)

    _repr_html_ = drawer.html("programs")
