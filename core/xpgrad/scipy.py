"""Functions of flat float64 vectors from functions of Variables, for SciPy's optimisers.

``scipy.optimize`` passes and receives float64 NumPy vectors; `f` receives Variables of any shape, dtype and device,
alone or in a tree::

    fun = xpgrad.scipy.value_and_grad(f, like=x0, device="@cupy:0")
    x, unravel = xpgrad.scipy.ravel(x0)
    result = scipy.optimize.minimize(fun, x, jac=True, method="L-BFGS-B")
    unravel(result.x)

All returned functions take the further arguments of SciPy's ``args=``, and pass them to `f`. Of a compiled function,
``xpgrad.compile(f)``, its value and derivatives are one program, with the options that it was compiled with.
"""

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xpgrad.backend.current import get_device
from xpgrad.backend.device import Device
from xpgrad.backend.holder import unwrap
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.config import backprop_mode, called_with
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.graph.variable import Variable
from xpgrad.listing import listed as _listed
from xpgrad.transforms.forward import hvp as product_of
from xpgrad.transforms.gradient import grad
from xpgrad.transforms.gradient import value_and_grad as both_of
from xpgrad.transforms.leaves import as_leaf
from xpgrad.transforms.matrices import JacobianMode, jacobian
from xpgrad.transforms.trees import Structure, flatten, map_leaves, where
from xpgrad.types import Array

__all__ = ["hess", "hvp", "jac", "ravel", "residuals", "value_and_grad"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)


class Layout:
    """The layout of a tree of arrays in a vector.

    Parameters
    ----------
    like : tree of Variables, arrays or scalars, real floating-point; or None
        None means one vector of any length.
    device : as `get_device` takes it, or None
        Device of the arrays; by default that in `like`, or the host.
    """

    def __init__(self, like: Any, device: Any) -> None:
        self.device: Device | None = None if device is None else get_device(device)
        leaves, self.structure = ([], Structure()) if like is None else flatten(like)
        self.any_length = like is None
        self.specs = []
        for leaf, path in zip(leaves, self.structure.paths() if leaves else (), strict=True):
            x = as_leaf(leaf, f"scipy: like{where(path)}")
            spec = x._node.spec
            if spec.complex or not spec.differentiable:
                raise DtypeError(f"scipy: like{where(path)}: expected real floating-point numbers, got {spec!r}")
            self.specs.append((spec, x.device if self.device is None else self.device))

    def unraveled(self, vector: Array) -> Any:
        """Return the tree with the elements of `vector`, as raw arrays."""
        host = plugins.host
        vector = host.asarray(vector, host.namespace.float64)
        if self.any_length:
            return vector if self.device is None else transfer(vector, self.device)
        size = sum(spec.size for spec, _ in self.specs)
        if tuple(vector.shape) != (size,):
            raise ShapeError(
                f"scipy: expected a vector of {size} elements, as in like, got shape {tuple(vector.shape)}"
            )
        leaves, start = [], 0
        for spec, device in self.specs:
            part = host.namespace.reshape(vector[start : start + spec.size], spec.shape)
            backend = device.backend
            wanted = getattr(host.namespace, spec.backend.dtype_name(spec.dtype), host.namespace.float64)
            part = host.namespace.astype(part, wanted)  # before the move: the device may have no float64
            moved = transfer(part, device) if backend is not host else part
            if spec.backend is backend and moved.dtype != spec.dtype:
                moved = backend.restore(backend.xp.astype(moved, spec.dtype))
            leaves.append(moved)
            start += spec.size
        return self.structure.build(leaves)


