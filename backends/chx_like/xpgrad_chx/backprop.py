"""Backprop ids, which separate several gradients of one array, and modes that stop recording.

A gradient belongs to an id. `require_grad(id)` marks an array for the id, and a backward computation for the id
reaches only arrays with this mark. So an inner optimization can differentiate with a separate id
"""

from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any, NamedTuple

import xpgrad
from xpgrad_chx.device import Context, get_default_context
from xpgrad_chx.errors import ChainerxError


class BackpropId:
    """Name of a gradient.

    Attributes
    ----------
    name : str
    context : Context or None
        None for the default id, which every context shares.
    open : bool
        Whether its scope is active.
    outrun : BackpropId or None
        An earlier id whose gradients went through arrays of this id; gradients of this id are then no longer allowed.
    """

    __slots__ = ("__weakref__", "context", "name", "open", "outrun", "rank")

    def __init__(self, name: str, context: Context | None, rank: int) -> None:
        self.name, self.context, self.rank = name, context, rank
        self.open = True
        self.outrun: BackpropId | None = None

    def __repr__(self) -> str:
        return self.name


DEFAULT = BackpropId("<default>", None, 0)
"""The default id, which xpgrad's Variables have, too."""


class AnyGraph:
    """Type of `anygraph`, which represents all backprop ids."""

    def __repr__(self) -> str:
        return "anygraph"


anygraph = AnyGraph()
_count: ContextVar[int] = ContextVar("xpgrad_chx_ids", default=0)
sweeping: ContextVar[BackpropId] = ContextVar("xpgrad_chx_sweeping", default=DEFAULT)
"""The id of the current backward computation."""


def resolved(backprop_id: Any, operation: str) -> BackpropId:
    """Return the given id, or the default one for None.

    Raises
    ------
    ChainerxError
        Its scope was left.
    """
    if backprop_id is None:
        return DEFAULT
    if not isinstance(backprop_id, BackpropId):
        raise TypeError(f"{operation}: expected a backprop id or None, got {type(backprop_id).__name__}")
    if not backprop_id.open:
        raise ChainerxError(f"{operation}: backprop id {backprop_id.name!r} not found, maybe already expired")
    return backprop_id


class backprop_scope:  # noqa: N801 - ChainerX's name
    """Context manager that yields a new backprop id, which expires at the end of the block.

    Parameters
    ----------
    name : str
    context : Context, optional
    """

    def __init__(self, name: str, context: Context | None = None) -> None:
        self._name, self._context = name, context
        self._ids: list[BackpropId] = []

    def __repr__(self) -> str:
        return f"backprop_scope({self._name!r})"

    def __enter__(self) -> BackpropId:
        _count.set(_count.get() + 1)
        made = BackpropId(self._name, self._context or get_default_context(), _count.get())
        self._ids.append(made)
        return made

    def __exit__(self, *_: object) -> None:
        self._ids.pop().open = False


class BackpropMode(NamedTuple):
    """A mode: its ids (None for all), and xpgrad's mode at its start."""

    on: bool
    ids: frozenset[BackpropId] | None
    core: bool


modes: ContextVar[tuple[BackpropMode, ...]] = ContextVar("xpgrad_chx_modes", default=())
"""The modes of this thread, the last one last."""


class _Mode:
    """Context manager that switches recording on or off for some ids, in this thread."""

    def __init__(self, on: bool, which: Any) -> None:
        if which is None or isinstance(which, Context):
            ids = None
        else:
            given: Iterable[Any] = [which] if isinstance(which, BackpropId) else which
            ids = frozenset(resolved(each, "no_backprop_mode") for each in given)
        self._on, self._ids = on, ids
        self._before: list[tuple[BackpropMode, ...]] = []

    def __repr__(self) -> str:
        which = "" if self._ids is None else ", ".join(sorted(each.name for each in self._ids))
        return f"{'force' if self._on else 'no'}_backprop_mode({which})"

    def __enter__(self) -> None:
        before, depth = modes.get(), len(self._before)
        mode = BackpropMode(self._on, self._ids, bool(xpgrad.config.enable_backprop))
        try:
            self._before.append(before)
            modes.set((*before, mode))
        except BaseException:  # a KeyboardInterrupt: `__exit__` does not run after an exception in `__enter__`
            modes.set(before)
            del self._before[depth:]
            raise

    def __exit__(self, *_: object) -> None:
        try:
            modes.set(self._before[-1])
        except BaseException:  # a KeyboardInterrupt
            modes.set(self._before[-1])
            raise
        finally:
            self._before.pop()


def no_backprop_mode(which: Any = None) -> _Mode:
    """Context manager in which operations on chx arrays are not recorded.

    Parameters
    ----------
    which : None, Context, BackpropId or list of BackpropId
        For which ids: for all by default. The innermost mode that names an id decides.
    """
    return _Mode(False, which)


def force_backprop_mode(which: Any = None) -> _Mode:
    """Context manager in which operations on chx arrays are recorded, also inside `no_backprop_mode`."""
    return _Mode(True, which)


def is_backprop_required(backprop_id: BackpropId | None = None, context: Context | None = None) -> bool:
    """Return whether operations are recorded for an id now."""
    wanted = resolved(backprop_id, "is_backprop_required")
    core = bool(xpgrad.config.enable_backprop)
    for mode in reversed(modes.get()):
        if mode.core is not core:
            break  # a mode of xpgrad was set later
        if mode.ids is None or wanted in mode.ids:
            return mode.on
    return core
