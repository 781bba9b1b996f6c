"""Boundary value problems: SciPy finds mesh and solution, and the equations of collocation give the derivatives."""

from collections.abc import Callable
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.scipy.interpolate.cubic import CubicHermiteSpline
from xpgrad.scipy.operands import eye_beside, from_host, inexact, required
from xpgrad.transforms.batch.vmap import vmap
from xpgrad.transforms.forward import jvp
from xpgrad.transforms.implicit import custom_root
from xpgrad.transforms.vectors import host_array

NEWTON = 3  # steps after SciPy's solution, whose equations then hold up to rounding


def solve_bvp(
    fun: Callable[..., Any], bc: Callable[..., Any], x: Any, y: Any, p: Any = None, *, tol: float = 1e-3,
    max_nodes: int = 1000, verbose: int = 0, bc_tol: float | None = None,
) -> Any:  # fmt: skip
    """Return the solution of ``dy/dx = fun(x, y, p)`` that satisfies ``bc(y(a), y(b), p) = 0``.

    Parameters
    ----------
    fun : callable
        ``fun(x, y)``, or ``fun(x, y, p)`` if there is `p`, takes Variables of shapes (m,), (n, m) and (k,), and returns
        one of shape (n, m). Variables that it captures have gradients.
    bc : callable
        ``bc(ya, yb)``, or ``bc(ya, yb, p)``, takes Variables of shape (n,) and returns one of shape (n + k,), with
        gradients as of `fun`.
    x : Variable or array, shape (m,)
        Initial mesh. Its ends have gradients; the nodes of the result keep their shares of the interval.
    y : Variable or array, shape (n, m)
        Initial guess.
    p : Variable, array or None, shape (k,)
        Initial guess of unknown parameters.
    tol, max_nodes, verbose, bc_tol
        As for ``scipy.integrate.solve_bvp``.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As of SciPy: `x`, `y`, `yp` and `p` are Variables, and `sol` is a function of places.

    Notes
    -----
    On SciPy's mesh the equations of collocation are solved up to rounding. Derivatives of any order
    follow from the implicit function theorem, with the Jacobian as a dense matrix. Singular terms are not supported.
    """
    x, y = inexact(x, "solve_bvp"), inexact(y, "solve_bvp")
    if x.ndim != 1 or y.ndim != 2 or y.shape[1] != x.shape[0]:
        raise ShapeError(f"solve_bvp: expected x of shape (m,) and y of shape (n, m), got {x.shape} and {y.shape}")
    guess = None if p is None else inexact(p, "solve_bvp")

    def on_host(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: host_array(as_array(function(*(from_host(y, each) for each in given))))

    found = required("scipy.integrate", "solve_bvp").solve_bvp(
        on_host(fun), on_host(bc), *(None if each is None else host_array(as_array(each)) for each in (x, y, guess)),
        tol=tol, max_nodes=max_nodes, verbose=verbose, bc_tol=bc_tol,
    )  # fmt: skip
    mesh = x[0] + (x[-1] - x[0]) * from_host(x, (found.x - found.x[0]) / (found.x[-1] - found.x[0]))
    count, shape, host = found.y.size, found.y.shape, plugins.host
    start = [host.asarray(each) for each in (found.y.reshape(-1), [] if found.p is None else found.p)]

    def divided(z: Any) -> tuple[Any, ...]:
        return xpa.reshape(z[:count], shape), *(() if guess is None else (z[count:],))

    def misfit(z: Any) -> Variable:
        values, *parameters = divided(z)
        steps, slopes = mesh[1:] - mesh[:-1], as_variable(fun(mesh, values, *parameters))
        low, high, before, after = values[:, :-1], values[:, 1:], slopes[:, :-1], slopes[:, 1:]
        middle = 0.5 * (low + high) - steps / 8 * (after - before)
        between = as_variable(fun(mesh[:-1] + 0.5 * steps, middle, *parameters))
        rest = high - low - steps / 6 * (before + after + 4 * between)
        ends = as_variable(bc(values[:, 0], values[:, -1], *parameters))
        return xpa.concat([xpa.reshape(rest, (-1,)), ends])

    def solved(f: Callable[..., Any], z: Any) -> Any:
        for _ in range(NEWTON):

            def tangent(t: Any, z: Any = z) -> Any:
                return jvp(f, (z,), (t,))[1]

            z = z - linear(tangent, f(z))
        return z

    z = custom_root(misfit, from_host(y, host.namespace.concat(start)), solved, linear)
    found.x, (found.y, *parameters) = mesh, divided(z)
    found.p = parameters[0] if parameters else None
    found.yp = as_variable(fun(mesh, found.y, *parameters))
    found.sol = CubicHermiteSpline(mesh, found.y, found.yp, axis=1)
    return found


def linear(function: Callable[[Any], Any], y: Variable) -> Variable:
    """Return the solution of ``function(x) = y`` for a linear function of a vector."""
    columns = as_variable(vmap(function)(eye_beside(y, y.shape[0])))
    return xpa.linalg.solve(xpa.matrix_transpose(columns), y)