def ravel(tree: Any, device: Any = None) -> tuple[Array, Callable[[Array], Any]]:
    """Return the elements of a tree as one float64 vector of the host, and the function that restores the tree.

    Parameters
    ----------
    tree : tree of Variables, arrays or scalars, real floating-point
    device : as `get_device` takes it, or None
        Device of the restored arrays; by default that in `tree`.
    """
    layout = Layout(tree, device)
    return _vector(flatten(tree)[0]), layout.unraveled


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
    """
    layout = Layout(like, device)
    both = _transformed(f, lambda f: both_of(f, allow_constant=allow_constant))

    def function(x: Array, *args: Any) -> tuple[float, Array]:
        value, found = both(layout.unraveled(x), *args)
        return float(unwrap(value)), _vector(flatten(found)[0])

    return function


def hvp(
    f: Callable[..., Any], like: Any = None, device: Any = None, *, allow_constant: bool = False
) -> Callable[..., Array]:
    """Return the function for ``minimize(..., hessp=)``: the product of the Hessian at a vector with another vector.

    Parameters are those of `value_and_grad`.
    """
    layout = Layout(like, device)

    def product(f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def along(x: Any, p: Any, *args: Any) -> Any:
            return product_of(lambda tree: f(tree, *args), (x,), (p,), allow_constant=allow_constant)

        return along

    along = _transformed(f, product)

    def function(x: Array, p: Array, *args: Any) -> Array:
        (found,) = along(layout.unraveled(x), layout.unraveled(p), *args)
        return _vector(flatten(found)[0])

    return function


def hess(
    f: Callable[..., Any], like: Any = None, device: Any = None, *, allow_constant: bool = False
) -> Callable[..., Array]:
    """Return the function for ``minimize(..., hess=)``: the Hessian as a float64 NumPy matrix.

    Parameters are those of `value_and_grad`. It takes one sweep per row.
    """
    gradient = _transformed(f, lambda f: grad(f, allow_constant=allow_constant))
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
    layout = Layout(like, device)

    def function(x: Array, *args: Any) -> Array:
        output = called_with(backprop_mode(False), f, map_leaves(Variable, layout.unraveled(x)), *args)
        return _vector(flatten(output)[0])

    return function


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
    layout = Layout(like, device)

    def derivatives(f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def values(tree: Any, *args: Any) -> list[Any]:
            return [as_leaf(y, "scipy: what the function returned") for y in flatten(f(tree, *args))[0]]

        return jacobian(values, mode=mode, allow_constant=allow_constant)

    blocks = _transformed(f, derivatives)

    def function(x: Array, *args: Any) -> Array:
        rows: list[list[Array]] = [flatten(block)[0] for block in blocks(layout.unraveled(x), *args)]
        return _matrix(rows, [spec.size for spec, _ in layout.specs] or [len(x)])

    return function


def _transformed(f: Any, transform: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[..., Any]:
    """Return ``transform(f)``; compiled as a whole if `f` is compiled."""
    compiled = getattr(f, "__xpgrad_transformed__", None)
    return transform(f) if compiled is None else compiled(transform)


def _on_host(x: Any) -> Array:
    """Return a leaf as a float64 array on the host that shares no memory with it."""
    host = plugins.host
    array = unwrap(x)
    if plugins.is_scalar(array):
        return host.asarray([array], host.namespace.float64)
    copy = plugins.backend_of(array).to_host(array)
    return host.namespace.astype(copy, host.namespace.float64, copy=False)


def _vector(leaves: Sequence[Any]) -> Array:
    xp = plugins.host.namespace
    parts = [xp.reshape(_on_host(x), (-1,)) for x in leaves]
    return xp.concat(parts) if parts else xp.zeros((0,), dtype=xp.float64)


def _matrix(blocks: Sequence[Sequence[Any]], sizes: Sequence[int]) -> Array:
    """Return the matrix of `blocks`; the last axes of a row's blocks have `sizes` elements."""
    xp = plugins.host.namespace
    rows = []
    for block in blocks:
        parts = [_on_host(x) for x in block]
        height = [part.size // size for part, size in zip(parts, sizes, strict=True) if size]
        lines = height[0] if height else 0
        rows.append(xp.concat([xp.reshape(p, (lines, n)) for p, n in zip(parts, sizes, strict=True)], axis=1))
    return xp.concat(rows, axis=0) if rows else xp.zeros((0, sum(sizes)), dtype=xp.float64)
