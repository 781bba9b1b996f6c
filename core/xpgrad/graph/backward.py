"""`backward` and `grad`: the functions that start a sweep, and store its results."""

import warnings
from collections.abc import Iterable, Sequence, Set
from numbers import Real
from operator import attrgetter
from typing import Any

from xpgrad.backend.checks import same_place
from xpgrad.backend.levels import innermost, live
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.config import backprop_mode, called_with
from xpgrad.errors import GradientError
from xpgrad.graph.application import Application
from xpgrad.graph.exchange import lock, store
from xpgrad.graph.gradients import check_gradient
from xpgrad.graph.methods.declared import bind
from xpgrad.graph.methods.ending import warn_here
from xpgrad.graph.node import FunctionBase, VariableNode
from xpgrad.graph.outputs import output
from xpgrad.graph.slot import slot
from xpgrad.graph.sweep import Key, Sweep, key_of
from xpgrad.graph.variable import Variable, constant_variable, inside

Seeds = list[tuple[VariableNode, Any]]


def backward_from(
    y: Variable, retain_grad: bool = False, enable_double_backprop: bool = False, loss_scale: float | None = None,
    retain_graph: bool = True,
) -> None:  # fmt: skip
    """Compute the gradients of all inputs and intermediate results of `y`; this is `Variable.backward`.

    A Variable that requires no gradient changes none, and gives a `GraphEndWarning`.
    """
    if live:
        y = inside(y)
        _check_level([y])
    if y._array is None:
        raise GradientError("backward: the Variable is uninitialised")
    spec = y._current("backward")
    if y._grad is None and spec.size != 1:
        raise GradientError(
            f"backward: cannot start from {spec.size} elements of shape {spec.shape} without a gradient; "
            "set y.grad first, or reduce to one element"
        )
    if not y._node.requires_grad:
        _warn_of_end(y, "backward: the Variable")
        return
    grad: Any = None if y._grad is None else y.grad_var if enable_double_backprop else y.grad
    if grad is None:
        grad = _ones(y, loss_scale, enable_double_backprop, "backward")
    else:
        check_gradient(y.grad, spec)  # the constructor took it as it came
    _sweep([(y, grad)], retain_grad, enable_double_backprop, loss_scale, retain_graph)


def backward(
    outputs: Sequence[Variable],
    grad_outputs: Sequence[Variable | None] | None = None,
    *,
    enable_double_backprop: bool = False,
) -> None:
    """Run one backward computation from several outputs; each function runs once.

    Parameters
    ----------
    outputs : sequence of Variable
    grad_outputs : sequence of Variable or None, optional
        Where to start; by default from each output's own gradient, which is then cleared. An output without a gradient
        is skipped with a warning, and so is an output that requires no gradient (`GraphEndWarning`).
    enable_double_backprop : bool

    Raises
    ------
    TypeError
        `outputs` is not a sequence of Variables.
    ValueError
        The lengths differ.
    """
    outputs = _sequence(outputs, "backward", "outputs")
    starts = _optional(grad_outputs, outputs, "backward", "grad_outputs", "outputs")
    if live:
        _check_level(outputs)
    seeds: list[tuple[Variable, Any]] = []
    seen: set[int] = set()
    for i, y in enumerate(outputs):
        given = y.grad_var if grad_outputs is None else starts[i]
        if grad_outputs is None and id(y) in seen:
            warnings.warn(f"backward: output {i} occurs twice; its gradient is used once", RuntimeWarning, stacklevel=3)
            continue
        seen.add(id(y))
        if given is None:
            warnings.warn(f"backward: output {i} has no gradient and is passed over", RuntimeWarning, stacklevel=3)
            continue
        _check_cotangent(y, given, "backward", i)
        if y._node.requires_grad:
            seeds.append((y, given if enable_double_backprop else given._array))
        else:
            _warn_of_end(y, f"backward: output {i}")
    used = [y for y, _ in seeds] if grad_outputs is None else ()
    _sweep(seeds, False, enable_double_backprop, None, True, clear=used)


