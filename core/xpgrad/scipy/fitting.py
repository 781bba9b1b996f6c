"""`least_squares` and `root`: SciPy's fits and solvers of equations with exact Jacobians, over trees."""

import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any, Literal

import scipy.optimize

from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.scipy.constraints import bounds_of
from xpgrad.scipy.functions import VectorFunction, sparse_of
from xpgrad.scipy.progress import Progress, Shown
from xpgrad.scipy.unknowns import Unknowns, compiled_if
from xpgrad.scipy.vectors import exact, jac
from xpgrad.transforms.matrices import JacobianMode


def least_squares(
    f: Callable[..., Any], x0: Any, args: tuple[Any, ...] = (), *, bounds: Any = None,
    method: Literal["trf", "dogbox", "lm"] = "trf", ftol: float | None = 1e-8, xtol: float | None = 1e-8,
    gtol: float | None = 1e-8, x_scale: Any = None, loss: str | Callable[..., Any] = "linear", f_scale: float = 1.0,
    max_nfev: int | None = None, tr_solver: str | None = None, tr_options: Mapping[str, Any] | None = None,
    sparsity: Any = None, mode: JacobianMode = "auto", callback: Callable[..., Any] | None = None, device: Any = None,
    compiled: bool = False, progress: Shown = False,
) -> scipy.optimize.OptimizeResult:  # fmt: skip
    """Return the result of ``scipy.optimize.least_squares``, with exact Jacobians and trees as `x` and `fun`.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` takes Variables like `x0` and returns the residuals: a real Variable of any shape, or a tree.
    x0, args, device, compiled
        As for `minimize`.
    bounds
        As for `minimize`.
    x_scale : "jac", or tree like `x0`, or number, optional
        As for SciPy.
    sparsity : matrix or True, optional
        Where the Jacobian has entries, as for `xpgrad.transforms.sparse_jacobian`, which checks it; True lets it be
        found. The Jacobian is a sparse matrix then.
    mode : {"auto", "forward", "reverse"}
        As for `xpgrad.transforms.jacobian`.
    callback : callable, optional
        ``callback(x)``, or ``callback(intermediate_result)`` by that name, with trees; not for "lm".
    progress : bool or rich.console.Console
        Whether evaluation and cost, half the sum of the squares, are shown.
    method, ftol, xtol, gtol, loss, f_scale, max_nfev, tr_solver, tr_options
        As for SciPy.

    Returns
    -------
    scipy.optimize.OptimizeResult
        `x` and `grad` are trees like `x0`, `fun` like the output of `f`. `jac` is a matrix with a row for each residual
        and a column for each unknown, both in order; `active_mask` is a vector.

    Raises
    ------
    ValueError
        A residual at `x0` is not finite, or bounds are not as above.
    SparsityError
        `sparsity` differs from the sparsity of the Jacobian.
    GradientError
        `f` converts a Variable to a number, as in ``math.exp(x)``.
    DtypeError
        Numbers that are not real floating-point.
    """
    unknowns = Unknowns(x0, device, "least_squares: x0")
    f = compiled_if(f, compiled)
    values = VectorFunction("least_squares", f, unknowns)
    if sparsity is None:
        matrix = exact("least_squares", jac(f, x0, device, mode=mode, allow_constant=True))
    else:
        matrix = sparse_of("least_squares", f, unknowns, sparsity)
    xp = plugins.host.namespace
    limits = bounds_of(bounds, unknowns, "least_squares")
    scale = x_scale
    if x_scale is not None and not isinstance(x_scale, str):
        scale = unknowns.spread(x_scale, 1.0, "least_squares: x_scale")
    further = {} if limits is None else {"bounds": limits}
    with Progress(progress, f"least_squares {method}", ("evaluation", "cost")) as shown:

        def watched(x: Any, *args: Any) -> Any:
            vector = values(x, *args)
            shown.step(float(0.5 * xp.sum(vector**2)))
            return vector

        solve: Any = scipy.optimize.least_squares  # checkers infer types from its defaults
        found = solve(
            watched, unknowns.vector, matrix, method=method, ftol=ftol, xtol=xtol, gtol=gtol, x_scale=scale, loss=loss,
            f_scale=f_scale, max_nfev=None if max_nfev is None else operator.index(max_nfev), tr_solver=tr_solver,
            tr_options=dict(tr_options or {}),
            args=args if isinstance(args, tuple) else (args,), callback=_callback(callback, unknowns), **further,
        )  # fmt: skip
    found.x, found.grad = unknowns.like(found.x), unknowns.like(found.grad)
    if values.outputs is not None:
        found.fun = values.outputs.like(found.fun)
    return found


