"""Sweeps within a sweep, for rules that differentiate the cotangents which they are given.

Users asked for one backward computation, so these call no hook, and debug mode watches none of them: what they find is
part of the rule that runs them, whose result is looked at.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from xpgrad.config import CAREFUL, set_hooks, switches, using_config
from xpgrad.graph.application import output
from xpgrad.graph.backward import between
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.node import VariableNode
from xpgrad.graph.pullback import Pullback
from xpgrad.graph.sweep import Key, Sweep, key_of
from xpgrad.graph.variable import Variable, constant_variable


class InnerSweep(Sweep):
    """A sweep that calls no hook; all of its `active` functions have to be True, so that each is narrowed."""

    def _hooked(self, node: VariableNode, gy: Any) -> Any:
        return gy

    def _listeners(self, f: FunctionNode) -> list[Any]:
        return []

    def _narrowed(self, f: FunctionNode, pullback: Pullback) -> Pullback:
        return super()._narrowed(f, getattr(pullback, "inner", pullback))


@contextmanager
def unobserved() -> Iterator[None]:
    """Context manager in which functions are applied without debug mode, and no function hook is called."""
    if not switches().mode & CAREFUL:
        yield
        return
    hooks = switches().hooks
    with using_config("debug", False):
        set_hooks({})
        try:
            yield
        finally:
            set_hooks(hooks)


def _cotangents(seeds: list[tuple[VariableNode, Any]], keys: Sequence[Key], recorded: bool) -> list[Any]:
    watch = frozenset(keys)
    active = dict.fromkeys(between([node for node, _ in seeds], watch), True)
    totals = InnerSweep(seeds, recorded=recorded, active=active, watch=watch).run().totals
    return [totals.get(key) for key in keys]


def repeated(sweep: Sweep, f: FunctionNode) -> list[Variable | None]:
    """Return the cotangents of the outputs of `f` that `sweep` has found, as Variables that depend on these outputs."""
    seeds = []
    for node, g in sweep.seeds:
        seen = sweep._conjugated(g, node.spec)
        seeds.append((node, seen if isinstance(seen, Variable) else constant_variable(seen)))
    keys = [(f, index) if index else f for index in range(len(f.outputs))]
    return _cotangents(seeds, keys, True)


def pulled_back(ys: Sequence[Variable], gys: Sequence[Variable], xs: Sequence[Variable], recorded: bool) -> list[Any]:
    """Return the gradients of `ys`, from the cotangents `gys`, with respect to `xs`, or None."""
    pairs = [(y._node, g if recorded else g._array) for y, g in zip(ys, gys, strict=True) if y._node.requires_grad]
    found = _cotangents(pairs, [key_of(x._node) for x in xs], recorded)
    return [
        g if g is None or isinstance(g, Variable) else output(g, x._node.spec) for g, x in zip(found, xs, strict=True)
    ]


class Derivative:
    """The derivative of `ys` with respect to `xs` from which they were computed, as a map of directions.

    A pullback is linear in its cotangents, so its own pullback is the derivative, whatever cotangents it is made for.
    Those are taken without a pattern, so that no rule meets a special case.
    """

    def __init__(self, ys: Sequence[Variable], xs: Sequence[Variable]) -> None:
        self.ys, self.xs = ys, xs
        self.cotangents = [Variable(_without_pattern(y)) for y in ys]
        self.gradients = pulled_back(ys, self.cotangents, xs, True)

    def along(self, directions: Sequence[Variable | None], recorded: bool) -> list[Variable | None]:
        """Return the derivative of each of `ys`, or None where it is 0, along changes of `xs`, None for no change."""
        pairs = [
            (g, d)
            for g, d in zip(self.gradients, directions, strict=True)
            if g is not None and d is not None and g._node.requires_grad
        ]
        return pulled_back([g for g, _ in pairs], [d for _, d in pairs], self.cotangents, recorded)


def _without_pattern(y: Variable) -> Any:
    spec = y._node.spec
    xp = spec.backend.xp
    ones = spec.backend.ones(spec)
    steps = xp.reshape(xp.cumulative_sum(xp.reshape(ones, shape=(-1,)), axis=0), shape=spec.shape)
    return xp.cos(xp.multiply(steps, steps))
