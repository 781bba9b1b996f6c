"""`Program`: the calls of a traced function, which can be run, shown and saved."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xpgrad.transforms.trace.calls import Call, CallSequence, Value, mapped, substituted, values_in
from xpgrad.transforms.trace.lifetimes import peak
from xpgrad.transforms.trace.source import ProgramSource, load, source_of
from xpgrad.transforms.trace.text import explanation_of, text_of
from xpgrad.utils.pictures import drawer

__all__ = ["Call", "Program", "Value", "substituted", "values_in"]


@dataclass(frozen=True, eq=False, slots=True)
class Program(CallSequence):
    """The calls of a traced function; its attributes are those of `CallSequence`."""

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
            Arrays of fewer bytes stay constants, and so do arrays that are bound to the function of a call.
        """
        backend = self.backend
        if backend is None:
            return self, ()
        found: dict[int, tuple[Any, Value]] = {}  # which keeps the arrays, whose ids are the keys

        def opened(leaf: Any) -> Any:
            if type(leaf) not in backend.array_types:
                return leaf
            value = found[id(leaf)][1] if id(leaf) in found else Value(backend.spec(leaf))
            if value.nbytes < min_bytes:
                return leaf
            found[id(leaf)] = leaf, value
            return value

        calls = tuple(c.replaced(args=mapped(c.args, opened), kwargs=mapped(c.kwargs, opened)) for c in self.calls)
        outputs = mapped(self.outputs, opened)
        if not found:
            return self, ()
        arrays, values = zip(*found.values(), strict=True)
        return self.replaced(inputs=(*self.inputs, *values), outputs=outputs, calls=calls), arrays

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
