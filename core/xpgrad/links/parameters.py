"""Link parameters created from the arguments ``initialW`` and ``initial_bias``."""

from collections.abc import Callable
from typing import Any

from xpgrad.config import at_level, called_with
from xpgrad.functions.checks import known_spec
from xpgrad.functions.mixed import in_dtype_of
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.variable import Variable, as_array
from xpgrad.initializers import Constant, _get_initializer
from xpgrad.locks import shared_lock
from xpgrad.types import Shape


def weight(initializer: Any, shape: Any = None, default: Any = None) -> Parameter:
    """Return a Parameter for ``initialW``; `default`, or `LeCunNormal`, is the initializer for None."""
    return Parameter(_get_initializer(default if initializer is None else initializer), shape)


def bias(initializer: Any, shape: Any = None, nobias: bool = False) -> Parameter | None:
    """Return a Parameter for ``initial_bias``, zeros for None; without a bias it is None."""
    return None if nobias else weight(initializer, shape, 0)


def waits(x: Any) -> bool:
    """Return whether `x` is a Parameter that is not initialised; a Variable may replace it."""
    return isinstance(x, Parameter) and x._array is None


def outside(function: Callable[..., Any], *args: Any) -> None:
    """Call ``function(*args)`` outside of all transformations: its results belong to no single call."""
    called_with(at_level(None), function, *args)


def once(missing: Callable[[], bool], function: Callable[..., Any], *args: Any) -> None:
    """Call ``function(*args)`` outside of all transformations if `missing` holds, and in one thread only.

    The function must set the value that `missing` tests last, because other threads test without the lock.
    """
    with _lock:
        if missing():
            outside(function, *args)


_lock = shared_lock()


def given(x: Any) -> Constant:
    """Return an initializer that copies a Variable or array, with its dtype."""
    array = as_array(x)
    return Constant(array, array.dtype)


def fitted(x: Any, y: Variable) -> Variable:
    """Return `y` in the dtype of the input `x`: parameters have a wider dtype in mixed precision."""
    return in_dtype_of(known_spec(x, "link"), y)


def zeros_beside(x: Any, shape: Shape) -> Variable:
    """Return zeros with the dtype and device of `x`."""
    spec = known_spec(x, "zeros")
    return Variable(spec.backend.xp.zeros(shape, dtype=spec.dtype, device=spec.device), requires_grad=False)
