"""The unknowns of a problem: a tree of arrays, as the user gives it, and the vector that SciPy works on."""

from collections.abc import Callable
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.scipy.vectors import VectorLayout
from xpgrad.transforms.leaves import as_leaf
from xpgrad.transforms.trace.compiled import compile
from xpgrad.transforms.trees import flatten, where
from xpgrad.transforms.vectors import host_array, placed, vector_of
from xpgrad.types import Array


class Tree:
    """A tree of Variables, arrays and scalars, and conversion of vectors to trees of the same structure.

    Parameters
    ----------
    tree : tree
    what : str
        Name used in error messages, such as ``minimize: x0``.
    """

    def __init__(self, tree: Any, what: str) -> None:
        self.leaves, self.structure = flatten(tree)
        self.what = what
        self.variables = [
            as_leaf(x, what + where(path)) for x, path in zip(self.leaves, self.structure.paths(), strict=True)
        ]
        self.size = sum(x.size for x in self.variables)
        self.vector: Array = vector_of(self.leaves)

    def like(self, values: Array) -> Any:
        """Return a tree with the elements of the last axis of `values`; other axes come first in each leaf.

        Leaves have the type, dtype and device of the leaves of this tree: Variables, arrays, or, for scalars without
        additional axes, floats.
        """
        host, start, leaves = plugins.host, 0, []
        values = host.asarray(values, host.namespace.float64)
        for leaf, x in zip(self.leaves, self.variables, strict=True):
            part = values[..., start : start + x.size]
            start += x.size
            shape = (*values.shape[:-1], *x.shape)
            leaves.append(_of_type(leaf, placed(part, x._node.spec, x.device, shape)))
        return self.structure.build(leaves)

    def spread(self, given: Any, default: float, what: str) -> Array:
        """Return numbers given for the leaves as a vector: scalars, None, or arrays that broadcast to the leaves.

        Parameters
        ----------
        given : tree like this one, scalar, or None
        default : float
            The number in place of None.
        what : str
            Name used in error messages.
        """
        xp = plugins.host.namespace
        if given is None or plugins.is_scalar(given):
            return xp.full((self.size,), default if given is None else float(given), dtype=xp.float64)
        parts = []
        for leaf, x, path in zip(
            self.structure.leaves_of(given, what), self.variables, self.structure.paths(), strict=True
        ):
            array = (
                xp.asarray(default, dtype=xp.float64) if leaf is None else host_array(as_leaf(leaf, what + where(path)))
            )
            try:
                parts.append(xp.reshape(xp.broadcast_to(array, x.shape), (-1,)))
            except ValueError:
                raise ShapeError(
                    f"{what}{where(path)}: expected a number or shape {x.shape}, got shape {tuple(array.shape)}"
                ) from None
        return xp.concat(parts) if parts else xp.zeros((0,), dtype=xp.float64)

    def name_of(self, position: int) -> str:
        """Return the text for an element of the vector: the path of its leaf, and its index there."""
        for x, path in zip(self.variables, self.structure.paths(), strict=True):
            if position < x.size:
                index = []
                for n in reversed(x.shape):
                    position, i = divmod(position, n)
                    index.append(i)
                return where(path) + (f" at index {tuple(reversed(index))}" if index else "")
            position -= x.size
        raise IndexError(position)


class Unknowns(Tree):
    """The unknowns of a problem.

    Attributes
    ----------
    tree : tree of Variables, arrays and scalars, real floating-point
        Their initial values.
    layout : VectorLayout
        How a user's function receives them.
    """

    def __init__(self, tree: Any, device: Any, what: str) -> None:
        self.tree, self.layout = tree, VectorLayout(tree, device, what)
        super().__init__(tree, what)

    def passed(self, vector: Array) -> Any:
        """Return the tree of Variables that a user's function receives."""
        return self.layout.variables(vector)


def _of_type(leaf: Any, array: Array) -> Any:
    """Return `array` as a Variable if `leaf` is one, as a float if that is a Python scalar."""
    if isinstance(leaf, Variable):
        return constant_variable(array)
    return float(array) if plugins.is_scalar(leaf) and not array.shape else array


def compiled_if(f: Callable[..., Any], compiled: bool) -> Callable[..., Any]:
    """Return ``compile(f)`` if `compiled`, unless `f` is compiled already; else `f`."""
    if not callable(f):
        raise TypeError(f"expected a function, got {type(f).__name__}")
    if not compiled or hasattr(f, "__xpgrad_transformed__"):
        return f
    return compile(f)