def _sweep(
    seeds: list[tuple[Variable, Any]], retain_grad: bool, recorded: bool, loss_scale: float | None, retain_graph: bool,
    clear: Sequence[Variable] | None = None,
) -> None:  # fmt: skip
    pairs: Seeds = []
    used: list[tuple[Variable, Any]] = []
    for y, g in seeds:
        pairs.append((y._node, g))
        if clear is None:
            used.append((y, y._grad))
    for y in clear or ():
        used.append((y, y._grad))
    level = innermost() if live else None
    if level is not None:
        level.note_sweep(node for node, _ in pairs)
    sweep = Sweep(pairs, recorded=recorded, retain=retain_grad, retain_graph=retain_graph).run()
    found: dict[Variable, list[tuple[VariableNode, Any]]] = {}
    for key, g in sweep.totals.items():
        if isinstance(key, VariableNode) and (x := key.get_variable_or_none()) is not None:
            found.setdefault(x, []).append((key, g))  # an object that moved occurs as several nodes
    _deposit(found, sweep.retained, used, recorded)
    for x in found:
        if type(x) is not Variable:
            x._gradient_arrived()
        if loss_scale is not None:
            x._node.own_extra().loss_scale = loss_scale


def _check_level(outputs: Iterable[Variable], inputs: Iterable[Variable] | None = None) -> None:
    if (level := innermost()) is not None:
        level.check_sweep(outputs, inputs)


def _deposit(
    found: dict[Variable, list[tuple[VariableNode, Any]]], retained: list[tuple[VariableNode, Any]],
    used: list[tuple[Variable, Any]], recorded: bool,
) -> None:  # fmt: skip
    """Add to the existing gradients of the roots and store all other gradients of a sweep, or none if a step fails.

    Other threads may store gradients at the same time; a sum with a gradient that was replaced meanwhile is recomputed.
    """
    kept = [(x, g) for node, g in retained if (x := node.get_variable_or_none()) is not None] if retained else []
    read: dict[Variable, Any] = {}
    sums: dict[Variable, Any] = {}
    while True:
        for x, parts in found.items():
            held = x._grad
            if x in read and read[x] is held:
                continue
            read[x] = held
            total: Any = held
            if held is not None and any(y is x and before is held for y, before in used):
                total = None  # the sweep started from this gradient, which is used up
            if total is not None:
                array = held._array if isinstance(held, Variable) else held
                check_gradient(array, x._node.spec)  # the constructor took it as it came
                total = held if recorded else array
            for node, g in parts:
                g = g if x._node is node else moved_to(g, x)
                total = g if total is None else _added(total, g, recorded)
            sums[x] = note_constant(total) if recorded else total
        with lock:
            for x, held in read.items():
                if x._grad is not held:
                    break
            else:
                stores: dict[Any, Any] = {}
                for y, before in used:
                    if y._grad is before:
                        stores[y] = None
                stores.update(kept)
                stores.update(sums)
                left = store(stores)
                break
    del left  # now that the lock is released


def _is_cut(y: Variable) -> bool:
    """Return whether `y` is in no graph, except if it is the constant gradient of a recorded sweep."""
    node = y._node
    return not node.requires_grad and (node.extra is None or not node.extra.constant)


def _warn_of_end(y: Variable, what: str) -> None:
    """Warn, at the line that started a backward computation, that `y` is in no graph."""
    if _is_cut(y):
        warn_here(f"{what} {_reason(y)}; no gradient was changed, and config.warn_graph_end = False is silent")


def _reason(x: Variable) -> str:
    spec = x._node.spec
    if not spec.differentiable:
        return f"is {spec!r}: integers and booleans have no gradient; compute with floating-point numbers"
    return (
        f"({spec!r}) requires no gradient: it has requires_grad=False, or was computed from such Variables only, in "
        "no_backprop_mode(), by a function without derivative (floor), or by a sweep that was not recorded "
        "(enable_double_backprop=True records it)"
    )


def note_constant(g: Any) -> Any:
    """Mark a gradient of a recorded sweep that depends on no Variable as constant, so that `grad` accepts it."""
    if not g._node.requires_grad:
        g._node.own_extra().constant = True
    return g


def moved_to(g: Any, x: Variable) -> Any:
    """Return a gradient on the device of `x`, which may have moved since its graph was made."""
    array, spec = g._array if isinstance(g, Variable) else g, x._node.spec
    if spec is None or (type(array) in spec.backend.array_types and spec.backend.handle_of(array) == spec.device):
        return g
    return slot.functions.copy(g, x.device) if isinstance(g, Variable) else transfer(array, x.device)


def _added(held: Any, g: Any, recorded: bool) -> Any:
    if recorded:
        held = held if isinstance(held, Variable) else constant_variable(held)
        return called_with(backprop_mode(True), slot.functions.add, held, g)
    backend = plugins.backend_of(g)
    total = backend.xp.add(held, g) if backend.has_current_device else held + g
    return total if type(total) in plugins.by_type else backend.restore(total)


