"""`PrintHook`: prints the arrays of functions as they run."""

import sys
import warnings
from typing import Any, TextIO

from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import constant_variable
from xpgrad.watch.function_hook import FunctionHook


class PrintHook(FunctionHook):
    """Prints the inputs of every function, and in the backward pass the gradients of its outputs.

    Parameters
    ----------
    sep : None
        Deprecated; it has no effect.
    end : str
        Text printed after each line.
    file : text stream, optional
        By default the standard output.
    flush : bool
    """

    name = "PrintHook"
    reads_only = True

    def __init__(self, sep: Any = None, end: str = "\n", file: TextIO | None = None, flush: bool = True) -> None:
        if sep is not None:
            warnings.warn("PrintHook: sep has no effect and is deprecated", DeprecationWarning, stacklevel=3)
        self.sep, self.end, self.file, self.flush = sep, end, file, flush

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Any, ...]) -> None:
        """Print the function's label and its inputs."""
        self._print(f"function\t{function.label}")
        self._print_all("input data", in_data)

    def backward_preprocess(self, function: FunctionNode, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]) -> None:
        """Print the function's label, the inputs that were kept, and the gradients of the outputs."""
        self.forward_preprocess(function, in_data)
        self._print_all("output gradient", out_grad)

    def _print_all(self, title: str, arrays: tuple[Any, ...]) -> None:
        self._print(title)
        for array in arrays:
            self._print("(removed)" if array is None else constant_variable(array).debug_print())

    def _print(self, text: str) -> None:
        print(text, end=self.end, file=self.file or sys.stdout, flush=self.flush)
