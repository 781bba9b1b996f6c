"""`odeint`: solutions of ordinary differential equations, differentiable by their inputs.

No well-kept library supports every library of the Array API standard: diffrax is written for JAX, torchdiffeq and
torchode for torch, and SciPy's solvers take NumPy arrays and have no derivatives.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad import array_api
from xpgrad.errors import BatchError, DtypeError, ShapeError
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.transforms.call import Mode, recording
from xpgrad.transforms.custom import stop_gradient
from xpgrad.transforms.leaves import is_array
from xpgrad.transforms.loops.adjoint import continuous
from xpgrad.transforms.loops.arguments import check_checkpoints, check_function, handed, integer, leaves_of
from xpgrad.transforms.loops.integration import RightHandSide, integrated
from xpgrad.transforms.loops.step_control import StepControl, stepped
from xpgrad.transforms.trees import map_leaves, where
from xpgrad.types import as_list

ADJOINTS = "discrete", "continuous"
MAX_STEPS = 10_000


def odeint(
    f: Callable[..., Any], y0: Any, t: Any, *args: Any, rtol: float | None = None, atol: float | None = None,
    max_steps: int = MAX_STEPS, adjoint: str = "discrete", checkpoints: int | str | None = None,
) -> Any:  # fmt: skip
    """Return the solution of ``dy/dt = f(y, t, *args)``, ``y(t[0]) = y0`` at all times `t`.

    The method of Dormand and Prince, of order 5, with error control, is suitable for problems that are not stiff. They
    end at each of the times.

    Parameters
    ----------
    f : callable
        Takes a tree of Variables like `y0`, a 0-d Variable and `args`, and returns a tree like `y0`.
    y0 : tree of Variables, arrays or scalars, floating-point
    t : Variable, array or sequence of numbers, shape (n,)
        Increasing or decreasing; equal times have equal solutions, each with its own gradient. In `vmap`, members may
        have different times; steps, which they share, are then parts of the intervals from one time to the next.
    *args : trees
        Arrays in them are passed as Variables. Variables that `f` captures also get their gradients.
    rtol, atol : float, optional
        The error of a step is at most ``atol + rtol * abs(y)``, in the root mean square. By default the square root of
        the spacing of numbers at 1: 1.5e-8 for float64, 3.5e-4 for float32.
    max_steps : int
        Limit from one time to the next.
    adjoint : "discrete" or "continuous"
        The gradients of the computed steps, exact to rounding, or the gradients of the equation, by another integration
        backward in time: it keeps no carries, and its error depends on the tolerances.
    checkpoints : int, "all" or None
        For the discrete adjoint, as for `scan`, between each two times.

    Returns
    -------
    tree like `y0`, shape (n, *S)

    Raises
    ------
    IterationError
        The end is not reached in `max_steps`, or the step size underflows.
    StructureError
        `f` returns a tree that is not like `y0`.
    DtypeError, ShapeError, ValueError
        `y0` has no floating-point numbers, or `t` is not 1-D, or increases and decreases.

    Notes
    -----
    Sizes of steps are constants in derivatives. Gradients by `t` are the derivatives of the exact solution,
    ``f(y(t[i]), t[i])``. Gradients can be differentiated again; gradients by times up to order 5. In each step numbers
    are read to control the error, so that a compiled function with an integration runs without a program.
    """
    check_function("odeint", f)
    if adjoint not in ADJOINTS:
        raise ValueError(f"odeint: adjoint must be one of {', '.join(map(repr, ADJOINTS))}, got {adjoint!r}")
    mode = Mode(y0, t, args)
    y, structure = leaves_of(y0, "odeint: y0")
    for x, path in zip(y, structure.paths(), strict=True):
        if not x._node.spec.differentiable:
            raise DtypeError(f"odeint: y0{where(path)} must be floating-point, got {x._node.spec!r}; cast it")
    if not y:
        raise ShapeError("odeint: y0 has no arrays; give at least one")
    given = map_leaves(lambda leaf: as_variable(leaf) if is_array(leaf) else leaf, args)
    rhs = RightHandSide(f, structure, y, given)
    try:
        moments, times = _times(t, rhs)
    except BatchError:
        options = {"rtol": rtol, "atol": atol, "max_steps": max_steps, "adjoint": adjoint, "checkpoints": checkpoints}
        found = _by_intervals(rhs, y, as_variable(t), options)
        return handed(mode, [array_api.stack(list(column)) for column in zip(*found, strict=True)], structure)
    kept = check_checkpoints("odeint", checkpoints)
    control = _control(y, rtol, atol, integer("odeint", "max_steps", max_steps))
    differentiated = times is not None and _is_differentiated(times)
    start = _shifted(rhs, y, times, 0) if differentiated else y
    if adjoint == "continuous" and recording():
        solutions = continuous(rhs, start, moments, control)
    else:
        solutions = _discrete(rhs, start, moments, control, kept)
    if differentiated:
        solutions = [_shifted(rhs, x, times, i + 1) for i, x in enumerate(solutions)]
    columns = zip(y, *solutions, strict=True)
    return handed(mode, [array_api.stack(list(column)) for column in columns], structure)


def _discrete(
    rhs: RightHandSide, y: list[Variable], moments: Sequence[float], control: StepControl, checkpoints: int | str | None
) -> list[list[Variable]]:
    """Return the solution at all times after the first time, connected by the steps."""
    if len(moments) == 1:
        return []
    k = rhs(y, moments[0])
    found = []
    for start, end in itertools.pairwise(moments):
        y, k = integrated(rhs, y, k, control, start, end, checkpoints)
        found.append(y)
    return found


def _by_intervals(
    rhs: RightHandSide, y: list[Variable], times: Variable, options: dict[str, Any]
) -> list[list[Variable]]:
    """Return the solution at times that differ between members of a batch, which share a time from 0 to 1 in each."""
    found, times = [y], array_api.astype(times, rhs.time.dtype)
    for i in range(times.shape[0] - 1):
        start, length = times[i], times[i + 1] - times[i]

        def scaled(ys: Any, s: Any, start: Variable = start, length: Variable = length) -> list[Variable]:
            return [g * length for g in rhs.at(list(ys), start + s * length)]

        columns = odeint(scaled, found[-1], [0.0, 1.0], **options)
        found.append([as_variable(x)[-1, ...] for x in columns])
    return found


def _is_differentiated(times: Variable) -> bool:
    """Return whether derivatives by the times may be computed."""
    node = times._node
    return (recording() and node.requires_grad) or node.spec.backend.carries_tangents


def _shifted(rhs: RightHandSide, y: list[Variable], times: Any, index: int) -> list[Variable]:
    """Return the solution at one of the times, connected to that by a step of length 0; the first time is its start."""
    moment = array_api.astype(times[index], rhs.time.dtype)
    fixed = stop_gradient(moment)
    start, step = (fixed, moment - fixed) if index else (moment, fixed - moment)
    return stepped(rhs.at, y, rhs.at(y, start), start, step)[0]


def _times(t: Any, rhs: RightHandSide) -> tuple[list[float], Variable | None]:
    """Return the times as numbers, and as a Variable if they are an array."""
    if not is_array(t):
        given, times = [float(x) for x in as_list(t, "times")], None
        shape: tuple[int, ...] = (len(given),)
    else:
        times = as_variable(t)
        spec = times._node.spec
        shape = spec.shape
        if spec.complex or len(shape) != 1:
            raise ShapeError(f"odeint: t must be a 1-D array of real numbers, got {spec!r}")
        given = [float(times._array[i]) for i in range(shape[0])]
    if not given:
        raise ShapeError("odeint: t must have at least one time, the first, got none")
    pairs = list(itertools.pairwise(given))
    if not all(map(math.isfinite, given)) or not (all(a <= b for a, b in pairs) or all(a >= b for a, b in pairs)):
        raise ValueError("odeint: t must increase or decrease from each time to the next, or stay; sort it")
    return given, times


def _control(y: Sequence[Variable], rtol: float | None, atol: float | None, max_steps: int) -> StepControl:
    """Return the control of the steps."""
    eps = max(float(x._node.spec.backend.finfo(x._node.spec.dtype).eps) for x in y)
    tolerances = []
    for name, given in (("rtol", rtol), ("atol", atol)):
        value = math.sqrt(eps) if given is None else float(given)
        if not value >= 0 or not math.isfinite(value):
            raise ValueError(f"odeint: {name} must be a number of at least 0, got {given!r}")
        tolerances.append(value)
    if not any(tolerances):
        raise ValueError("odeint: rtol and atol must not both be 0")
    if max_steps < 1:
        raise ValueError(f"odeint: max_steps must be at least 1, got {max_steps}")
    return StepControl(tolerances[0], tolerances[1], max_steps, eps)
