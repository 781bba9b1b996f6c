"""Functions of flat float64 vectors from functions of Variables, as SciPy calls them.

``scipy.optimize`` passes and receives float64 NumPy vectors; `f` receives one Variable of any shape, dtype and
device, or a tree of Variables::

    fun = xpgrad.scipy.value_and_grad(f, like=x0, device="@cupy:0")
    x, unravel = xpgrad.scipy.ravel(x0)
    result = scipy.optimize.minimize(fun, x, jac=True, method="L-BFGS-B")
    unravel(result.x)

All returned functions take the further arguments of SciPy's ``args=``, and pass them to `f`. Of a compiled function,
``xpgrad.compile(f)``, its value and derivatives are one program, with the options that it was compiled with.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.array_api import concat
from xpgrad.array_api.shared.copying import copy
from xpgrad.backend.current import get_device
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.config import called_with
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.graph.methods.ending import rejecting, rejecting_name
from xpgrad.graph.variable import Variable
from xpgrad.transforms.call import Mode
from xpgrad.transforms.forward import hvp as product_of
from xpgrad.transforms.gradient import grad
from xpgrad.transforms.gradient import value_and_grad as both_of
from xpgrad.transforms.leaves import as_leaf
from xpgrad.transforms.matrices import JacobianMode, jacobian
from xpgrad.transforms.trees import Structure, flatten, map_leaves, where
from xpgrad.transforms.vectors import arrays_of, host_array, host_number, vector_of
from xpgrad.types import Array


class VectorLayout:
    """The layout of a tree of arrays in a vector.

    Parameters
    ----------
    like : tree of Variables, arrays or scalars, real floating-point; or None
        None means one vector of any length.
    device : as `get_device` takes it, or None
        Device of the arrays; by default that in `like`, or the host.
    what : str
        Name of `like` in error messages.
    """

    def __init__(self, like: Any, device: Any, what: str = "scipy: like") -> None:
        self.device: Device | None = None if device is None else get_device(device)
        leaves, self.structure = ([], Structure()) if like is None else flatten(like)
        self.any_length = like is None
        self.specs = []
        for leaf, path in zip(leaves, self.structure.paths() if leaves else (), strict=True):
            x = as_leaf(leaf, what + where(path))
            spec = x._node.spec
            if spec.complex or not spec.differentiable:
                raise DtypeError(f"{what}{where(path)}: expected real floating-point numbers, got {spec!r}")
            self.specs.append((spec, x.device if self.device is None else self.device))
        self.size = sum(spec.size for spec, _ in self.specs)

    def unraveled(self, vector: Array) -> Any:
        """Return the tree with the elements of `vector`, as raw arrays."""
        host = plugins.host
        vector = host.asarray(vector, host.namespace.float64)
        if self.any_length:
            return vector if self.device is None else transfer(vector, self.device)
        if tuple(vector.shape) != (self.size,):
            raise ShapeError(
                f"scipy: expected a vector of {self.size} elements, as in like, got shape {tuple(vector.shape)}"
            )
        return self.structure.build(arrays_of(vector, self.specs))

    def restored(self, vector: Any) -> Any:
        """Return the tree with the elements of `vector`: as Variables if `vector` is a Variable, else as arrays."""
        if not isinstance(vector, Variable):
            return self.unraveled(vector)
        if self.any_length:
            return vector if self.device is None else copy(vector, self.device)
        if vector.shape != (self.size,):
            raise ShapeError(f"scipy: expected a vector of {self.size} elements, as in like, got shape {vector.shape}")
        namespace, start, leaves = vector.__array_namespace__(), 0, []
        for spec, device in self.specs:
            part = namespace.reshape(vector[start : start + spec.size], spec.shape)
            start += spec.size
            dtype = getattr(namespace, spec.backend.dtype_name(spec.dtype))
            leaves.append(copy(namespace.astype(part, dtype), device))
        return self.structure.build(leaves)

    def variables(self, vector: Array) -> Any:
        """Return the tree with the elements of `vector`, as Variables."""
        return map_leaves(Variable, self.unraveled(vector))


def ravel(tree: Any, device: Any = None) -> tuple[Array, Callable[[Array], Any]]:
    """Return the elements of a tree as one float64 vector of the host, and the function that restores the tree.

    Parameters
    ----------
    tree : tree of Variables, arrays or scalars, real floating-point
    device : as `get_device` takes it, or None
        Device of the restored arrays; by default that in `tree`.

    Notes
    -----
    Within a transform both are differentiable: Variables that require a gradient give a Variable as the vector, and the
    function converts a Variable to a tree of Variables.
    """
    layout, leaves = VectorLayout(tree, device), flatten(tree)[0]
    if Mode().within and any(isinstance(x, Variable) and _is_connected(x) for x in leaves):
        return _joined(leaves), layout.restored
    return vector_of(leaves), layout.restored


def _is_connected(x: Variable) -> bool:
    return x._node.requires_grad or x._node.spec.backend.carries_tangents


def _joined(leaves: Sequence[Any]) -> Variable:
    """Return the elements of leaves as one float64 Variable on the host."""
    host, parts = plugins.host.default_device, []
    for leaf in leaves:
        x = copy(as_leaf(leaf, "scipy"), host)
        namespace = x.__array_namespace__()
        parts.append(namespace.reshape(namespace.astype(x, namespace.float64), (-1,)))
    return concat(parts)


def value_and_grad(
    f: Callable[..., Any], like: Any = None, device: Any = None, *, allow_constant: bool = False
) -> Callable[..., tuple[float, Array]]:
    """Return `f` and its gradient as one function, for ``scipy.optimize.minimize(..., jac=True)``.

    Parameters
    ----------
    f : callable
        Takes Variables like `like`, returns one real number as a Variable.
    like : tree of arrays, optional
        The argument of `f`, instead of a vector: structure, shapes, dtypes and devices. Values are ignored.
    device : as `get_device` takes it, or None
        Where `f` computes; by default the devices of `like`.
    allow_constant : bool
        Zeros instead of an error if the output of `f` is a constant, as for `xpgrad.transforms.value_and_grad`.

    Returns
    -------
    callable
        Takes a vector, returns a float and the gradient, a float64 NumPy vector.

    Raises
    ------
    GradientError
        Without `allow_constant`: `f` converted a Variable to a number, as in ``math.exp(x)``. Other transforms may only
        warn in this case. Functions returned by `hvp`, `hess` and `jac` also raise this error.
    """
    layout = VectorLayout(like, device)
    both = transformed(f, lambda f: both_of(f, allow_constant=allow_constant))
    both = both if allow_constant else exact("scipy.value_and_grad", both)

    def function(x: Array, *args: Any) -> tuple[float, Array]:
        value, found = both(layout.unraveled(x), *args)
        return host_number(*flatten(value)[0]), vector_of(flatten(found)[0])

    return function


def hvp(
    f: Callable[..., Any], like: Any = None, device: Any = None, *, allow_constant: bool = False
) -> Callable[..., Array]:
    """Return the function for ``minimize(..., hessp=)``: the product of the Hessian at a vector with another vector.

    Parameters are as in `value_and_grad`.
    """
    layout = VectorLayout(like, device)

    def product(f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def along(x: Any, p: Any, *args: Any) -> Any:
            return product_of(lambda tree: f(tree, *args), (x,), (p,), allow_constant=allow_constant)

        return along

    along = transformed(f, product)
    along = along if allow_constant else exact("scipy.hvp", along)

    def function(x: Array, p: Array, *args: Any) -> Array:
        (found,) = along(layout.unraveled(x), layout.unraveled(p), *args)
        return vector_of(flatten(found)[0])

    return function


def hess(
    f: Callable[..., Any], like: Any = None, device: Any = None, *, allow_constant: bool = False
) -> Callable[..., Array]:
    """Return the function for ``minimize(..., hess=)``: the Hessian as a float64 NumPy matrix.

    Parameters are as in `value_and_grad`. The Hessian takes one sweep per row.
    """
    gradient = transformed(f, lambda f: grad(f, allow_constant=allow_constant))
    return jac(gradient, like, device, mode="reverse", allow_constant=allow_constant)


def residuals(f: Callable[..., Any], like: Any = None, device: Any = None) -> Callable[..., Array]:
    """Return the function for ``scipy.optimize.least_squares``: the output of `f` as a float64 vector.

    Parameters
    ----------
    f : callable
        Takes Variables like `like`, returns a tree of Variables.
    like, device
        As for `value_and_grad`.
    """
    layout = VectorLayout(like, device)

    def function(x: Array, *args: Any) -> Array:
        output = Mode().computed(f, layout.variables(x), *args)
        return real_vector(output, "scipy: what the function returned")

    return function


def real_vector(output: Any, what: str) -> Array:
    """Return the elements of a tree that a user's function returned, which are real numbers, as a vector.

    Raises
    ------
    DtypeError
        They are complex; the text begins with `what`.
    """
    leaves, structure = flatten(output)
    for leaf, path in zip(leaves, structure.paths(), strict=True):
        spec = as_leaf(leaf, what + where(path))._node.spec
        if spec.complex:
            raise DtypeError(
                f"{what}{where(path)}: expected real numbers, got {spec!r}; return real and imaginary parts"
            )
    return vector_of(leaves)


def jac(
    f: Callable[..., Any],
    like: Any = None,
    device: Any = None,
    *,
    mode: JacobianMode = "auto",
    allow_constant: bool = False,
) -> Callable[..., Array]:
    """Return the function for ``least_squares(..., jac=)``: the Jacobian of `residuals` as a float64 matrix.

    Parameters
    ----------
    f : callable
        Takes Variables like `like`, returns a tree of Variables.
    like, device, allow_constant
        As for `value_and_grad`.
    mode : {"auto", "forward", "reverse"}
        As for `xpgrad.transforms.jacobian`: by default a sweep for each column if there are many more rows, as in a
        fit of few parameters to much data, else one for each row.
    """
    layout = VectorLayout(like, device)

    def derivatives(f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def values(tree: Any, *args: Any) -> list[Any]:
            return [as_leaf(y, "scipy: what the function returned") for y in flatten(f(tree, *args))[0]]

        return jacobian(values, mode=mode, allow_constant=allow_constant)

    blocks = transformed(f, derivatives)
    blocks = blocks if allow_constant else exact("scipy.jac", blocks)

    def function(x: Array, *args: Any) -> Array:
        rows: list[list[Array]] = [flatten(block)[0] for block in blocks(layout.unraveled(x), *args)]
        return _matrix(rows, [spec.size for spec, _ in layout.specs] or [len(x)])

    return function


def exact(name: str, derivative: Callable[..., Any]) -> Callable[..., Any]:
    """Return a derivative that steers a search: it raises errors of `name` where other transforms warn."""

    def function(*args: Any) -> Any:
        return called_with(rejecting(rejecting_name() or name), derivative, *args)

    return function


def transformed(f: Any, transform: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[..., Any]:
    """Return ``transform(f)``; compiled as a whole if `f` is compiled."""
    compiled = getattr(f, "__xpgrad_transformed__", None)
    return transform(f) if compiled is None else compiled(transform)


def _matrix(blocks: Sequence[Sequence[Any]], sizes: Sequence[int]) -> Array:
    """Return the matrix of `blocks`; the last axes of a row's blocks have `sizes` elements."""
    xp = plugins.host.namespace
    rows = []
    for block in blocks:
        parts = [host_array(x) for x in block]
        height = [part.size // size for part, size in zip(parts, sizes, strict=True) if size]
        lines = height[0] if height else 0
        rows.append(xp.concat([xp.reshape(p, (lines, n)) for p, n in zip(parts, sizes, strict=True)], axis=1))
    return xp.concat(rows, axis=0) if rows else xp.zeros((0, sum(sizes)), dtype=xp.float64)
