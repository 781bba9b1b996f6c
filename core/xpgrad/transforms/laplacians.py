"""`hessian_diagonal` and `laplacian`: second derivatives along each coordinate, by forward mode alone."""

import math
from collections.abc import Callable
from typing import Any

from xpgrad.array_api.manipulation import moveaxis, reshape
from xpgrad.array_api.statistical import sum as sum_
from xpgrad.errors import DtypeError
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.transforms.batch.vmap import vmap
from xpgrad.transforms.forward import jvp
from xpgrad.transforms.gradient import documented


def _seconds(f: Callable[..., Any], argnum: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Variable, Any]:
    """Return the argument, and the second derivatives by each of its elements, which are the first axis."""
    x = as_variable(args[argnum])
    spec = x.node.spec
    if not spec.differentiable or spec.complex:
        raise DtypeError(f"hessian_diagonal: expected a real floating-point argument, got {spec!r}")
    size = math.prod(x.shape)
    units = spec.backend.namespace.eye(size, dtype=spec.dtype, device=spec.device)
    directions = reshape(as_variable(units), (size, *x.shape))

    def along(direction: Any) -> Any:
        def slope(x: Any) -> Any:
            return jvp(lambda x: f(*args[:argnum], x, *args[argnum + 1 :], **kwargs), (x,), (direction,))[1]

        return jvp(slope, (x,), (direction,), allow_constant=True)[1]

    return x, vmap(along)(directions)


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
        Takes the arguments of `f`, returns second derivatives by each element: the axes of the output of `f`, then
        those of the argument. The value of `f` is computed once, and its first and second derivatives for all elements
        together; no Hessian is made.
    """

    @documented(f, "hessian_diagonal")
    def diagonal(*args: Any, **kwargs: Any) -> Any:
        x, found = _seconds(f, argnum, args, kwargs)
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
    """

    @documented(f, "laplacian")
    def total(*args: Any, **kwargs: Any) -> Any:
        return sum_(as_variable(_seconds(f, argnum, args, kwargs)[1]), axis=0)

    return total
