"""Sweeps within a sweep, for rules that differentiate the cotangents that they are given.

The user requested one backward computation, so these sweeps call no hooks and debug mode does not check them, but only
the result of the rule that runs them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from xpgrad.backend.spec import Spec
from xpgrad.config import WATCHED, set_hooks, switches, using_config
from xpgrad.graph.backward import between
from xpgrad.graph.lazy import dense
from xpgrad.graph.node import FunctionBase, VariableNode
from xpgrad.graph.outputs import output
from xpgrad.graph.pullback import Pullback
from xpgrad.graph.sweep import Key, Sweep, key_of
from xpgrad.graph.variable import Variable, as_array, constant_variable
from xpgrad.types import Array


class NotRepeatable(Exception):
    """A sweep within a sweep has failed: part of the graph was released, or cannot be differentiated again."""


class InnerSweep(Sweep):
    """A sweep that calls no hook; all of its `active` functions have to be True, so that each is narrowed.

    Parameters
    ----------
    *args, **kwargs : those of `Sweep`
    measured : bool
        Sum the moduli of the contributions to the watched values.

    Attributes
    ----------
    moduli : dict from key to array
        These sums: large where a cotangent is small because of cancellation.
    """

    def __init__(self, *args: Any, measured: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.measured = measured
        self.moduli: dict[Key, Array] = {}

    def _hooked(self, node: VariableNode, gy: Any) -> Any:
        return gy

    def _narrowed(self, f: FunctionBase, pullback: Pullback) -> Pullback:
        narrowed = super()._narrowed(f, getattr(pullback, "inner", pullback))
        return MeasuredPullback(narrowed, self) if self.measured and self._meets_watched(f) else narrowed

    def _deposit(self, node: VariableNode, gx: Any, borrowed: bool) -> None:
        if self.measured:
            self.measure(node, gx)
        super()._deposit(node, gx, borrowed)

    def _meets_watched(self, f: FunctionBase) -> bool:
        return any(node is not None and key_of(node) in self.watch for node in f.inputs)

    def measure(self, node: VariableNode, gx: Any) -> None:
        """Add a contribution to the moduli of a watched value."""
        key = key_of(node)
        if key not in self.watch:
            return
        array, xp = as_array(dense(gx, self.recorded)), node.spec.backend.xp
        modulus = xp.abs(array)
        held = self.moduli.get(key)
        self.moduli[key] = modulus if held is None else held + modulus


class MeasuredPullback(Pullback):
    """The pullback of one application in a sweep that measures its results."""

    __slots__ = ()

    def __init__(self, inner: Pullback, sweep: InnerSweep) -> None:
        for name in Pullback.__slots__:
            setattr(self, name, getattr(inner, name))
        self.pull = lambda f, gy: _measured(sweep, f, inner.pull(f, gy))
        self.record = lambda f, gy, node: _measured(sweep, f, inner.record(f, gy, node))


def _measured(sweep: InnerSweep, f: FunctionBase, gxs: Sequence[Any]) -> Sequence[Any]:
    for node, gx in zip(f.inputs, gxs, strict=False):  # a pullback may stop at the last needed input
        if node is not None and gx is not None and gx.shape == node.spec.shape:  # else it is summed to it
            sweep.measure(node, gx)
    return gxs


@contextmanager
def unobserved() -> Iterator[None]:
    """Context manager in which functions are applied without debug mode, and no function hook is called."""
    if not switches().mode & WATCHED:
        yield
        return
    hooks = switches().hooks
    with using_config("debug", False):
        set_hooks({})
        try:
            yield
        finally:
            set_hooks(hooks)


def _inner(seeds: list[tuple[VariableNode, Any]], keys: Sequence[Key], recorded: bool, measured: bool) -> InnerSweep:
    watch = frozenset(keys)
    active = dict.fromkeys(between([node for node, _ in seeds], watch), True)
    sweep = InnerSweep(seeds, recorded=recorded, active=active, watch=watch, measured=measured)
    try:
        sweep.run()
    except Exception as error:  # of any function, including a user's function
        raise NotRepeatable from error
    return sweep


def repeated(sweep: Sweep, f: FunctionBase, recorded: bool) -> tuple[list[Any], list[Any]]:
    """Return the cotangents that `sweep` found at the outputs of `f`, and the sums of the moduli of their parts.

    Parameters
    ----------
    sweep : Sweep
        The sweep that is running the rule of `f`.
    f : FunctionBase
    recorded : bool
        Return the cotangents as Variables that depend on the outputs.
    """
    seeds = []
    for node, g in sweep.seeds:
        seen = as_array(sweep._conjugated(g, node.spec))
        seeds.append((node, constant_variable(seen) if recorded else seen))
    keys = [(f, index) if index else f for index in range(len(f.outputs))]
    inner = _inner(seeds, keys, recorded, True)
    return [inner.totals.get(key) for key in keys], [inner.moduli.get(key) for key in keys]


def pulled_back(ys: Sequence[Variable], gys: Sequence[Variable], xs: Sequence[Variable], recorded: bool) -> list[Any]:
    """Return the gradients of `ys`, from the cotangents `gys`, with respect to `xs`, or None."""
    pairs = [(y._node, g if recorded else g._array) for y, g in zip(ys, gys, strict=True) if y._node.requires_grad]
    keys = [key_of(x._node) for x in xs]
    totals = _inner(pairs, keys, recorded, False).totals
    found = [totals.get(key) for key in keys]
    return [
        g if g is None or isinstance(g, Variable) else output(g, x._node.spec, None, 0)
        for g, x in zip(found, xs, strict=True)
    ]


class Derivative:
    """The derivative of `ys` with respect to `xs`, from which they were computed, as a linear map.

    A pullback is linear in its cotangents, so its pullback is the derivative, for arbitrary cotangents. Irregular
    cotangents are used to avoid the special cases of rules.
    """

    def __init__(self, ys: Sequence[Variable], xs: Sequence[Variable]) -> None:
        self.ys, self.xs = ys, xs
        self.cotangents = [Variable(irregular(y._node.spec)) for y in ys]
        self.gradients = pulled_back(ys, self.cotangents, xs, True)

    def along(self, directions: Sequence[Variable | None], recorded: bool) -> list[Variable | None]:
        """Return the derivative of each of `ys`, or None where it is 0, along changes of `xs`, None for no change."""
        pairs = [
            (g, d)
            for g, d in zip(self.gradients, directions, strict=True)
            if g is not None and d is not None and g._node.requires_grad
        ]
        return pulled_back([g for g, _ in pairs], [d for _, d in pairs], self.cotangents, recorded)


def irregular(spec: Spec) -> Array:
    """Return irregular numbers between -1 and 1: a cotangent that avoids the special cases of rules."""
    xp = spec.backend.xp
    ones = xp.astype(spec.backend.ones(spec), spec.wide)
    steps = xp.reshape(xp.cumulative_sum(xp.reshape(ones, shape=(-1,)), axis=0), shape=spec.shape)
    return spec.backend.restore(xp.astype(xp.cos(xp.multiply(steps, steps)), spec.dtype))