def grad(
    outputs: Sequence[Variable],
    inputs: Sequence[Variable] | None = None,
    grad_outputs: Sequence[Variable | None] | None = None,
    grad_inputs: Sequence[Variable | None] | None = None,
    set_grad: bool = False,
    retain_grad: bool = False,
    enable_double_backprop: bool = False,
    loss_scale: float | None = None,
) -> list[Variable | None]:
    """Return the gradients of `outputs` with respect to `inputs`; no Variable's `grad` is touched.

    Only the functions between the two run. An input that no output depends on gets None.

    Parameters
    ----------
    outputs, inputs : sequence of Variable
    grad_outputs : sequence of Variable or None, optional
        Where to start; None means ones, for any shape.
    grad_inputs : sequence of Variable or None, optional
        Added to the gradients of the inputs, and passed on to inputs further up.
    set_grad : bool
        Store the results in `grad` of the inputs.
    retain_grad : bool
        Store the gradients of the live Variables in between, of the outputs and of inputs that are results.
    enable_double_backprop : bool
        Record the computation, so that the results can be differentiated.
    loss_scale : float, optional
        Factor of the default cotangents, which are ones.

    Returns
    -------
    list of Variable or None

    Raises
    ------
    TypeError
        An argument is not a tuple or list of Variables.
    ValueError
        The lengths of `grad_outputs` or `grad_inputs` do not fit.
    GradientError
        An output is in no graph, or an input requires no gradient: integers, ``requires_grad=False``, results of
        `no_backprop_mode`, gradients of a sweep that was not recorded. A constant gradient of a recorded sweep is
        accepted.
    """
    outputs = _sequence(outputs, "grad", "outputs")
    xs: Sequence[Variable] = _sequence(inputs, "grad", "inputs")
    starts = _optional(grad_outputs, outputs, "grad", "grad_outputs", "outputs")
    extras = _optional(grad_inputs, xs, "grad", "grad_inputs", "inputs")
    if live:
        _check_level(outputs, xs)
    seeds: Seeds = []
    for i, (y, g) in enumerate(zip(outputs, starts, strict=True)):
        if y._array is None:
            raise GradientError(f"grad: output {i} is uninitialised")
        y._current("grad")
        if g is not None:
            _check_cotangent(y, g, "grad", i)
        recorded = enable_double_backprop
        start = _ones(y, loss_scale, recorded, "grad") if g is None else g if recorded else g._array
        if y._node.requires_grad:
            seeds.append((y._node, start))
        elif _is_cut(y):
            raise GradientError(f"grad: output {i} {_reason(y)}")
    for i, x in enumerate(xs):
        if not x._node.requires_grad:
            raise GradientError(f"grad: input {i} {_reason(x)}")
    for i, (x, g) in enumerate(zip(xs, extras, strict=True)):
        if g is not None:
            _check_cotangent(x, g, "grad", i)
            seeds.append((x._node, g if enable_double_backprop else g._array))
    results = _swept(seeds, xs, enable_double_backprop, retain_grad)
    for x, g in zip(xs, results, strict=True):
        if set_grad or (retain_grad and x.creator_node is not None):
            x.grad_var = g
    return results


def gradients(
    starts: Sequence[tuple[Variable, Variable]], inputs: Sequence[Variable], recorded: bool
) -> list[Variable | None]:
    """Return gradients as `grad` does, from pairs of outputs and cotangents that a transform has already checked.

    Cotangents of a transformation within which the outputs were not computed are no arrays of their backend: the sweep
    computes on Variables, and functions lift what the graph kept.
    """
    if live:
        _check_level([y for y, _ in starts], inputs)
    seeds: Seeds = []
    recorded = recorded or any(g._node.spec.backend is not y._node.spec.backend for y, g in starts)
    for y, g in starts:
        y._current("grad")
        seeds.append((y._node, g if recorded else g._array))
    return _swept(seeds, inputs, recorded, False)


