"""Methods of chx arrays for gradients."""

import weakref
from typing import Any

import xpgrad
from xpgrad_chx import graph, sweeping
from xpgrad_chx.backprop import DEFAULT, AnyGraph, BackpropId, is_backprop_required, resolved
from xpgrad_chx.errors import ChainerxError, DtypeError, GradientError
from xpgrad_chx.memory import Memory, another


class Autograd(Memory):
    """Mixin with the gradient of an array, and whether the array is in a graph."""

    __slots__ = ()

    def require_grad(self, backprop_id: BackpropId | None = None) -> Any:
        """Mark the array, possibly an intermediate result, to keep its gradient for an id, and return it.

        Raises
        ------
        DtypeError
            The dtype is neither real nor complex floating.
        """
        wanted = resolved(backprop_id, "require_grad")
        if self.dtype.kind not in "fc":
            raise DtypeError(f"require_grad: expected a floating-point dtype, got {self.dtype}; cast it with astype")
        connection = graph.connect(self)
        if not isinstance(connection.required, set):
            connection.required = set()
        connection.required.add(wanted)
        node = connection.variable.node
        if wanted is not DEFAULT or node.creator_node is not None:
            graph.special[node] = graph.SpecialNodeData(connection.required, weakref.ref(connection))
        return self

    def is_grad_required(self, backprop_id: BackpropId | None = None) -> bool:
        """Return whether the array keeps a gradient for an id."""
        return self._graph is not None and resolved(backprop_id, "is_grad_required") in self._graph.required

    def is_backprop_required(self, backprop_id: "BackpropId | AnyGraph | None" = None) -> bool:
        """Return whether operations on the array are recorded for an id, or for any id."""
        if self._graph is None:
            return False
        node = self._graph.variable.node
        if isinstance(backprop_id, AnyGraph):
            return any(is_backprop_required(each) for each in graph.ids_behind([node]) if each.open)
        wanted = resolved(backprop_id, "is_backprop_required")
        return is_backprop_required(wanted) and graph.reaches(node, wanted)

    @property
    def grad(self) -> Any:
        """Gradient for the default id, the same array object at each read, or None."""
        return self.get_grad()

    @grad.setter
    def grad(self, grad: Any) -> None:
        self.set_grad(grad)

    def get_grad(self, backprop_id: BackpropId | None = None) -> Any:
        """Return the gradient for an id, None if it has not been computed yet.

        Raises
        ------
        ChainerxError
            The array keeps none.
        """
        wanted = resolved(backprop_id, "get_grad")
        if self._graph is None or wanted not in self._graph.required:
            raise ChainerxError(f"get_grad: the array keeps no gradient for {wanted!r}; call require_grad() first")
        return sweeping.gradient(self._graph, wanted)

    def set_grad(self, grad: Any, backprop_id: BackpropId | None = None) -> None:
        """Set the gradient for an id; None clears it. The array keeps one from then on.

        Raises
        ------
        ChainerxError
            The array is in no graph: call `require_grad` first.
        GradientError
            Shape, dtype or device differ from the array.
        """
        wanted = resolved(backprop_id, "set_grad")
        connection = self._reached(wanted, "set_grad")
        if grad is None:
            sweeping.store(connection, wanted, None)
            return
        if not isinstance(grad, Memory):
            raise GradientError(f"set_grad: expected a chx array, got {type(grad).__name__}")
        given, own = ((x.dtype, x.shape, x.device) for x in (grad, self))
        if given != own:
            text = [f"{dtype} {shape} on {device}" for dtype, shape, device in (own, given)]
            raise GradientError(f"set_grad: expected a gradient {text[0]}, as the array is, got {text[1]}")
        self.require_grad(backprop_id)
        variable = xpgrad.Variable(another(grad)) if grad._graph is None else grad._graph.variable
        sweeping.store(connection, wanted, variable)
        sweeping.show(connection, wanted, variable, grad)

    def cleargrad(self, backprop_id: BackpropId | None = None) -> None:
        """Clear the gradient for an id."""
        wanted = resolved(backprop_id, "cleargrad")
        sweeping.store(self._reached(wanted, "cleargrad"), wanted, None)

    def _reached(self, backprop_id: BackpropId, operation: str) -> Any:
        if self._graph is None or not graph.reaches(self._graph.variable.node, backprop_id):
            raise ChainerxError(f"{operation}: the array is constant for {backprop_id!r}; call require_grad() first")
        return self._graph

    def as_grad_stopped(self, backprop_ids: Any = None, *, copy: bool = False) -> Any:
        """Return a view, or a copy, that stops gradients of the given ids, by default of all."""
        ids = None if backprop_ids is None else frozenset(resolved(each, "as_grad_stopped") for each in backprop_ids)
        stopped = another(self) if ids is None else graph.view(self, ids)
        return stopped.copy() if copy else stopped

    def view(self) -> Any:
        """Return a view that is connected to this array; its gradient is not kept."""
        return graph.view(self)

    def backward(
        self,
        backprop_id: BackpropId | None = None,
        enable_double_backprop: bool = False,
        loss_scale: float | None = None,
        retain_graph: bool = True,
    ) -> None:
        """Compute the gradients of the arrays that this array depends on, as `xpgrad_chx.backward`."""
        sweeping.backward([self], backprop_id, enable_double_backprop, loss_scale, retain_graph)

    @property
    def backprop_ids(self) -> list[BackpropId]:
        """The open ids for which the array is in a graph."""
        if self._graph is None:
            return []
        ids = graph.ids_behind([self._graph.variable.node])
        return sorted((each for each in ids if each.open), key=lambda each: each.rank)
