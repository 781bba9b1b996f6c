"""`hessian_diagonal` and `laplacian`: second derivatives along each coordinate, in Taylor mode."""

import math
from collections.abc import Callable
from typing import Any

from xpgrad.array_api.manipulation import moveaxis, reshape
from xpgrad.errors import DtypeError
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.transforms.batch.vmap import vmap
from xpgrad.transforms.gradient import documented
from xpgrad.transforms.series.jet import coefficients

MEMBERS = "coordinates"
"""The name of the batch of all directions."""


def _seconds(
    name: str, f: Callable[..., Any], argnum: int, args: tuple[Any, ...], kwargs: dict[str, Any], summed: bool
) -> tuple[Variable, Any]:
    """Return the argument, and the second derivatives by its elements: along the first axis, or summed."""
    x = as_variable(args[argnum])
    spec = x.node.spec
    if not spec.differentiable or spec.complex:
        raise DtypeError(f"{name}: expected a real floating-point argument, got {spec!r}")
    size = math.prod(x.shape)
    units = spec.backend.namespace.eye(size, dtype=spec.dtype, device=spec.device)
    directions = reshape(as_variable(units), (size, *x.shape))

    def of_one(x: Any) -> Any:
        return f(*args[:argnum], x, *args[argnum + 1 :], **kwargs)

    def along(direction: Any) -> Any:
        return coefficients(name, of_one, (x,), [[direction]], 2, MEMBERS if summed else None)[2]

    batched = vmap(along, out_axes=None if summed else 0, axis_name=MEMBERS, randomness="same")
    return x, batched(directions)


def hessian_diagonal(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return the diagonal of the Hessian of `f` as a function.

    Parameters
    ----------
    f : callable
        Returns an array of real numbers.
    argnum : int
        The argument to differentiate by, one real array.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns second derivatives by each element: the axes of the output of `f`, then the
        axes of the argument. The value of `f` is computed once, and its first and second derivatives for all elements
        together; no Hessian is made.
    """

    @documented(f, "hessian_diagonal")
    def diagonal(*args: Any, **kwargs: Any) -> Any:
        x, found = _seconds("hessian_diagonal", f, argnum, args, kwargs, False)
        y = moveaxis(as_variable(found), 0, -1)
        return reshape(y, (*y.shape[:-1], *x.shape))

    return diagonal


def laplacian(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return the Laplacian of `f`, the sum of the second derivatives by each element, as a function.

    Parameters
    ----------
    f, argnum
        As for `hessian_diagonal`.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns an array like its output.

    Notes
    -----
    Each array within carries its derivatives by all elements, and one Laplacian, which linear functions map as they map
    the array (R. Li et al.: A computational framework for neural network-based variational Monte Carlo with Forward
    Laplacian, 2023).
    """

    @documented(f, "laplacian")
    def total(*args: Any, **kwargs: Any) -> Any:
        return as_variable(_seconds("laplacian", f, argnum, args, kwargs, True)[1])

    return total
