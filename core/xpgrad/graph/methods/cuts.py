"""Where the graph of a differentiated function ends before its result: `floor`, `argmax`, `no_backprop_mode`.

A result behind such an end has a gradient of zeros, like a constant, although it was computed from the arguments. A
transform collects the ends while its function runs, and raises if the result depends on no argument.
"""

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from types import FrameType
from typing import TYPE_CHECKING, Any

from xpgrad.backend.spec import Spec
from xpgrad.config import on_unrecorded
from xpgrad.errors import GradientError
from xpgrad.graph.methods.ending import MAX_PLACES, UserLine, caller, place_at

if TYPE_CHECKING:
    from xpgrad.graph.variable import Variable


class GraphEnds:
    """The ends of the graph while a function runs.

    Parameters
    ----------
    level : Level or None
        The level of forward mode; None for reverse mode.
    reaches : callable
        Returns whether any of these Variables depends on the arguments.
    """

    __slots__ = ("found", "level", "reaches")

    def __init__(self, level: Any, reaches: Callable[[Iterable["Variable"]], bool]) -> None:
        self.level, self.reaches = level, reaches
        self.found: dict[Any, tuple[UserLine, str]] = {}

    def entered(self) -> dict[ContextVar[Any], Any]:
        """Return, for `called_with`, the context values with which functions note graph ends in this object."""
        return {active: (*active.get(), self), on_unrecorded: _unrecorded}

    def note(self, frame: FrameType, reason: str, operands: Iterable["Variable"] | None = None) -> bool:
        """Note that the graph ends at a line, for `operands`; return whether these depend on the arguments."""
        key = frame.f_code, frame.f_lineno
        if key not in self.found:
            if operands is not None and not self.reaches(operands):
                return False
            self.found[key] = place_at(frame), reason
        return True

    def refuse(self, name: str, rejecting: str, outputs: Iterable["Variable"], leaves: Iterable[Any]) -> None:
        """Raise if the graph ends at any line, for a result that depends on no argument.

        Parameters
        ----------
        name, rejecting : str
            The transform, and the function that uses it to search, or an empty text.
        outputs : iterable of Variable
            The leaves of the result. An integer or boolean argument is a legitimate reason for the graph to end.
        leaves : iterable
            The same as the function returned them. Numbers of Python are constants: the user's line has made them.
        """
        name = rejecting or name
        places, real = list(self.found.values()), all(y._node.spec.differentiable for y in outputs)
        if places and real and any(hasattr(leaf, "shape") for leaf in leaves):
            lines = "".join(f"\n  {place}; {reason}" for place, reason in places[:MAX_PLACES])
            remedy = "" if rejecting else "; allow_constant=True gives zeros"
            raise GradientError(
                f"{name}: the result of the function depends on no argument, because the graph ends before "
                f"it{remedy}:{lines}"
            )


UNRECORDED = "no graph is recorded from here on"
active: ContextVar[tuple[GraphEnds, ...]] = ContextVar("xpgrad_cuts", default=())
running = active.get
"""Return the collections of this thread; bound once, because functions without a derivative call it."""


def ended(name: str, spec: Spec, *operands: Any) -> None:
    """Note that a function without derivative is applied to `operands`, with a result of `spec`.

    Booleans are masks as a rule, and a result that was selected by a mask has the zeros of a constant.
    """
    if spec.backend.is_kind(spec.dtype, "bool"):
        return
    variables = [x for x in operands if hasattr(x, "_node") and x._node.requires_grad]
    if variables:
        _note(None, f"{name.strip('_')} has no derivative", variables)


def ended_at(level: Any, name: str, recorded: bool) -> None:
    """Note that a function computed no tangent for operands with tangents, at a level of forward mode."""
    _note(level, f"{name.strip('_')} has no derivative" if recorded else UNRECORDED)


def uncollected(function: Callable[..., Any], /, *args: Any) -> Any:
    """Return ``function(*args)``, a rule of the library, without collecting ends."""
    token = active.set(())
    try:
        return function(*args)
    finally:
        active.reset(token)


def ended_before(found: Mapping[Any, tuple[UserLine, str]], operands: Iterable["Variable"]) -> None:
    """Note the graph ends of an earlier run of a function, whose result for `operands` a program now computes."""
    for cuts in running()[-1:]:
        if cuts.level is None and cuts.reaches(operands):
            cuts.found.update(found)


def looked_at() -> None:
    """Forget all recorded graph ends: a Python number computed meanwhile may decide the function's control flow."""
    for cuts in running():
        cuts.found.clear()


def _note(level: Any, reason: str, operands: Iterable["Variable"] | None = None) -> None:
    """Note an end in the innermost collection on whose arguments the operands depend.

    An outer level has noted it already if the inner level computes with the arrays of the outer level. It matters to
    the inner function only: if the inner derivative is constant, the derivative of the outer function is zero.
    """
    frame, stack = caller(), list(running())
    while frame is not None and stack:
        cuts = stack.pop()
        if cuts.level is level and cuts.note(frame, reason, operands):
            for outer in stack:
                outer.found.pop((frame.f_code, frame.f_lineno), None)
            return


def _unrecorded() -> None:
    frame = caller()
    if frame is not None:
        for cuts in running()[-1:]:
            cuts.note(frame, UNRECORDED)
