"""Assertions about the graph of a case and its memory: kept arrays, aliasing, modes that change no results."""

from typing import Any

from xpgrad import FunctionNode, Variable, backward, no_backprop_mode, using_config
from xpgrad.array_api import positive
from xpgrad.backend.plugins import plugins
from xpgrad.graph.application import Application
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.table.comparisons import assert_same_bits, shared_memory
from xpgrad_conformance.table.scenario import Scenario


def assert_keeps(s: Scenario) -> None:
    """Check the arrays in the graph: the arrays of the case if all inputs need gradients, of the rule for one input."""
    if s.case.keeps is not None:
        ys = s.call(s.variables(s.arrays()))
        kept: set[str] = set()
        for f in {id(f): f for y in ys if (f := y.creator_node) is not None}.values():
            kept |= kept_names(f)
        assert kept == set(s.case.keeps), (
            f"the graph keeps {', '.join(sorted(kept)) or 'nothing'}, "
            f"but the case declares {', '.join(sorted(s.case.keeps)) or 'nothing'}"
        )
    for needed in s.floating if len(s.floating) > 1 else ():
        for y in s.call(s.variables(s.arrays(), needed)):
            f = y.creator_node
            if not isinstance(f, Application) or f.pullback.definition.variadic:
                continue
            asked = f.pullback.definition.kept(f.pullback.needed)
            more = kept_names(f) - asked
            assert not more, (
                f"with only input {needed} needed the graph keeps {', '.join(sorted(more))}, which no rule asks for"
            )


def kept_names(f: FunctionNode) -> set[str]:
    """Return the names of the inputs and outputs whose arrays a function keeps."""
    if not isinstance(f, Application):
        inputs, outputs = f._kept_inputs or {}, f._kept_outputs or {}
        return {f"x{i}" for i in inputs} | {f"y{i}" for i in outputs}
    definition = f.pullback.definition
    first, second = (*definition.inputs, None)[:2]
    slots = (("first", first), ("second", second), ("result", "y"))
    names = {name for slot, name in slots if name and hasattr(f, slot)}
    rest = getattr(f, "rest", None)
    if isinstance(rest, dict):
        names |= {name for name, value in rest.items() if name in definition.inputs and _holds_arrays(value)}
    return names


def _holds_arrays(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_arrays, value))
    return type(value) in plugins.by_type


def assert_aliasing(s: Scenario) -> None:
    """No gradient shares memory with another, with its seed, with an input or an output."""
    for copied in (False, True):
        leaves = s.variables(s.arrays())
        xs = leaves
        if copied:  # functions whose gradient is the cotangent itself
            xs = [positive(x) if i in s.floating else x for i, x in enumerate(leaves)]
            xs = [xs[0]] * len(xs) if s.variant.same else xs
        ys = s.call(xs)
        wanted = [ys[i] for i in s.differentiable(ys)]
        seeds = [s.placed(gy) for gy in s.cotangents(wanted)]
        if len(wanted) == 1:
            wanted[0].grad = seeds[0]
            wanted[0].backward(retain_grad=True)
        else:
            backward(wanted, [Variable(g) for g in seeds])
        own = {id(x) for x in xs}  # a function may return its input
        held = {f"cotangent {i}": g for i, g in enumerate(seeds)}
        held |= {f"input {i}": x.array for i, x in enumerate([*leaves, *xs])}
        held |= {f"output {i}": y.array for i, y in enumerate(ys) if id(y) not in own}
        gradients = {id(x): (f"gradient of input {i}", x.grad) for i, x in enumerate(leaves)}
        gradients |= {id(x): (f"gradient of the copy of input {i}", x.grad) for i, x in enumerate(xs) if copied}
        made = [(i, ys[i]) for i in s.differentiable(ys) if id(ys[i]) not in own]
        gradients |= {id(y): (f"gradient of output {i}", y.grad) for i, y in made}
        named = dict(each for each in gradients.values() if each[1] is not None)
        for name, g in named.items():
            for other, array in [*held.items(), *named.items()]:
                assert name == other or not shared_memory(g, array), f"{name} shares memory with {other}"


def assert_modes(s: Scenario) -> None:
    """Debug mode and a sweep that releases give the same bits; `no_backprop_mode` the same values, and no graph."""
    values, gradients = _swept(s)
    with using_config("debug", True):
        _assert_same("debug mode", _swept(s), (values, gradients))
    _assert_same("retain_graph=False", _swept(s, retain_graph=False), (values, gradients))
    with no_backprop_mode():
        ys = s.call(s.variables(s.arrays()))
    for i, (y, value) in enumerate(zip(ys, values, strict=True)):
        assert_same_bits(on_host(y), value, f"output {i} in no_backprop_mode and outside")
        assert y.creator_node is None, f"output {i} has a creator in no_backprop_mode"


def _swept(s: Scenario, retain_graph: bool = True) -> tuple[list[Any], list[Any]]:
    """Return outputs and gradients on the host."""
    xs = s.variables(s.arrays())
    ys = s.call(xs)
    wanted = [ys[i] for i in s.differentiable(ys)]
    seeds = [s.placed(gy) for gy in s.cotangents(wanted)]
    if len(wanted) == 1:
        wanted[0].grad = seeds[0]
        wanted[0].backward(retain_graph=retain_graph)
    else:
        backward(wanted, [Variable(g) for g in seeds])
    return [on_host(y) for y in ys], [None if xs[i].grad is None else on_host(xs[i].grad) for i in s.floating]


def _assert_same(how: str, got: tuple[list[Any], list[Any]], expected: tuple[list[Any], list[Any]]) -> None:
    for kind, here, there in zip(("output", "gradient"), got, expected, strict=True):
        for i, (one, two) in enumerate(zip(here, there, strict=True)):
            assert (one is None) == (two is None), f"{kind} {i} is None with {how}, or without, but not in both cases"
            if one is not None:
                assert_same_bits(one, two, f"{kind} {i} with {how} and without")
