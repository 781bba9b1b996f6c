"""Backward computations while something watches them: function hooks, debug mode, the detection of mutations."""

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from xpgrad.backend.current import call_on
from xpgrad.backend.plugins import plugins
from xpgrad.config import NO_GRAD, backprop_mode, called_with, switches
from xpgrad.graph import carried
from xpgrad.graph.function_node import raw_rule
from xpgrad.graph.lazy import dense
from xpgrad.graph.private import check_unwritten, may_share, private
from xpgrad.graph.pullback import Pullback
from xpgrad.graph.variable import as_array
from xpgrad.types import Array
from xpgrad.watch import inspection
from xpgrad.watch.observation import observed, writing

Gradients = Sequence[Any]


class HookedPullback(Pullback):
    """The pullback of an application with its own function hooks or guards.

    All other applications keep the shared pullback, so hooks and guards cost nothing where unused.

    Attributes
    ----------
    inner : Pullback
        The shared one.
    hooks : dict from name to FunctionHook
    guards : list
        Detect writes to the arrays that the application keeps, see `inspection.guards`.
    """

    __slots__ = ("guards", "hooks", "inner")

    def __init__(self, inner: Pullback, hooks: dict[str, Any], guards: inspection.Guards) -> None:
        for name in Pullback.__slots__:
            setattr(self, name, getattr(inner, name))
        self.inner, self.hooks, self.guards = inner, hooks, guards
        # Closures over these, not over self: that would be a cycle.
        self.pull = lambda f, gy: watched(f, inner, gy, None, list(hooks.values()), recorded=False)
        self.record = lambda f, gy, node: watched(f, inner, gy, node, list(hooks.values()), recorded=True)

    def narrowed(self, needed: tuple[bool, ...]) -> Pullback:
        """Return the pullback for fewer inputs, with the same hooks."""
        return self if needed == self.needed else HookedPullback(self.inner.narrowed(needed), self.hooks, self.guards)


def watched(f: Any, pullback: Pullback, gy: Any, node: Any, hooks: list[Any], *, recorded: bool) -> Gradients:
    """Return the gradients that the rules of a primitive compute from the cotangent `gy`, observed by hooks.

    Writes of a hook to the gradient before the rules run affect only the gradient of this function; later writes have
    no effect.
    """
    copied = writing(hooks)
    given = private(gy) if copied else gy
    kept, seen = f.kept_inputs() if hooks else (), shown(given)

    def run() -> Gradients:
        nonlocal gy
        if recorded:
            return pullback.record(f, gy, node)
        if copied:
            gy = (
                carried.operand(shown(seen))
                if plugins.backend_of(as_array(given)).spec(as_array(given)).complex
                else given
            )
        return pullback.pull(f, gy)

    def after(gxs: Gradients) -> tuple[Any, ...]:
        shared = copied and not recorded and may_share([g for g in gxs if g is not None], gy)
        return kept, (shown(private(gy)) if shared else seen,)

    gxs = observed(
        f, "backward", hooks, (kept, (seen,)), run,
        arrays=lambda gxs: [as_array(dense(g, recorded)) for g in gxs], operands=(seen,), after=after,
    )  # fmt: skip
    if copied and recorded:
        check_unwritten(seen, shown(gy), f"{f.label}: a function hook")
    return gxs


def watched_by_user(
    f: Any, gys: list[Any], targets: tuple[int, ...], hooks: list[Any], sweep: Any, *, copied: bool
) -> Gradients:
    """Return the gradients that the `backward` of `f` computes from `gys` in `sweep`, observed by hooks.

    If `gys` were not `copied` for this call, other gradients share their memory, and they must not be written to.
    """
    kept, arrays = f.kept_inputs() if hooks else (), _arrays(gys)

    def after(_: Gradients) -> tuple[Any, ...]:
        own = copied and not sweep.recorded  # the returned gradients may share memory with `gys`
        return kept, _arrays([None if g is None else private(g) for g in gys]) if own else arrays

    return observed(
        f, "backward", hooks, (kept, arrays), lambda: pulled(f, gys, targets, sweep),
        arrays=lambda gxs: [None if g is None else g._array for g in gxs], operands=arrays, after=after,
    )  # fmt: skip


def pulled(f: Any, gys: list[Any], targets: tuple[int, ...], sweep: Any) -> Gradients:
    """Return the gradients that the `backward` of `f` computes from `gys`; a raw sweep does not record them."""
    lead = next(g._array for g in gys if g is not None)
    recorded, values = sweep.recorded, dict[ContextVar[Any], Any]()
    if f.of_library:
        values = {} if recorded else backprop_mode(False)
    elif not recorded or raw_rule.get() is not None:
        values = {raw_rule: None if recorded else f}
        if switches().mode & NO_GRAD:
            values |= backprop_mode(True)
    if values:
        return called_with(values, call_on, lead, f.pull, tuple(gys), targets, sweep)  # type: ignore[no-any-return]  # as `pull`
    return call_on(lead, f.pull, tuple(gys), targets, sweep)  # type: ignore[no-any-return]  # as `pull`


def _arrays(gys: list[Any]) -> tuple[Any, ...]:
    return tuple(None if g is None else carried.visible(g._array) for g in gys)


def shown(gy: Any) -> Array:
    """Return a cotangent of the sweep as hooks see it: an array, and the conjugate if it is complex."""
    array = as_array(gy)
    if type(array) not in plugins.by_type:
        array = plugins.host.restore(array)  # some libraries make scalars of 0-d arrays
    backend = plugins.backend_of(array)
    return carried.visible(backend.restore(backend.xp.conj(array)) if backend.spec(array).complex else array)