def _swept(seeds: Seeds, xs: Sequence[Variable], recorded: bool, retain: bool) -> list[Variable | None]:
    """Return the gradients of `xs` by a sweep of the subgraph between the seeds and `xs`."""
    keys: dict[Variable, list[tuple[VariableNode, Key]]] = {}
    watch: set[Key] = set()
    for x in xs:
        keys[x] = []
        moved = x._node.extra is not None and x._node.extra.predecessors
        for node in x._node.lineage() if moved else (x._node,):
            key = key_of(node)
            keys[x].append((node, key))
            watch.add(key)
    active = between([node for node, _ in seeds], watch)
    sweep = Sweep(seeds, recorded=recorded, active=active, watch=watch, retain=retain).run()
    results: list[Variable | None] = []
    seen: set[Variable] = set()
    for x in xs:
        total: Any = None
        for node, key in keys[x]:
            if key in sweep.totals and x._node.requires_grad:
                g = sweep.totals[key]
                g = g if node is x._node else moved_to(g, x)
                total = g if total is None else _added(total, g, recorded)
        if total is not None:
            total = note_constant(total) if type(total) is Variable else output(total, x._node.spec, None, 0)
            if x in seen:
                total = called_with(backprop_mode(True), slot.functions.copy, total)
        seen.add(x)
        results.append(total)
    for node, g in sweep.retained:
        if (variable := node.get_variable_or_none()) is not None:
            variable._grad = g
    return results


def between(outputs: Iterable[VariableNode], wanted: Set[Key]) -> dict[FunctionBase, bool]:
    """Return the functions on the paths from `wanted` to `outputs`, without recursion.

    The value of each is whether it also has inputs that no such path contains, whose gradients are not needed.
    """
    functions: dict[Any, Any] = {}  # with their inputs
    waiting: list[Any] = []
    for node in outputs:
        if (f := node.live_creator()) is not None:
            waiting.append(f)
    while waiting:
        f = waiting.pop()
        if f in functions:
            continue
        if type(f) is not Application or type(f.input) is tuple:
            inputs: Any = f.input_nodes or ()
        else:  # faster than `f.input_nodes`
            inputs = (f.input,) if f.other is None else (f.input, f.other)
        functions[f] = inputs
        for node in inputs:
            if node is not None and node.requires_grad and (creator := node.creator_node) is not None:
                waiting.append(creator)
    active: dict[FunctionBase, bool] = {}
    for f in sorted(functions, key=attrgetter("rank")):  # a function runs after the functions that computed its inputs
        leads = rest = False
        for node in functions[f]:
            if node is not None and node.requires_grad:
                creator = node.creator_node
                if node in wanted if creator is None else (creator in active or key_of(node) in wanted):
                    leads = True
                else:
                    rest = True
        if leads:
            active[f] = rest
    return active


def _ones(y: Variable, loss_scale: Any, recorded: bool, name: str) -> Any:
    backend = y._node.spec.backend
    start = backend.ones(y._node.spec)
    if loss_scale is not None:
        if not isinstance(loss_scale, Real) and (type(loss_scale) not in plugins.by_type or loss_scale.ndim):
            raise TypeError(f"{name}: loss_scale must be a real number, got {loss_scale!r}")
        start = backend.restore(backend.xp.multiply(start, loss_scale))
    return Variable(start, requires_grad=False) if recorded else start


def _check_cotangent(y: Variable, g: Variable, operation: str, i: int) -> None:
    wanted, given = y._node.spec, g._node.spec
    if wanted is None or given is None:
        raise GradientError(f"{operation}: {'output' if wanted is None else 'gradient'} {i} is uninitialised")
    y._current(operation)
    g._current(operation)
    if wanted is given:
        return
    if not same_place(wanted, given):
        raise GradientError(
            f"{operation}: gradient {i} is {given!r} on {g.device}, but its Variable {wanted!r} on {y.device}"
        )


def _sequence(given: Any, operation: str, name: str, *, optional: bool = False) -> Any:
    if not isinstance(given, (tuple, list)):
        if callable(given) and operation == "grad":
            raise TypeError(
                "grad: expected a tuple or a list of Variables, the outputs, got a function; "
                "xpgrad.transforms.grad differentiates functions"
            )
        advice = f"; write [{name[:-1]}]" if isinstance(given, Variable) else ""
        raise TypeError(f"{operation}: {name} must be a tuple or a list, got {type(given).__name__}{advice}")
    for i, each in enumerate(given):
        if not isinstance(each, Variable) and not (optional and each is None):
            raise TypeError(f"{operation}: {name}[{i}] must be a Variable, got {type(each).__name__}")
    return [None if each is None else inside(each) for each in given] if live else given


def _optional(given: Any, fellows: Sequence[Any], operation: str, name: str, of: str) -> Sequence[Variable | None]:
    if given is None:
        return [None] * len(fellows)
    found: Sequence[Variable | None] = _sequence(given, operation, name, optional=True)
    if len(found) != len(fellows):
        raise ValueError(f"{operation}: got {len(found)} {name} for {len(fellows)} {of}")
    return found


bind(Variable, {"backward": backward_from})
