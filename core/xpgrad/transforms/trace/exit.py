"""`leaving`: a generated function that builds the result of a compiled function from the arrays of a program."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.graph.variable import constant_variable
from xpgrad.transforms.trace.entry import EntryWriter
from xpgrad.transforms.trace.tracing import OutputLeaf
from xpgrad.transforms.trees import Structure

Exit = Callable[[Sequence[Any], Sequence[Any]], Any]


def leaving(results: Sequence[OutputLeaf], structure: Structure, *, variables: bool) -> Exit:
    """Return a function of the outputs and the leaves of the arguments, which returns the result.

    Parameters
    ----------
    results, structure : sequence of OutputLeaf, Structure
    variables : bool
        Whether results that were Variables become Variables; else the user gave arrays, and gets arrays.
    """
    w = EntryWriter()
    w.names["variable"] = constant_variable
    leaves = []
    for leaf in results:
        if leaf.kind == "object":
            leaves.append(w.name(leaf.content))
        elif leaf.kind == "argument":
            leaves.append(f"leaves[{leaf.content}]")
        elif leaf.kind == "variable" and not leaf.connected and (variables or leaf.kept):
            leaves.append(f"variable(outputs[{leaf.content}])")
        else:
            leaves.append(f"outputs[{leaf.content}]")  # if connected, it is a Variable already
    return w.made("def leave(outputs, leaves):", f"    return {_built(w, structure, iter(leaves))}")


def _built(w: EntryWriter, structure: Structure, leaves: Any) -> str:
    kind = structure.kind
    if kind is None:
        return str(next(leaves))
    if kind is type(None):
        return "None"
    children = [_built(w, child, leaves) for child in structure.children]
    if kind is dict:
        items = zip(map(w.name, structure.keys), children, strict=True)
        return f"{{{', '.join(f'{key}: {child}' for key, child in items)}}}"
    if kind is tuple:
        return f"({''.join(f'{child}, ' for child in children)})"
    if kind is list:
        return f"[{', '.join(children)}]"
    flat = Structure(kind, structure.keys, tuple(Structure() for _ in children), structure.empty)
    return f"{w.name(flat)}.build([{', '.join(children)}])"
