"""`solve_ivp`: SciPy's solvers of ordinary differential equations with exact Jacobians, over trees."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import scipy.integrate

from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.scipy.functions import VectorFunction, sparse_of
from xpgrad.scipy.progress import Progress, Shown
from xpgrad.scipy.unknowns import Unknowns, compiled_if
from xpgrad.scipy.vectors import exact, jac, transformed
from xpgrad.transforms.call import Mode
from xpgrad.transforms.leaves import as_leaf
from xpgrad.transforms.matrices import JacobianMode
from xpgrad.transforms.trees import where
from xpgrad.transforms.vectors import host_number, placed
from xpgrad.types import Array, as_list

IMPLICIT = (scipy.integrate.Radau, scipy.integrate.BDF, scipy.integrate.LSODA)
Time = float | Array


def solve_ivp(
    f: Callable[..., Any], t_span: Sequence[float], y0: Any, args: tuple[Any, ...] = (), *,
    method: str | type[scipy.integrate.OdeSolver] = "RK45", t_eval: Any = None, dense_output: bool = False,
    events: Any = None, rtol: Any = 1e-3, atol: Any = 1e-6, first_step: float | None = None,
    max_step: float = float("inf"), options: Mapping[str, Any] | None = None, sparsity: Any = None,
    mode: JacobianMode = "auto", device: Any = None, compiled: bool = False, progress: Shown = False,
) -> Any:  # fmt: skip
    """Return the result of ``scipy.integrate.solve_ivp``, with exact Jacobians and trees as states.

    Parameters
    ----------
    f : callable
        ``f(t, y, *args)`` returns the derivative of the state by the time, a tree like `y0`. `t` is a scalar
        Variable with the dtype and device of the first leaf; `y` are Variables like `y0`.
    t_span : pair of float
    y0 : tree of Variables, arrays or scalars, real floating-point
        The state at ``t_span[0]``. The solver computes with float64.
    args : tuple
        Further arguments of `f` and of events.
    method : str or OdeSolver
        As for SciPy; "Radau", "BDF" and "LSODA" use the Jacobian.
    rtol, atol : tree like `y0`, or number
    events : callable or sequence of them, optional
        ``event(t, y, *args)`` with Variables, and with the attributes `terminal` and `direction`, as for SciPy.
    options : dict, optional
        Further options of the method, such as `min_step` of "LSODA".
    sparsity : matrix or True, optional
        For "Radau" and "BDF": where the Jacobian has entries, as for `xpgrad.transforms.sparse_jacobian`, which checks
        it; True lets it be found.
    mode : {"auto", "forward", "reverse"}
        As for `xpgrad.transforms.jacobian`.
    progress : bool or rich.console.Console
        Whether evaluation and time are shown.
    t_eval, dense_output, first_step, max_step
        As for SciPy.
    device, compiled
        As for `minimize`.

    Returns
    -------
    result of ``scipy.integrate.solve_ivp``
        `y` is a tree like `y0` whose leaves have an additional first axis for the times `t` (in SciPy the last axis).
        `sol` takes a time, or a vector of times for such a first axis, and returns such a tree; `y_events` has a
        tree for each event.

    Raises
    ------
    StructureError, ShapeError
        The output of `f` is not a tree like `y0`, or a leaf has another shape.
    SparsityError
        `sparsity` differs from the sparsity of the Jacobian.
    ValueError
        The derivative at the start is not finite, or `sparsity` is given for another method.
    GradientError
        As for `least_squares`, where the method uses the Jacobian.
    DtypeError
        Numbers that are not real floating-point.
    """
    unknowns = Unknowns(y0, device, "solve_ivp: y0")
    args = args if isinstance(args, tuple) else (args,)
    g = transformed(compiled_if(f, compiled), lambda f: _by_state(f, unknowns))
    values = VectorFunction("solve_ivp", g, unknowns)
    time = _Clock(unknowns)
    further = dict(options or {})
    kind: Any = getattr(scipy.integrate, method, None) if isinstance(method, str) else method
    implicit = inspect.isclass(kind) and issubclass(kind, IMPLICIT)
    if sparsity is not None and (not implicit or issubclass(kind, scipy.integrate.LSODA)):
        raise ValueError(f"solve_ivp: sparsity is for the methods 'Radau' and 'BDF', got {method!r}; leave it out")
    if implicit:
        matrix = (
            exact("solve_ivp", jac(g, y0, device, mode=mode, allow_constant=True))
            if sparsity is None
            else sparse_of("solve_ivp", g, unknowns, sparsity, "csc")
        )
        further["jac"] = lambda t, y: matrix(y, time(t), *args)
    title = method if isinstance(method, str) else method.__name__
    with Progress(progress, f"solve_ivp {title}", ("evaluation", "t")) as shown:

        def derivative(t: float, y: Array) -> Array:
            shown.step(float(t))
            return values(y, time(t), *args)

        solve: Any = scipy.integrate.solve_ivp  # checkers infer types from its defaults
        found = solve(
            derivative, t_span, unknowns.vector, method=method, t_eval=t_eval, dense_output=dense_output,
            events=_events(events, unknowns, time, args), rtol=_tolerance(rtol, unknowns, "rtol"),
            atol=_tolerance(atol, unknowns, "atol"), first_step=_number(first_step, "first_step"), max_step=max_step,
            **further,
        )  # fmt: skip
    return _result(found, unknowns)


class Solution:
    """The solution between the times of steps, with trees as states.

    Attributes
    ----------
    solution : scipy.integrate.OdeSolution
        That of vectors.
    """

    def __init__(self, solution: Any, unknowns: Unknowns) -> None:
        self.solution, self._unknowns = solution, unknowns

    def __call__(self, t: Time) -> Any:
        """Return the state at a time, or at several times, which are the first axis of each leaf then."""
        return self._unknowns.like(self.solution(t).T)


class _Clock:
    """Times as Variables with the dtype and device of the first leaf of the state."""

    def __init__(self, unknowns: Unknowns) -> None:
        self.place = unknowns.layout.specs[0]

    def __call__(self, t: float) -> Variable:
        host = plugins.host
        number = host.asarray(float(t), host.namespace.float64)
        return constant_variable(placed(number, *self.place, shape=()))


def _by_state(f: Callable[..., Any], unknowns: Unknowns) -> Callable[..., Any]:
    """Return ``g(y, t, *args)``, whose result is checked, from ``f(t, y, *args)``."""

    def g(y: Any, t: Any, *args: Any) -> list[Variable]:
        what = "solve_ivp: what the function returned"
        leaves = unknowns.structure.leaves_of(f(t, y, *args), what)
        found = []
        for leaf, x, path in zip(leaves, unknowns.variables, unknowns.structure.paths(), strict=True):
            made = as_leaf(leaf, what + where(path))
            if made.shape != x.shape:
                raise ShapeError(f"{what}{where(path)}: expected shape {x.shape}, as in y0, got {made.shape}")
            found.append(made)
        return found

    return g


def _events(events: Any, unknowns: Unknowns, time: _Clock, args: tuple[Any, ...]) -> Any:
    """Return event functions of vectors for event functions of trees."""
    if events is None:
        return None

    def of_vector(event: Callable[..., Any]) -> Callable[..., float]:
        def function(t: float, y: Array) -> float:
            return host_number(Mode().computed(event, time(t), unknowns.passed(y), *args))

        for name in ("terminal", "direction"):
            if hasattr(event, name):
                setattr(function, name, getattr(event, name))
        return function

    return of_vector(events) if callable(events) else [of_vector(event) for event in as_list(events, "functions")]


def _tolerance(given: Any, unknowns: Unknowns, name: str) -> Any:
    if not isinstance(given, (int, float)):
        return unknowns.spread(given, 0.0, f"solve_ivp: {name}")
    return _number(given, name)


def _number(given: Any, name: str) -> Any:
    """Return a number; SciPy takes steps without end for NaN."""
    if isinstance(given, float) and math.isnan(given):
        raise ValueError(f"solve_ivp: {name} is NaN")
    return given


def _result(found: Any, unknowns: Unknowns) -> Any:
    """Return SciPy's result with trees for states."""
    xp = plugins.host.namespace
    found.y = unknowns.like(xp.reshape(xp.asarray(found.y), (unknowns.size, -1)).T if len(found.t) else _none(unknowns))
    if found.sol is not None:
        found.sol = Solution(found.sol, unknowns)
    if found.y_events is not None:
        found.y_events = [unknowns.like(y if y.size else _none(unknowns)) for y in found.y_events]
    return found


def _none(unknowns: Unknowns) -> Array:
    """Return the states at no time."""
    return plugins.host.namespace.zeros((0, unknowns.size), dtype=plugins.host.namespace.float64)
