"""Hooks around backward computations, and users' computations themselves.

Function hooks on one application of a primitive: its shared pullback gives way to one that calls them.
"""

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from xpgrad.backend.current import call_on
from xpgrad.backend.plugins import plugins
from xpgrad.config import NO_GRAD, backprop_mode, called_with, config, switches
from xpgrad.graph import carried
from xpgrad.graph.function_node import FunctionNode, raw_rule
from xpgrad.graph.private import check_unwritten, may_share, private
from xpgrad.graph.pullback import Pullback
from xpgrad.graph.scatter import dense
from xpgrad.graph.variable import Variable
from xpgrad.types import Array
from xpgrad.watch import inspection

if TYPE_CHECKING:
    from xpgrad.graph.sweep import Sweep


class HookedPullback(Pullback):
    """The pullback of one application that has function hooks of its own, or guards.

    All other applications keep the shared pullback, so both cost nothing where there are none.

    Attributes
    ----------
    inner : Pullback
        The shared one.
    hooks : dict from name to FunctionHook
    guards : list
        What tells whether the arrays that the application keeps were written to, see `inspection.guards`.
    """

    __slots__ = ("guards", "hooks", "inner")

    def __init__(self, inner: Pullback, hooks: dict[str, Any], guards: inspection.Guards) -> None:
        for name in Pullback.__slots__:
            setattr(self, name, getattr(inner, name))
        self.inner, self.hooks, self.guards = inner, hooks, guards
        # Closures over these three, not over self: that would be a cycle.
        self.pull = lambda f, gy: _guarded(guards, hooks, f, gy, lambda g: inner.pull(f, g), recorded=False)
        self.record = lambda f, gy, node: _guarded(
            guards, hooks, f, gy, lambda g: inner.record(f, g, node), recorded=True
        )

    def narrowed(self, needed: tuple[bool, ...]) -> Pullback:
        """Return the pullback for fewer inputs, with the same hooks."""
        return self if needed == self.needed else HookedPullback(self.inner.narrowed(needed), self.hooks, self.guards)


def _guarded(
    guards: inspection.Guards, hooks: dict[str, Any], f: Any, gy: Any, rule: Callable[[Any], Sequence[Any]], *,
    recorded: bool,
) -> Sequence[Any]:  # fmt: skip
    if inspection.changed(guards):
        raise inspection.changed_error(f)
    return called(hooks.values(), f, gy, rule, recorded=recorded) if hooks else rule(gy)


def by_user(function: Callable[..., Any], *args: Any) -> Any:
    """Return what a hook returns, which may make graphs and sweep them, whatever the mode."""
    return called_with(backprop_mode(True), function, *args) if switches().mode & NO_GRAD else function(*args)


def writing(hooks: Iterable[Any]) -> bool:
    """Tell whether one of `hooks` may write into what it gets: all but the library's own may."""
    return any("reads_only" not in vars(type(hook)) for hook in hooks)


def called(
    hooks: Iterable[Any], f: Any, gy: Any, rule: Callable[[Any], Sequence[Any]], *, recorded: bool
) -> Sequence[Any]:
    """Return what `rule` makes of the cotangent of a primitive, with hooks called before and after.

    What a hook writes into the gradient before the rule runs takes effect on this function's gradient and no other;
    later it has none.
    """
    active = list(hooks)
    copied = writing(active)
    given = private(gy) if copied else gy
    seen = f.kept_inputs(), (shown(given),)
    for hook in active:
        by_user(hook.backward_preprocess, f, *seen)
    if copied and not recorded:
        gy = carried.operand(shown(seen[1][0])) if plugins.backend_of(given).spec(given).complex else given
    gxs = rule(gy)
    if copied and not recorded and may_share([g for g in gxs if g is not None], gy):
        seen = seen[0], (shown(private(gy)),)
    for hook in active:
        by_user(hook.backward_postprocess, f, *seen)
    if copied and recorded:
        check_unwritten(seen[1][0], shown(gy), f"{f.label}: a function hook")
    return gxs


def inspected(sweep: "Sweep", f: Any, pullback: Pullback, gy: Any, node: Any) -> Any:
    """Run a primitive's rules with hooks, NaN detection and the check of what it kept."""
    hooks = inspection.hooks_of(f)
    pullback = getattr(pullback, "inner", pullback)  # without the hooks of its own, which are called here
    guards = getattr(f, "_guards", None)
    if guards is not None and inspection.changed(guards):
        raise inspection.changed_error(f)
    seen = (shown(gy),)
    inspection.arrived(f, seen)

    def rule(gy: Any) -> Sequence[Any]:
        try:
            return pullback.record(f, gy, node) if sweep.recorded else pullback.pull(f, gy)
        except Exception as error:
            inspection.check_kept(f)
            inspection.annotate(error, f)
            raise

    gxs = called(hooks, f, gy, rule, recorded=sweep.recorded) if hooks else rule(gy)
    if config.debug:
        if hooks and guards is not None and inspection.changed(guards):
            raise inspection.changed_error(f)
        arrays = [dense(g, sweep.recorded) for g in gxs]
        arrays = [g._array if isinstance(g, Variable) else g for g in arrays]
        inspection.check_finite(arrays, f, "backward", seen)
    return gxs


def swept(
    sweep: "Sweep", f: FunctionNode, gys: list[Any], targets: tuple[int, ...], hooks: list[Any], *, copied: bool
) -> Sequence[Any]:
    """Return what the `backward` of `f` makes of gradients in `sweep`, with hooks called before and after.

    Gradients that were not `copied` for it belong to others, and are not written to by anybody here.
    """
    seen = f.kept_inputs(), _arrays(gys)
    for hook in hooks:
        by_user(hook.backward_preprocess, f, *seen)
    gxs = _pulled(sweep, f, tuple(gys), targets)
    if hooks:
        if copied and not sweep.recorded:  # what was returned may lie in the same memory
            seen = seen[0], _arrays([None if g is None else private(g) for g in gys])
        for hook in hooks:
            by_user(hook.backward_postprocess, f, *seen)
    return gxs


def _arrays(gys: list[Any]) -> tuple[Any, ...]:
    return tuple(None if g is None else carried.visible(g._array) for g in gys)


def _pulled(sweep: "Sweep", f: FunctionNode, gys: tuple[Any, ...], targets: tuple[int, ...]) -> Sequence[Any]:
    """Return what the `backward` of `f` makes of `gys`; a raw sweep records none of it."""
    lead = next(g._array for g in gys if g is not None)
    recorded, values = sweep.recorded, dict[ContextVar[Any], Any]()
    if f.of_library:
        values = {} if recorded else backprop_mode(False)
    elif not recorded or raw_rule.get() is not None:
        values = {raw_rule: None if recorded else f}
        if switches().mode & NO_GRAD:
            values |= backprop_mode(True)
    try:
        if values:
            return called_with(values, call_on, lead, f.pull, gys, targets, sweep)  # type: ignore[no-any-return]  # as `pull`
        return call_on(lead, f.pull, gys, targets, sweep)  # type: ignore[no-any-return]  # as `pull`
    except Exception as error:
        inspection.annotate(error, f)
        raise


def shown(gy: Any) -> Array:
    """Return a cotangent of the sweep as hooks see it: an array, and the conjugate if it is complex."""
    array = gy._array if isinstance(gy, Variable) else gy
    if type(array) not in plugins.by_type:
        array = plugins.role("cpu").restore(array)  # some libraries make scalars of 0-d arrays
    backend = plugins.backend_of(array)
    return carried.visible(backend.restore(backend.xp.conj(array)) if backend.spec(array).complex else array)
