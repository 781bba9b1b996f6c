"""`sparse_jacobian` and `sparse_hessian`: sparse matrices of derivatives, computed by few sweeps."""

import random
from collections.abc import Callable
from typing import Any, Literal

from xpgrad.backend.plugins import plugins
from xpgrad.errors import SparsityError
from xpgrad.graph.variable import as_array
from xpgrad.transforms.gradient import documented, gradient_of
from xpgrad.transforms.leaves import is_differentiable
from xpgrad.transforms.matrices import supports_forward
from xpgrad.transforms.sparse.pattern import Colouring, Pattern, pattern_of, scipy_sparse
from xpgrad.transforms.sparse.sweeps import Sweeps
from xpgrad.transforms.trees import flatten
from xpgrad.transforms.vectors import arrays_of, host_array
from xpgrad.types import Array

Product = Callable[[Array], Array]
ROUNDING = 1000
"""Differences up to this many rounding errors of a row's terms are rounding."""


def missing_entry(matrix: Any, v: Array, found: Array, product: Product, eps: float) -> tuple[int, int] | None:
    """Return row and column of an entry of the linear map `product` that is missing in `matrix`; None if none is.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array
        The matrix of the map, as a pattern of entries gave it.
    v, found : vectors
        Random numbers, and the product of the map's true matrix with these numbers.
    product : callable
        Takes a vector, returns such a product.
    eps : float
        Rounding error of the numbers.

    Returns
    -------
    tuple of int, or None
        None also for rows whose entries are not finite: such a row already indicates an error.
    """
    xp = plugins.host.namespace
    if not min(matrix.shape):
        return None
    expected = matrix @ v
    scale = abs(matrix) @ xp.abs(v)
    wrong = ~(xp.abs(found - expected) <= ROUNDING * eps * scale) & xp.isfinite(expected)
    for row in xp.nonzero(wrong)[0].tolist():
        column = _column(matrix, product, row, v, ROUNDING * eps * float(scale[row]))
        if column is not None:
            return row, column
    return None


