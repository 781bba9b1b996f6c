"""Computing gradients of chx arrays: `backward` and `grad`, over xpgrad's sweep."""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import xpgrad
from xpgrad.config import backprop_mode, called_with
from xpgrad.graph.exchange import lock, replace
from xpgrad_chx import graph
from xpgrad_chx.backprop import DEFAULT, BackpropId, resolved
from xpgrad_chx.backprop import sweeping as current
from xpgrad_chx.connection import Connection
from xpgrad_chx.errors import ChainerxError, GradientError
from xpgrad_chx.memory import Memory


def gradient(connection: Connection, backprop_id: BackpropId) -> Any:
    """Return the gradient that an array keeps for an id, as an array, or None."""
    variable = _held(connection, backprop_id)
    if variable is None:
        return None
    shown = None if connection.shown is None else connection.shown.get(backprop_id)
    if shown is None or shown[0] is not variable:
        connected = variable.creator_node is not None
        return show(connection, backprop_id, variable, graph.carry(variable) if connected else variable.array)
    return shown[1]


def show(connection: Connection, backprop_id: BackpropId, variable: xpgrad.Variable, array: Any) -> Any:
    """Make `array` the object that users get for a gradient, and return it."""
    if connection.shown is None:
        connection.shown = {}
    connection.shown[backprop_id] = variable, array
    return array


def store(connection: Connection, backprop_id: BackpropId, grad: xpgrad.Variable | None) -> None:
    """Store the gradient of an array for an id."""
    if connection.shown is not None:
        connection.shown.pop(backprop_id, None)
    if backprop_id is DEFAULT:
        connection.variable.grad_var = grad
        return
    if connection.gradients is None:
        connection.gradients = {}
    if grad is None:
        connection.gradients.pop(backprop_id, None)
    else:
        connection.gradients[backprop_id] = grad


def _held(connection: Connection, backprop_id: BackpropId) -> xpgrad.Variable | None:
    if backprop_id is DEFAULT:
        return connection.variable.grad_var
    return None if connection.gradients is None else connection.gradients.get(backprop_id)


def backward(
    outputs: Any,
    backprop_id: BackpropId | None = None,
    enable_double_backprop: bool = False,
    loss_scale: float | None = None,
    retain_graph: bool = True,
) -> None:
    """Compute the gradients of the arrays that `outputs` depend on and that keep one, and accumulate them.

    Parameters
    ----------
    outputs : ndarray or sequence of ndarray
        Each starts from its gradient, which is consumed; outputs of any shape without a gradient start from ones.
    backprop_id : BackpropId, optional
    enable_double_backprop : bool
        Record the computation, so that the gradients can be differentiated.
    loss_scale : float, optional
        Factor of the initial ones.
    retain_graph : bool
        False releases the graph of each output as soon as it was used, the only behavior of ChainerX.

    Raises
    ------
    ChainerxError
        No gradient goes through an output, or one of an earlier id has been computed through arrays of this id.
    """
    wanted = resolved(backprop_id, "backward")
    arrays: Sequence[Any] = [outputs] if isinstance(outputs, Memory) else list(outputs)
    connections = [_connected(y, wanted, "backward") for y in arrays]
    _keep_order(connections, wanted)
    busy = wanted is not DEFAULT or graph.busy([each.variable.node for each in connections])
    if not retain_graph and (len(arrays) > 1 or busy):
        raise ValueError("backward: retain_graph=False is for one output in a program without backprop scopes")
    outputs = list({id(each): each for each in connections}.values())
    held = [_exchanged(each, wanted, lambda _: None) for each in outputs]
    starts = [_ones(each.variable, loss_scale) if g is None else g for each, g in zip(outputs, held, strict=True)]
    values = {current: wanted}
    try:
        if busy:
            called_with(values, _sweep, outputs, starts, wanted, enable_double_backprop)
        elif retain_graph:
            variables = [each.variable for each in outputs]
            called_with(values, xpgrad.backward, variables, starts, enable_double_backprop=enable_double_backprop)
        else:
            store(outputs[0], wanted, starts[0])
            called_with(
                values, outputs[0].variable.backward, enable_double_backprop=enable_double_backprop,
                loss_scale=loss_scale, retain_graph=False,
            )  # fmt: skip
    except BaseException:
        for each, g in zip(outputs, held, strict=True):
            if g is not None or not retain_graph:
                store(each, wanted, g)
        raise


def _sweep(outputs: list[Connection], starts: list[xpgrad.Variable], wanted: BackpropId, recorded: bool) -> None:
    """Compute the gradients for one id, for the arrays that keep a gradient for this id."""
    nodes = [each.variable.node for each in outputs]
    targets = [t for t in graph.behind(nodes, wanted) if t not in outputs or t.variable.creator_node is None]
    roots = graph.roots_behind(nodes) if wanted is DEFAULT else []
    gradients = xpgrad.grad(
        [each.variable for each in outputs],
        [*(each.variable for each in targets), *roots],
        starts,
        enable_double_backprop=recorded,
    )
    for each, g in zip(targets, gradients, strict=False):
        if g is not None:
            _exchanged(each, wanted, functools.partial(_sum, g, recorded))
    for root, g in zip(roots, gradients[len(targets) :], strict=True):
        if g is not None:
            replace(root, functools.partial(_sum, g, recorded))


