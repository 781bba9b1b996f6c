"""Direct solutions: one factorization serves the solution, its gradients and further right-hand sides."""

import functools
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError, SingularMatrix
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable
from xpgrad.scipy.operands import required
from xpgrad.scipy.sparse.matrices import SparseArray, as_sparse, on_host, places
from xpgrad.transforms.vectors import placed
from xpgrad.types import AnyArray, Array


class SparseSolution(FunctionNode):
    """The solution of a sparse system; a class, because the gradients reuse its factorization."""

    of_library = True
    transposes = True

    def __init__(self, factors: Any, row: Array, col: Array, trans: str) -> None:
        self.factors, self.row, self.col, self.trans = factors, row, col, trans

    @property
    def label(self) -> str:
        """Name of the public function."""
        return "spsolve"

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the solution."""
        _, b = inputs
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        spec = plugins.backend_of(b).spec(b)
        host = plugins.host
        wide = host.namespace.complex128 if spec.complex else host.namespace.float64
        y = self.factors.solve(host.namespace.astype(on_host(b), wide), self.trans)
        if spec.backend is host:
            return (host.namespace.astype(y, spec.dtype),)
        return (placed(y, spec, spec.backend.device_for(spec.device)),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return ``gb``, the solution with the adjoint, and the elements of ``-gb y^H``."""
        (gy,), (data,), (y,) = grad_outputs, self.get_retained_inputs(), self.get_retained_outputs()
        is_complex = y.node.spec.complex
        solve = functools.partial(_solved, self.factors, self.row, self.col, data)
        if self.trans == "T" and is_complex:
            gb = xpa.conj(solve(xpa.conj(gy), "N"))
        else:
            gb = solve(gy, "N" if self.trans != "N" else "H" if is_complex else "T")
        gxs: list[Any] = []
        for i in target_input_indexes:
            if i == 1:
                gxs.append(gb)
                continue
            row, col = places(self.row, self.col, gy)
            if self.trans != "N":
                row, col = col, row
            left, right = xpa.take(gb, row, axis=0), xpa.take(xpa.conj(y) if is_complex else y, col, axis=0)
            product = -(left * right)
            product = product if y.ndim == 1 else xpa.sum(product, axis=1)
            gxs.append(xpa.conj(product) if self.trans == "H" and is_complex else product)
        return tuple(gxs)


def _solved(factors: Any, row: Array, col: Array, data: Variable, b: Variable, trans: str) -> Variable:
    y: Variable = SparseSolution(factors, row, col, trans).apply((data, b))[0]
    return y


class SuperLU:
    """The factors of a square sparse matrix, for solutions with several right-hand sides.

    Parameters
    ----------
    A : SparseArray
    """

    def __init__(self, A: SparseArray) -> None:
        self.matrix, self.shape = A, A.shape
        linalg = required("scipy.sparse.linalg", "splu")
        values = A.to_scipy()
        wide = values.astype("complex128" if A.data.node.spec.complex else "float64")
        try:
            self.factors = linalg.splu(wide)
        except RuntimeError as error:
            raise SingularMatrix(f"splu: {error}; got a matrix of shape {A.shape}") from error

    def solve(self, rhs: AnyArray, trans: str = "N") -> Variable:
        """Return the solution for a vector or for columns; `trans` "T" solves with the transpose, "H" the adjoint."""
        data, b = as_variables("splu", self.matrix.data, rhs)
        if trans not in ("N", "T", "H"):
            raise ValueError(f"splu: expected trans 'N', 'T' or 'H', got {trans!r}")
        if b.ndim not in (1, 2) or b.shape[0] != self.shape[0]:
            raise ShapeError(f"splu: expected right-hand sides with {self.shape[0]} rows, got shape {b.shape}")
        if data.node.spec.complex and not b.node.spec.complex:
            b = b + 0j
        if b.node.spec.complex and not data.node.spec.complex:
            return self.solve(xpa.real(b), trans) + 1j * self.solve(xpa.imag(b), trans)
        return _solved(self.factors, self.matrix.row, self.matrix.col, data, b, trans)


def splu(A: Any) -> SuperLU:
    """Return the factors of a square sparse matrix.

    Parameters
    ----------
    A : SparseArray, or a sparse matrix of SciPy, shape (M, M)

    Returns
    -------
    SuperLU
        ``splu(A).solve(b)`` has gradients by the elements of `A` and by `b`.
    """
    a = as_sparse(A, "splu")
    if a.shape[0] != a.shape[1]:
        raise ShapeError(f"splu: expected a square matrix, got shape {a.shape}")
    return SuperLU(a)


def spsolve(A: Any, b: AnyArray) -> Variable:
    """Return the solution `x` of ``A x = b`` for a square sparse matrix.

    Parameters
    ----------
    A : SparseArray, or a sparse matrix of SciPy, shape (M, M)
    b : Variable or array, shape (M,) or (M, K)
    """
    return splu(A).solve(b)
