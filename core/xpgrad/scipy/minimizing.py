"""`minimize`: SciPy's minimisers with exact derivatives, over trees."""

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import scipy.optimize

from xpgrad.backend.plugins import plugins
from xpgrad.scipy.constraints import bounds_of, constraints_of
from xpgrad.scipy.progress import Progress, Shown
from xpgrad.scipy.unknowns import Unknowns, compiled_if
from xpgrad.scipy.vectors import exact, hess, hvp, value_and_grad
from xpgrad.transforms.call import Mode
from xpgrad.transforms.leaves import as_leaf, real_scalar
from xpgrad.transforms.vectors import host_number
from xpgrad.types import Array

WITHOUT_GRADIENT = {"nelder-mead", "powell", "cobyla", "cobyqa"}
WITH_PRODUCTS = {"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"}
WITH_HESSIAN = {"dogleg", "trust-exact"}
OF_VECTORS = {"tnc", "cobyla", "cobyqa"}
"""Methods whose callbacks SciPy calls with the vector alone."""


def minimize(
    f: Callable[..., Any], x0: Any, args: tuple[Any, ...] = (), *, method: str | Callable[..., Any] | None = None,
    bounds: Any = None, constraints: Any = (), tol: float | None = None, options: Mapping[str, Any] | None = None,
    callback: Callable[..., Any] | None = None, device: Any = None, compiled: bool = False, progress: Shown = False,
) -> scipy.optimize.OptimizeResult:  # fmt: skip
    """Return the result of ``scipy.optimize.minimize``, with exact derivatives and a tree as `x`.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` takes Variables like `x0` and returns one real number. One sweep gives its gradient with its
        value.
    x0 : tree of Variables, arrays or scalars, real floating-point
        Where the search starts.
    args : tuple
        Further arguments of `f`, passed unchanged.
    method : str or callable, optional
        As for SciPy. "Newton-CG", "trust-ncg", "trust-krylov" and "trust-constr" get exact products with the Hessian,
        "dogleg" and "trust-exact" the Hessian; "Nelder-Mead", "Powell", "COBYLA" and "COBYQA" use no gradient.
    bounds : pair, scipy.optimize.Bounds, or sequence of pairs, optional
        ``(lower, upper)``, each a tree like `x0`, a number or None; leaves broadcast to the leaves of `x0`, and None
        means no bound. If `x0` is one array with one axis, also SciPy's pair for each element.
    constraints : dict, NonlinearConstraint, LinearConstraint, or sequence of them
        As for SciPy, with functions that take and return trees of Variables; Jacobians (and for `NonlinearConstraint`
        products with Hessians) are exact. The columns of a `LinearConstraint` are the elements of `x0` in order.
    tol, options
        As for SciPy.
    callback : callable, optional
        ``callback(x)``, or ``callback(intermediate_result)`` by that name, where the method has it; with trees.
    device : as `get_device` takes it, or None
        Where `f` computes; by default the devices of `x0`.
    compiled : bool
        Whether `xpgrad.compile` compiles `f` and its derivatives.
    progress : bool or rich.console.Console
        Whether iteration, value and the largest element of the gradient are shown while the search runs.

    Returns
    -------
    scipy.optimize.OptimizeResult
        `x` is a tree like `x0` with the same types, dtypes and devices, and so is the gradient `jac` (`grad` for
        "trust-constr", whose `jac` contains the Jacobians of the constraints). Matrices, such as `hess_inv`, refer to
        the vector.

    Raises
    ------
    ValueError
        The value or the gradient at `x0` is not finite, or bounds are not as above.
    GradientError, DtypeError
        `f` returns a complex number or several numbers, or converts a Variable to a number, as in ``math.exp(x)``; or
        `x0` has numbers that are not real floating-point.
    """
    unknowns = Unknowns(x0, device, "minimize: x0")
    f = compiled_if(f, compiled)
    args = args if isinstance(args, tuple) else (args,)
    name = method if isinstance(method, str) else ""
    key = name.lower()
    limits = bounds_of(bounds, unknowns, "minimize")
    limited = constraints_of(constraints, unknowns, device, compiled, "minimize", second=key == "trust-constr")
    objective = Objective(f, unknowns, device, gradients=key not in WITHOUT_GRADIENT)
    further: dict[str, Any] = {"jac": True} if objective.gradients else {}
    if key in WITH_PRODUCTS:
        further["hessp"] = exact("minimize", hvp(f, x0, device, allow_constant=True))
    if key in WITH_HESSIAN:
        further["hess"] = exact("minimize", hess(f, x0, device, allow_constant=True))
    columns = ("iteration", "value", "max |gradient|")
    with Progress(progress, f"minimize {name}".rstrip(), columns) as shown:
        watch = _callback(callback, unknowns, objective, shown, key)
        found = scipy.optimize.minimize(
            objective, unknowns.vector, args, method=method, bounds=limits, constraints=limited, tol=tol,
            callback=watch, options=None if options is None else dict(options), **further,
        )  # fmt: skip
    return _result(found, unknowns)