def _exchanged(connection: Connection, wanted: BackpropId, made: Callable[[Any], Any]) -> Any:
    """Replace the gradient that an array keeps for an id by ``made(gradient)``, and return the old gradient.

    If another thread stores a gradient meanwhile, `made` is called again.
    """
    while True:
        held = _held(connection, wanted)
        grad = made(held)
        with lock:
            if _held(connection, wanted) is held:
                store(connection, wanted, grad)
                return held


def _sum(g: xpgrad.Variable, recorded: bool, held: Any) -> xpgrad.Variable:
    if held is None:
        return g
    held = held if isinstance(held, xpgrad.Variable) else xpgrad.Variable(held)
    total: xpgrad.Variable = called_with(backprop_mode(recorded), operator.add, held, g)
    return total


def grad(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    backprop_id: BackpropId | None = None,
    enable_double_backprop: bool = False,
    set_grad: bool = False,
    retain_grad: bool = False,
    grad_outputs: Sequence[Any] = (),
    loss_scale: float | None = None,
) -> list[Any]:
    """Return the gradients of `outputs` with respect to `inputs`, None where outputs do not depend on an input.

    Parameters
    ----------
    outputs, inputs : sequence of ndarray
    backprop_id : BackpropId, optional
    enable_double_backprop : bool
        Record the computation, so that the results can be differentiated.
    set_grad : bool
        Also store the results in the inputs.
    retain_grad : bool
        Let arrays in between that are alive keep theirs.
    grad_outputs : sequence of ndarray or None
        Where to start; ones by default.
    loss_scale : float, optional
        Factor of the initial ones.

    Raises
    ------
    GradientError
        There are not as many `grad_outputs` as outputs.
    """
    wanted = resolved(backprop_id, "grad")
    if grad_outputs and len(grad_outputs) != len(outputs):
        raise GradientError(f"grad: got {len(grad_outputs)} grad_outputs for {len(outputs)} outputs")
    starts = [None if g is None else xpgrad.as_variable(g) for g in grad_outputs or [None] * len(outputs)]
    ends = [(y._graph, g) for y, g in zip(outputs, starts, strict=True) if _reached(y, wanted)]
    places = [x._graph if _reached(x, wanted) else None for x in inputs]
    known = [place for place in places if place is not None]
    _keep_order([connection for connection, _ in ends], wanted)
    found = called_with(
        {current: wanted}, xpgrad.grad,
        [connection.variable for connection, _ in ends],
        [place.variable for place in known],
        [g for _, g in ends],
        retain_grad=retain_grad,
        enable_double_backprop=enable_double_backprop,
        loss_scale=loss_scale,
    )  # fmt: skip
    by_place = {id(place): g for place, g in zip(known, found, strict=True)}
    results = [None if place is None else by_place[id(place)] for place in places]
    if set_grad:
        for x, g in zip(inputs, results, strict=True):
            if x._graph is not None:
                x.require_grad(backprop_id)
                store(x._graph, wanted, g)
    return [None if g is None else graph.carry(g) for g in results]


def _reached(x: Any, wanted: BackpropId) -> bool:
    return x._graph is not None and graph.reaches(x._graph.variable.node, wanted)


def _connected(y: Any, wanted: BackpropId, operation: str) -> Connection:
    if not isinstance(y, Memory):
        raise TypeError(f"{operation}: expected chx arrays, got {type(y).__name__}")
    if not _reached(y, wanted):
        raise ChainerxError(
            f"{operation}: no gradient for {wanted!r} goes through the output; call require_grad() first"
        )
    connection: Connection = y._graph  # type: ignore[assignment]  # `_graph` was tested above
    return connection


def _keep_order(connections: list[Connection], wanted: BackpropId) -> None:
    """Reject an inner id after an outer id went through the same arrays; record the pass of this id."""
    if wanted.outrun is not None:
        raise ChainerxError(
            f"backward: cannot go back for {wanted.name!r}, because {wanted.outrun.name!r}, which has been created "
            "earlier, has already been backpropped; go back for the inner id first"
        )
    if graph.busy():
        for each in graph.ids_behind([connection.variable.node for connection in connections]):
            if each.rank > wanted.rank:
                each.outrun = wanted


def _ones(variable: xpgrad.Variable, loss_scale: float | None) -> xpgrad.Variable:
    backend = xpgrad.get_device(variable.device).backend
    start = backend.ones(variable.node.spec)
    return xpgrad.Variable(start if loss_scale is None else start * loss_scale, requires_grad=False)
