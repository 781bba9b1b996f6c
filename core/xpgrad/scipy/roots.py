"""`root`: SciPy's solvers of equations with exact Jacobians, over trees."""

from collections.abc import Callable, Mapping
from typing import Any

import scipy.optimize

from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.scipy.functions import VectorFunction
from xpgrad.scipy.progress import Progress, Shown
from xpgrad.scipy.unknowns import Unknowns, compiled_if
from xpgrad.scipy.vectors import exact, jac
from xpgrad.transforms.matrices import JacobianMode

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