def _callback(callback: Callable[..., Any] | None, unknowns: Unknowns) -> Callable[..., Any] | None:
    """Return a callback for SciPy that calls the user's callback with trees."""
    if callback is None:
        return None
    by_name = set(inspect.signature(callback).parameters) == {"intermediate_result"}

    def of_result(intermediate_result: Any) -> Any:
        result = scipy.optimize.OptimizeResult(intermediate_result)
        result.x = unknowns.like(result.x)
        return callback(intermediate_result=result) if by_name else callback(result.x)

    return of_result


WITH_JACOBIAN = {"hybr", "lm"}


def root(
    f: Callable[..., Any], x0: Any, args: tuple[Any, ...] = (), *, method: str = "hybr", tol: float | None = None,
    callback: Callable[..., Any] | None = None, options: Mapping[str, Any] | None = None, mode: JacobianMode = "auto",
    device: Any = None, compiled: bool = False, progress: Shown = False,
) -> scipy.optimize.OptimizeResult:  # fmt: skip
    """Return the result of ``scipy.optimize.root``, with exact Jacobians and trees as `x` and `fun`.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` takes Variables like `x0` and returns a tree of as many real numbers, which are to be zero.
    x0, args, device, compiled
        As for `minimize`.
    method : str
        As for SciPy; "hybr" and "lm" use the Jacobian.
    tol, options
        As for SciPy.
    callback : callable, optional
        ``callback(x, fun)`` with trees, for methods other than "hybr" and "lm".
    mode : {"auto", "forward", "reverse"}
        As for `xpgrad.transforms.jacobian`.
    progress : bool or rich.console.Console
        Whether the number of evaluations and the largest element of `f(x)` are shown.

    Returns
    -------
    scipy.optimize.OptimizeResult
        `x` is a tree like `x0`, `fun` like the output of `f`; the other fields refer to vectors.

    Raises
    ------
    ValueError
        The output of `f` at `x0` is not finite, or (`ShapeError`) has more or fewer elements than `x0`.
    GradientError
        As for `least_squares`, where the method uses the Jacobian.
    DtypeError
        Numbers that are not real floating-point.
    """
    unknowns = Unknowns(x0, device, "root: x0")
    f = compiled_if(f, compiled)
    values = VectorFunction("root", f, unknowns)
    matrix = None
    if method.lower() in WITH_JACOBIAN:
        matrix = exact("root", jac(f, x0, device, mode=mode, allow_constant=True))
    xp = plugins.host.namespace
    with Progress(progress, f"root {method}", ("evaluation", "max |f|")) as shown:

        def watched(x: Any, *args: Any) -> Any:
            vector = values(x, *args)
            if vector.shape != unknowns.vector.shape:
                raise ShapeError(
                    f"root: expected as many equations as unknowns, got {vector.size} equations in what the function "
                    f"returned and {unknowns.size} unknowns in x0"
                )
            shown.step(float(xp.max(xp.abs(vector))) if vector.size else 0.0)
            return vector

        def watch(x: Any, fun: Any) -> Any:
            assert callback is not None
            assert values.outputs is not None
            return callback(unknowns.like(x), values.outputs.like(fun))

        found = scipy.optimize.root(
            watched, unknowns.vector, args if isinstance(args, tuple) else (args,), method=method, jac=matrix, tol=tol,
            callback=None if callback is None else watch, options=None if options is None else dict(options),
        )  # fmt: skip
    found.x = unknowns.like(found.x)
    if values.outputs is not None:
        found.fun = values.outputs.like(found.fun)
    return found