class Objective:
    """A function of the vector of unknowns, optionally with its gradient.

    The results at the last points are stored for callbacks and the progress display.
    """

    def __init__(self, f: Callable[..., Any], unknowns: Unknowns, device: Any, *, gradients: bool) -> None:
        self.f, self.unknowns, self.gradients = f, unknowns, gradients
        self.both = exact("minimize", value_and_grad(f, unknowns.tree, device)) if gradients else None
        self.recent: dict[bytes, tuple[float, float | None]] = {}
        self.first = True

    def __call__(self, x: Array, *args: Any) -> Any:
        """Return the value, with the gradient if there are gradients."""
        try:
            value, gradient = (self._value(x, args), None) if self.both is None else self.both(x, *args)
        except Exception as error:
            error.add_note("while minimize evaluated the function" + (" at x0" if self.first else ""))
            raise
        if self.first:
            self._check(value, gradient)
        self.first = False
        xp = plugins.host.namespace
        largest = None if gradient is None or not gradient.size else float(xp.max(xp.abs(gradient)))
        if len(self.recent) > 32:
            self.recent.clear()
        self.recent[x.tobytes()] = value, largest
        return value if gradient is None else (value, gradient)

    def _value(self, x: Array, args: tuple[Any, ...]) -> float:
        y = Mode().computed(self.f, self.unknowns.passed(x), *args)
        return host_number(real_scalar(as_leaf(y, "minimize: what the function returned"), "minimize"))

    def _check(self, value: float, gradient: Array | None) -> None:
        if not math.isfinite(value):
            raise ValueError(f"minimize: expected a finite value at x0, got {value}; start elsewhere")
        if gradient is None:
            return
        xp = plugins.host.namespace
        wrong = xp.nonzero(~xp.isfinite(gradient))[0]
        if wrong.size:
            at, got = self.unknowns.name_of(int(wrong[0])), float(gradient[wrong[0]])
            raise ValueError(f"minimize: expected a finite gradient at x0, got {got} for x0{at}; start elsewhere")


def _callback(
    callback: Callable[..., Any] | None, unknowns: Unknowns, objective: Objective, shown: Progress, method: str
) -> Callable[..., Any] | None:
    """Return the callback for SciPy, which shows the progress and calls the user's callback with trees."""
    if callback is None and shown.shown is False:
        return None
    by_name = callback is not None and set(inspect.signature(callback).parameters) == {"intermediate_result"}

    def of_vector(xk: Array) -> Any:
        value, largest = objective.recent.get(xk.tobytes(), (None, None))
        shown.step(value, largest)
        return None if callback is None else callback(unknowns.like(xk))

    def of_result(intermediate_result: Any) -> Any:
        x = intermediate_result.x
        _, largest = objective.recent.get(x.tobytes(), (None, None))
        shown.step(float(intermediate_result.fun), largest)
        if callback is None:
            return None
        result = scipy.optimize.OptimizeResult(intermediate_result)
        result.x = unknowns.like(x)
        if by_name:
            return callback(intermediate_result=result)
        return callback(result.x, result) if method == "trust-constr" else callback(result.x)

    return of_vector if method in OF_VECTORS and not by_name else of_result


def _result(found: Any, unknowns: Unknowns) -> Any:
    """Return SciPy's result with trees for vectors like the unknowns."""
    for name in ("x", "jac", "grad"):
        vector = found.get(name)
        if getattr(vector, "shape", None) == unknowns.vector.shape:
            found[name] = unknowns.like(vector)
    if not math.isfinite(found.fun):
        found.success = False
        found.message = f"The value of the function at x is {found.fun}. {found.message}"
    return found
