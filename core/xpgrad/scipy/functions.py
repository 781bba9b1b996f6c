"""Functions of trees as functions of vectors that store the structure of their results."""

import functools
from collections.abc import Callable
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable
from xpgrad.scipy.unknowns import Tree, Unknowns
from xpgrad.scipy.vectors import exact, real_vector
from xpgrad.transforms.call import Mode
from xpgrad.transforms.sparse.jacobians import SparseJacobian
from xpgrad.transforms.trees import map_leaves
from xpgrad.types import Array


class VectorFunction:
    """A user's function of a tree, which returns a tree, as a function of the vector of unknowns.

    Attributes
    ----------
    outputs : Tree or None
        Result of the first call of the user's function, with arrays for Variables if no unknown is a Variable.
    """

    def __init__(self, name: str, f: Callable[..., Any], unknowns: Unknowns) -> None:
        self.name, self.f, self.unknowns = name, f, unknowns
        self.outputs: Tree | None = None

    def __call__(self, x: Array, *args: Any) -> Array:
        """Return the elements of the result of the user's function, as a vector."""
        what = f"{self.name}: what the function returned"
        first = self.outputs is None
        try:
            output = Mode().computed(self.f, self.unknowns.passed(x), *args)
        except Exception as error:
            error.add_note(f"while {self.name} evaluated the function" + (" at x0" if first else ""))
            raise
        vector = real_vector(output, what)
        if first:
            keep = any(isinstance(leaf, Variable) for leaf in self.unknowns.leaves)
            self.outputs = Tree(output if keep else map_leaves(_array, output), what)
            self._check(vector, self.outputs)
        return vector

    def _check(self, vector: Array, outputs: Tree) -> None:
        xp = plugins.host.namespace
        wrong = xp.nonzero(~xp.isfinite(vector))[0]
        if wrong.size:
            at, got = outputs.name_of(int(wrong[0])), float(vector[wrong[0]])
            raise ValueError(f"{outputs.what}{at}: expected finite numbers at x0, got {got}; start elsewhere")


def _array(leaf: Any) -> Any:
    return leaf._array if isinstance(leaf, Variable) else leaf


def sparse_of(
    name: str, f: Callable[..., Any], unknowns: Unknowns, sparsity: Any, format: Any = "csr"
) -> Callable[..., Any]:
    """Return the sparse Jacobian of a user's function, as a function of the vector of unknowns.

    Parameters
    ----------
    sparsity : matrix, or True
        True lets the pattern be found.
    """
    known = None if sparsity is True else sparsity
    matrix = exact(name, SparseJacobian(name, f, known, 0, "auto", True, format, True))

    @functools.wraps(f)
    def function(x: Array, *args: Any) -> Any:
        return matrix(unknowns.layout.unraveled(x), *args).astype(x.dtype)

    return function