def _column(matrix: Any, product: Product, row: int, v: Array, tolerance: float) -> int | None:
    """Return the column of an entry in `row` outside of the pattern; None without one."""
    xp = plugins.host.namespace
    rest = xp.asarray(v, copy=True)
    rest[matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]] = 0.0
    suspects = xp.nonzero(rest)[0]
    if not abs(float(product(rest)[row])) > tolerance:
        return None
    while len(suspects) > 1:  # some half of them has a product of more than a part of the tolerance
        halves = suspects[: len(suspects) // 2], suspects[len(suspects) // 2 :]
        values = []
        for half in halves:
            part = xp.zeros_like(rest)
            part[half] = rest[half]
            values.append(abs(float(product(part)[row])))
        suspects = halves[values[1] > values[0]]
    return int(suspects[0])


def random_vector(size: int) -> Array:
    """Return random numbers of both signs, of magnitudes from a half to one and a half, the same at each call."""
    draw = random.Random(0)
    numbers = [draw.choice((-1, 1)) * draw.uniform(0.5, 1.5) for _ in range(size)]
    return plugins.host.asarray(numbers, plugins.host.namespace.float64)


SparseMode = Literal["auto", "forward", "reverse"]
SparseFormat = Literal["csr", "csc", "coo"]
CHUNK = 2**21
"""Numbers in the seeds of one part of a dense Jacobian, when a pattern is looked for."""
MAX_SHIFT = 0.01
"""How far from the argument a pattern is looked for, relative to its elements."""


class SparseJacobian:
    """The function that `sparse_jacobian` or `sparse_hessian` returns.

    Attributes
    ----------
    sparsity : scipy.sparse.csr_array of ones, or None
        The pattern; None before the first call if it is to be found.
    colors : int or None
        Number of groups of columns or rows, each an element of a batched sweep; None before the first call.
    mode : {"forward", "reverse"} or None
        Whether sweeps are for groups of columns or of rows; None before the first call.
    """

    def __init__(
        self, name: str, f: Callable[..., Any], sparsity: Any, argnums: int, mode: SparseMode, check: bool,
        format: SparseFormat, allow_constant: bool,
    ) -> None:  # fmt: skip
        if mode not in ("auto", "forward", "reverse"):
            raise ValueError(f"{name}: mode must be 'auto', 'forward' or 'reverse', got {mode!r}")
        if format not in ("csr", "csc", "coo"):
            raise ValueError(f"{name}: format must be 'csr', 'csc' or 'coo', got {format!r}")
        if not hasattr(argnums, "__index__"):
            raise TypeError(f"{name}: argnums must be one integer, got {argnums!r}; put several arguments into a tuple")
        scipy_sparse(name)
        documented(f, name)(self)
        self._name, self._f, self._argnums, self._check, self._format = name, f, argnums, check, format
        self._asked: SparseMode = mode
        self._allow_constant = allow_constant
        self._known = sparsity is not None
        self._pattern = None if sparsity is None else pattern_of(sparsity, name)
        self._colouring: Colouring | None = None

    @property
    def sparsity(self) -> Any:
        """The pattern."""
        return None if self._pattern is None else self._pattern.matrix.copy()

    @property
    def colors(self) -> int | None:
        """Number of groups of columns or rows."""
        return None if self._colouring is None else self._colouring.count

    @property
    def mode(self) -> Literal["forward", "reverse"] | None:
        """Whether sweeps are for columns or rows."""
        return None if self._colouring is None else "forward" if self._colouring.forward else "reverse"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the matrix at these arguments."""
        sweeps = self._sweeps(args, kwargs)
        if self._pattern is None:
            self._pattern = self._found(sweeps, args, kwargs)
        if self._pattern.shape != sweeps.shape:
            rows, columns = sweeps.shape
            raise SparsityError(
                f"{self._name}: expected a sparsity of shape {sweeps.shape}, as the function returned {rows} and its "
                f"argument has {columns} elements, got {self._pattern.shape}"
            )
        matrix, missing = self._compressed(sweeps, self._pattern)
        if missing is not None:
            if self._known:
                row, column = missing
                raise SparsityError(
                    f"{self._name}: the sparsity misses the entry at row {row}, column {column}; add it, or leave "
                    "sparsity out to have it found"
                )
            self._pattern = self._pattern.united(dense_pattern(sweeps, self._name))
            matrix, _ = self._compressed(sweeps, self._pattern)
        return matrix.astype(sweeps.dtype).asformat(self._format)

    def _sweeps(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sweeps:
        return Sweeps(self._name, self._f, self._argnums, args, kwargs, self._allow_constant)

    def _compressed(self, sweeps: Sweeps, pattern: Pattern) -> tuple[Any, tuple[int, int] | None]:
        """Return the matrix with entries at the positions in `pattern`, and row and column of a missing entry."""
        host, xp = plugins.host, plugins.host.namespace
        reverse = self._asked == "auto" and not supports_forward(sweeps.call)
        self._colouring = colouring = pattern.colouring("reverse" if reverse else self._asked)
        forward, count = colouring.forward, colouring.count
        colours = host.asarray(colouring.colours, xp.int64)
        seeds = xp.zeros((count + self._check, len(colours)), dtype=xp.float64)
        places = xp.nonzero(colours >= 0)[0]
        seeds[colours[places], places] = 1.0
        seeds[count:, :] = v = random_vector(len(colours))
        products = sweeps.products(seeds, forward=forward)
        rows, columns = pattern.matrix.tocoo().coords
        of, at = (columns, rows) if forward else (rows, columns)
        matrix = pattern.matrix.copy()
        matrix.data = products[colours[of], at]
        if not self._check:
            return matrix, None

        def product(v: Array) -> Array:
            return sweeps.products(v[None, :], forward=forward)[0]

        given = matrix if forward else matrix.T.tocsr()
        found = missing_entry(given, v, products[count, :], product, sweeps.eps)
        return matrix, found if forward or found is None else (found[1], found[0])

    def _found(self, sweeps: Sweeps, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Pattern:
        """Return the pattern of the Jacobian, by dense Jacobians at two random points near the argument."""
        patterns = []
        for sign in (1, -1):
            moved = list(args)
            moved[self._argnums] = perturbed(args[self._argnums], sign * MAX_SHIFT)
            made = sweeps.surroundings.again(None, self._sweeps, tuple(moved), kwargs)
            patterns.append(dense_pattern(made, self._name))
        return patterns[0].united(patterns[1])


def dense_pattern(sweeps: Sweeps, name: str) -> Pattern:
    """Return the pattern of nonzero entries of the Jacobian."""
    xp, sparse = plugins.host.namespace, scipy_sparse(name)
    rows, columns = sweeps.shape
    forward = columns < rows and supports_forward(sweeps.call)
    size = columns if forward else rows
    step = max(1, CHUNK // max(1, size))
    parts = [sparse.csr_array((0, rows if forward else columns))]
    for start in range(0, size, step):
        units = xp.eye(min(step, size - start), size, k=start, dtype=xp.float64)
        parts.append(sparse.csr_array(sweeps.products(units, forward=forward) != 0))
    found = sparse.vstack(parts, format="csr")
    return Pattern(found.T if forward else found)


def perturbed(tree: Any, move: float) -> Any:
    """Return `tree` with its floating-point leaves moved by random numbers, about `move` relative to their elements."""
    leaves, structure = flatten(tree)
    moved = []
    for leaf in leaves:
        if not is_differentiable(leaf):
            moved.append(leaf + move if isinstance(leaf, float) else leaf)
            continue
        array = as_array(leaf)
        backend = plugins.backend_of(array)
        x = host_array(array)
        xp = plugins.host.namespace
        noise = move * xp.reshape(random_vector(x.size), x.shape)
        x = x + noise * xp.where(x == 0, 1.0, xp.abs(x))
        moved += arrays_of(xp.reshape(x, (-1,)), [(backend.spec(array), backend.device_of(array))])
    return structure.build(moved)


def sparse_jacobian(
    f: Callable[..., Any], sparsity: Any = None, argnums: int = 0, *, mode: SparseMode = "auto", check: bool = True,
    format: SparseFormat = "csr", allow_constant: bool = False,
) -> SparseJacobian:  # fmt: skip
    """Return the Jacobian of `f` as a function that returns a sparse matrix of SciPy.

    Parameters
    ----------
    f : callable
        Returns a Variable of any shape, or a tree of Variables, real.
    sparsity : matrix, optional
        Positions of possibly nonzero entries of the Jacobian: a sparse array of SciPy, whose stored elements count,
        including zeros; or a dense array, whose nonzero elements count. More than needed is allowed. By default the
        pattern is found at the first call, by dense Jacobians at two random points near the argument.
    argnums : int
        The positional argument to differentiate by: an array, or a tree of arrays, real floating-point.
    mode : {"auto", "forward", "reverse"}
        "forward" has a tangent for each group of columns that share no row, "reverse" a cotangent for each group of
        rows that share no column; all are one batched sweep. "auto" takes the fewer ones (a dense row makes many groups
        of columns, a dense column of rows), but rows if a gradient is the user's code, as for `jacobian`.
    check : bool
        Whether each call compares its result times a vector of random numbers with the product by one more sweep. A
        `sparsity` that misses an entry is an error then; a pattern that was found is completed. Entries below a
        thousand rounding errors of the other entries in their row (reverse mode: column) remain undetected.
    format : {"csr", "csc", "coo"}
    allow_constant : bool
        As for `value_and_grad`.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns a ``scipy.sparse`` array on the host, of dtype float64 (float32 if all
        numbers have at most 32 bits). Rows are the elements of the output, columns the elements of the argument, in C
        order; leaves of trees follow each other. Its attributes `sparsity`, `colors` and `mode` say how it is computed.

    Raises
    ------
    SparsityError
        `sparsity` is not a matrix, has another shape, or misses an entry; the text names row and column.
    DtypeError
        Complex numbers.
    GradientError
        A call inside another transform.
    """
    return SparseJacobian("sparse_jacobian", f, sparsity, argnums, mode, check, format, allow_constant)


def sparse_hessian(
    f: Callable[..., Any], sparsity: Any = None, argnums: int = 0, *, check: bool = True, format: SparseFormat = "csr",
    allow_constant: bool = False,
) -> SparseJacobian:  # fmt: skip
    """Return the Hessian of `f`, which returns one real number, as a function that returns a sparse matrix of SciPy.

    Parameters and result are the same as for `sparse_jacobian` of the gradient of `f`; a sweep over a recorded sweep
    computes a group of rows. `sparsity` includes both triangles.
    """
    gradient = gradient_of("sparse_hessian", f, argnums, allow_constant=allow_constant)
    return SparseJacobian("sparse_hessian", gradient, sparsity, argnums, "reverse", check, format, allow_constant)
