"""What belongs to one application of a primitive: its shared pullback gives way to one with hooks and guards."""

from collections.abc import Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.graph import carried, inspection
from xpgrad.graph.pullback import Pullback
from xpgrad.graph.variable import Variable
from xpgrad.types import Array


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
        self.pull = lambda f, gy: _called(hooks, guards, f, gy, inner.pull, ())
        self.record = lambda f, gy, node: _called(hooks, guards, f, gy, inner.record, (node,))

    def narrowed(self, needed: tuple[bool, ...]) -> Pullback:
        """Return the pullback for fewer inputs, with the same hooks."""
        return self if needed == self.needed else HookedPullback(self.inner.narrowed(needed), self.hooks, self.guards)


def _called(
    hooks: dict[str, Any], guards: inspection.Guards, f: Any, gy: Any, call: Any, rest: tuple[Any, ...]
) -> Sequence[Any]:
    if inspection.changed(guards):
        raise inspection.changed_error(f)
    if not hooks:
        return call(f, gy, *rest)  # type: ignore[no-any-return]  # gradients
    seen, active = (f.kept_inputs(), (shown(gy),)), list(hooks.values())
    for hook in active:
        hook.backward_preprocess(f, *seen)
    gxs: Sequence[Any] = call(f, gy, *rest)
    for hook in active:
        hook.backward_postprocess(f, *seen)
    return gxs


def shown(gy: Any) -> Array:
    """Return a cotangent of the sweep as hooks see it: an array, and the conjugate if it is complex."""
    array = gy._array if isinstance(gy, Variable) else gy
    if type(array) not in plugins.by_type:
        array = plugins.role("cpu").restore(array)  # some libraries make scalars of 0-d arrays
    backend = plugins.backend_of(array)
    return carried.visible(backend.restore(backend.xp.conj(array)) if backend.spec(array).complex else array)
