"""Gradients of the outputs of one function: `backward` of one of them uses those that are set for the others."""

import functools
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad import FunctionNode, Variable
from xpgrad.graph.backward import _sweep

References = list["weakref.ref[Variable]"]

_apply: Callable[[FunctionNode, Sequence[Any]], tuple[Variable, ...]] = FunctionNode.apply
_members: "weakref.WeakKeyDictionary[Any, tuple[References, References]]" = weakref.WeakKeyDictionary()
"""For each node that made an output: its outputs, and all outputs of the function."""


def related(outputs: Any) -> Any:
    """Return the outputs of one function, and note that they are."""
    if isinstance(outputs, (tuple, list)) and len(outputs) > 1:
        all_of_them = [weakref.ref(y) for y in outputs]
        for y, ref in zip(outputs, all_of_them, strict=True):
            if y._node.creator_node is not None:
                _members.setdefault(y._node.creator_node, ([], all_of_them))[0].append(ref)
    return outputs


def of_one_node(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose outputs Chainer computes by one node."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return related(function(*args, **kwargs))

    return call


def _have_gradients() -> bool:
    nodes = [node for ref in _members.keyrefs() if (node := ref()) is not None]  # a copy: other threads add nodes
    return any((y := ref()) is not None and y._grad is not None for node in nodes for ref in _members[node][0])


def _siblings(starts: Sequence[Variable]) -> list[Variable]:
    """Return the outputs with gradients that no computation from `starts` reaches, but other outputs of the function.

    A function may be several nodes here, one output computed from another: such a path does not reach an output.
    """
    queue: list[tuple[Any, Any]] = [(y._node, None) for y in starts]
    reached, seen, candidates = set(), set(), []
    while queue:
        node, origin = queue.pop()
        creator = node.creator_node
        group = _members[creator][1] if creator in _members else None
        if group is None or group is not origin:
            reached.add(node)
        if creator is None or creator in seen:
            continue
        seen.add(creator)
        others = [y for ref in group or () if (y := ref()) is not None and y._grad is not None]
        candidates += others
        queue += [(y._node, group) for y in others]
        queue += [(x, origin if group is None else group) for x in creator.input_nodes or () if x is not None]
    unreached = {y._node: y for y in candidates if y._node not in reached and y._node.requires_grad}
    return list(unreached.values())


def _sweep_with_siblings(
    seeds: list[tuple[Variable, Any]], retain: bool, recorded: bool, *args: Any, **kwargs: Any
) -> None:
    also = _siblings([y for y, _ in seeds]) if _have_gradients() else []
    _sweep([*seeds, *((y, y.grad_var if recorded else y.grad) for y in also)], retain, recorded, *args, **kwargs)


def _applied(node: FunctionNode, inputs: Sequence[Any]) -> tuple[Variable, ...]:
    """Return the outputs, Variables connected to `inputs` and related to each other."""
    outputs: tuple[Variable, ...] = related(_apply(node, inputs))
    return outputs


MEMBERS: tuple[tuple[Any, str, Any], ...] = (
    (FunctionNode, "apply", _applied),
    (sys.modules[_sweep.__module__], "_sweep", _sweep_with_siblings),
)
"""A method, and a function of a module that starts a backward computation, as Chainer has them."""
