"""A call with a wrong argument must raise a clear error within a second, or return the right result.

A clear error is a TypeError, a ValueError, an IndexError or an error of xpgrad, and names the function; an OSError
names the file, a KeyError the missing entry of the file. A result is right if it has its gradient: the slope of its sum
along a random direction.
"""

import contextlib
import re
import resource
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tests.robust.calls import Call
from tests.robust.wrong import WRONG, HostileError

import xpgrad
from xpgrad import Variable
from xpgrad.errors import BatchError

ALLOWED = TypeError, ValueError, IndexError, xpgrad.XpgradError, OSError, KeyError
OF_OTHERS = xpgrad.BackendUnavailable, xpgrad.SpecifierError, BatchError
"""Errors that name a device, or the transformation in which the function of the user was called, instead."""
STEP, TOO_LONG = 1e-6, "takes longer than a second"
SOLVED = "with a large tolerance or few steps, the result is no solution, and its gradient that of a solution"
WITHOUT_SLOPE = {
    "F.batch_renormalization": "the corrections of the statistics are constants of the gradient",
    "linalg.pinv": "with a tolerance of 0, the rank of the array changes beside it",
    "scipy.linalg.null_space": "the basis is not unique",
    "scipy.ndimage.affine_transform": "the argument may move points to the edge, where the value jumps",
    "scipy.sparse.linalg.cg": SOLVED,
    "scipy.sparse.linalg.eigsh": "the basis is not unique",
    "scipy.sparse.linalg.gmres": SOLVED,
    "scipy.sparse.linalg.minres": SOLVED,
    **dict.fromkeys(("special.fdtr", "special.fdtrc", "special.fdtri"), "digits are lost beyond 10**14 of freedom"),
    "special.stdtridf": "the number of degrees is at the end of its range, where the value jumps",
    "special.bdtrik": "the number of successes is at the end of its range, where the slope changes",
    "ops.interp": "the values of the argument are at knots, where the slope changes",
    "ops.setdiff1d": "an argument promises that elements are unique",
}
"""Functions with an argument whose wrong values may give a gradient that is not the slope."""
LONG = "xpgrad.scipy.solve_ivp", "scipy.sparse.linalg.expm_multiply"
"""Functions that may take long with an argument that is right: up to the time 10**30, they have many steps."""
MEMORY = 2**32
"""Bytes that a call may use."""
MAX_SIZE = 10_000
"""Elements of results whose slopes are computed."""


class HangError(BaseException):
    """A call takes longer than a second of this process."""


@contextlib.contextmanager
def limited(seconds: float = 1.0) -> Iterator[None]:
    """Raise `HangError` where the block computes for longer, and `MemoryError` where it needs much memory.

    An endless loop of the interpreter itself, such as ``tuple(count())``, is ended by the second only.
    """

    def hang(*_: Any) -> None:
        raise HangError

    before, allowed = signal.signal(signal.SIGPROF, hang), resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if sys.platform == "linux" else 0
    if pages and allowed[1] == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, allowed[1]))
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)  # repeat, in case it is raised in a weak reference
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, allowed)


def fault(call: Call, place: Any, value: str) -> str | None:
    """Return the error of a call with a wrong value at a place as text, or None.

    A call that took too long is made again: the garbage of a large process may have been collected meanwhile.
    """
    found = _fault(call, place, value)
    return _fault(call, place, value) if found == TOO_LONG else found


def _fault(call: Call, place: Any, value: str) -> str | None:
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(None):
        warnings.simplefilter("ignore")
        try:
            with limited():
                xpgrad.random.seed(0)
                args, kwargs = call.made(place, WRONG[value]())
                y = call.function(*args, **kwargs)
        except HangError:
            return None if call.name in LONG else TOO_LONG
        except HostileError:
            return None
        except ALLOWED as error:
            return (
                None
                if is_named(error, call.name) or _is_the_users(error)
                else f"{type(error).__name__} without the name: {error}"
            )
        except Exception as error:
            return None if _is_the_users(error) else f"raises {type(error).__name__}: {error}"
        try:
            return _wrong_gradient(call, place, value, args, y)
        except xpgrad.ChangedArray as error:
            return f"its result is not what it says: {error}"


