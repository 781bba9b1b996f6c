"""Functions of the standard for chx arrays, generated from their names."""

from collections.abc import Callable, Iterable
from typing import Any

import array_api_compat.numpy as host

from xpgrad_chx.evaluation import call

Function = Callable[..., Any]
POSITIONAL = {
    "all any count_nonzero max mean min prod std sum var": (1, "axis keepdims"),
    "argmax argmin argsort concat cumulative_prod cumulative_sum flip sort stack": (1, "axis"),
    "tril triu": (1, "k"),
    "diff": (1, "n axis"),
    "repeat roll take": (2, "axis"),
    "tensordot": (2, "axes"),
}
"""Keywords of the standard that ChainerX also accepts by position: the number of preceding arguments, and the order."""
_AFTER = {name: (count, words.split()) for names, (count, words) in POSITIONAL.items() for name in names.split()}


def functions(names: Iterable[str], prefix: str = "") -> dict[str, Function]:
    """Return the functions with these names; extensions have a prefix such as ``linalg.``.

    On buffers they call the library of the buffers; if an array is in a graph, they call xpgrad's differentiable
    functions. Signatures follow array_api_compat; `POSITIONAL` lists functions with more positional arguments.
    """
    return {name: _function(f"{prefix}{name}") for name in names}


def _function(name: str) -> Function:
    count, words = _AFTER.get(name, (0, ()))

    def plain(*args: Any, **kwargs: Any) -> Any:
        return call(name, args, kwargs)

    def positional(*args: Any, **kwargs: Any) -> Any:
        given = args[count:]
        if len(given) > len(words) or not kwargs.keys().isdisjoint(words[: len(given)]):
            raise TypeError(
                f"{name}: expected {count} operands, then {', '.join(words)}; got {len(args)} and {[*kwargs]}"
            )
        return call(name, args[:count], {**kwargs, **dict(zip(words, given, strict=False))})

    function = positional if words else plain

    found: Any = host
    for part in name.split("."):
        found = getattr(found, part)
    short = name.rpartition(".")[2]
    function.__name__ = function.__qualname__ = short
    function.__module__ = "xpgrad_chx" + ("." + name.rpartition(".")[0] if "." in name else "")
    function.__doc__ = f"`{short}` of the Array API standard; the result is in the graph that an argument is in."
    function.__wrapped__ = found  # type: ignore[attr-defined]  # read by inspect.signature
    return function