def _is_the_users(error: Exception) -> bool:
    """Return whether a function that the call got has raised an error."""
    step = error.__traceback__
    while step is not None:
        module = step.tb_frame.f_globals.get("__name__", "")
        if module.startswith("tests.core.") or (module == Call.__module__ and step.tb_frame.f_code.co_name != "made"):
            return True
        step = step.tb_next
    return False


def is_named(error: Exception, name: str) -> bool:
    """Return whether the text of an error names a function; errors of a link may name a function that it calls."""
    text = str(error)
    if name.endswith(".forward") or name.startswith("Variable."):
        return re.match(r"\w+: |Invalid operation is performed in: \w+", text) is not None
    if isinstance(error, OSError):
        return error.filename is not None
    if isinstance(error, OF_OTHERS) or text.startswith("get_device: "):
        return True
    if type(error) is KeyError:
        return name.startswith("xpgrad.serializers.")  # names that the file does not contain
    return re.search(rf"\b_?{name.rpartition('.')[2].strip('_')}", text) is not None


def _wrong_gradient(call: Call, place: Any, value: str, args: list[Any], y: Any) -> str | None:
    """Return how the gradient of a result differs from its slope, or None."""
    xs = [x for x in _variables(args) if x.node.spec.differentiable and not x.node.spec.complex]
    loss = _total(y)
    if (
        call.name in WITHOUT_SLOPE
        or loss is None
        or not xs
        or loss.dtype != np.float64
        or any(x.dtype != np.float64 for x in xs)
    ):
        return None
    rng = np.random.default_rng(0)
    ways = [_direction(rng, x.shape) for x in xs]
    try:
        found = xpgrad.grad([loss], xs)
    except HostileError:
        return None
    except Exception as error:
        named = isinstance(error, ALLOWED) and is_named(error, call.name)
        return None if named or _is_the_users(error) else f"its gradient raises {type(error).__name__}: {error}"
    slopes = [np.sum(np.asarray(g.array) * way) for g, way in zip(found, ways, strict=True) if g is not None]
    values, largest = [], max(float(np.max(np.abs(x.array), initial=0.0)) for x in _parts(y))
    for sign in (1, -1):
        xpgrad.random.seed(0)
        moved, kwargs = call.made(place, WRONG[value]())
        for x, way in zip([x for x in _variables(moved) if x.node.spec.differentiable], ways, strict=True):
            before, x.array = x.array, np.asarray(x.array + sign * STEP * way)
            if np.any((x.array == before) & (way != 0)):
                return None  # the step is lost
        again = _total(call.function(*moved, **kwargs))
        values.append(np.nan if again is None else float(again.array))
    got, expected = float(sum(slopes)), (values[0] - values[1]) / (2 * STEP)
    if not np.isfinite([got, expected]).all() or max(largest, abs(values[0]), abs(got)) > 1e6:  # digits are lost
        return None
    return None if np.isclose(got, expected, rtol=1e-3, atol=1e-4) else f"slope {got}, expected {expected}"


def _direction(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Return a direction in which matrices that are symmetric stay so."""
    way = rng.standard_normal(shape)
    return way + np.swapaxes(way, -1, -2) if len(shape) > 1 and shape[-1] == shape[-2] else way


def _variables(args: Any) -> list[Variable]:
    found: list[Variable] = []
    for x in args:
        if type(x) is Variable and x.requires_grad and x.array is not None:
            found.append(x)
        elif type(x) in (list, tuple) and len(x) < 9:
            found += [v for v in x if type(v) is Variable and v.requires_grad and v.array is not None]
    return found


def _parts(y: Any) -> list[Variable]:
    return [x for x in (y if isinstance(y, (list, tuple)) else [y]) if isinstance(x, Variable) and x.requires_grad]


def _total(y: Any) -> Variable | None:
    """Return the sum of all elements of a result that have a gradient; None for no elements or too many."""
    parts = _parts(y)
    if not parts or sum(x.size for x in parts) > MAX_SIZE:
        return None
    sums = [xpgrad.array_api.sum(x) for x in parts]
    return sum(sums[1:], sums[0])
