"""Old-style functions: `Function` works on arrays in both directions, so its gradients have no derivative."""

import warnings
import weakref
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from xpgrad.backend.checks import spec_of
from xpgrad.backend.levels import innermost, lifted_spec
from xpgrad.backend.plugins import plugins
from xpgrad.config import NO_GRAD, switches
from xpgrad.errors import DeviceMismatch, DtypeError, GradientError, GraphError, ShapeError, UnknownArray
from xpgrad.graph.function_node import Forward, FunctionNode, on_host, raw_rule
from xpgrad.graph.node import Implementation
from xpgrad.graph.variable import Variable, variable_over
from xpgrad.types import Array


class FunctionAdapter(FunctionNode):
    """The node of an old-style function in the graph.

    Before the call the function owns its adapter, after it the adapter, which is in the graph, owns the function; so
    there never is a cycle.
    """

    def __init__(self, function: "Function") -> None:
        self._weak_function = weakref.ref(function)
        self._function: Function | None = None

    @property
    def function(self) -> "Function":
        """The function that the adapter calls."""
        function = self._function or self._weak_function()
        if function is None:
            raise RuntimeError("FunctionAdapter: the function has been deleted before it was called")
        return function

    def own(self) -> None:
        """Hold the function from now on."""
        self._function = self.function

    def disown(self) -> None:
        """Leave it to its owner again."""
        self._function = None

    @property
    def label(self) -> str:
        """Label of the function."""
        return self.function.label

    @property
    def _impl_name(self) -> str:
        return type(self.function).__name__

    def implementation(self) -> "Function":
        """Return the function that the adapter calls."""
        return self.function

    def check_type_forward(self, in_types: Any) -> None:
        """Ask the function."""
        self.function.check_type_forward(in_types)

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Run the function; all inputs are kept unless the function calls `retain_inputs`."""
        self.retain_inputs(range(len(inputs)))
        return self.function.forward(inputs)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run the function's backward on arrays, and mark its results as not differentiable."""
        if lifted_spec(self.inputs[0].spec) is not self.inputs[0].spec:
            raise GradientError(
                f"{self.label}: an old-style Function expected a cotangent of the level where it was called, got one "
                f"of {innermost()!r}; call vjp or linearize within the function that is transformed, too"
            )
        kept = self._kept_inputs or {}
        inputs = tuple(kept.get(i) for i in range(len(self.inputs)))
        gys = tuple(None if g is None else g.array for g in grad_outputs)
        gxs = self.function.backward(inputs, gys)
        if not isinstance(gxs, (tuple, list)):
            raise GradientError(f"{self._bug()} backward must return a tuple, got {type(gxs).__name__}")
        if len(gxs) != len(self.inputs):
            raise self._wrong_number(gxs, len(self.inputs), len(self.inputs))
        return tuple(self._ended(gxs[i], i, grad_outputs) for i in target_input_indexes)

    def _bug(self) -> str:
        return f"Function `{self._impl_name}` ({self.label}) has a bug:"

    def _ended(self, gx: Any, index: int, grad_outputs: tuple[Any, ...]) -> Variable | None:
        if gx is None:
            return None
        wanted = self.inputs[index].spec
        gx = self._checked_array(gx, index)
        given = spec_of(gx, self.label)
        what = f"{self._bug()} gradient {index} must be {wanted!r}, got {given!r}"
        if given.backend is not wanted.backend or given.device != wanted.device:
            raise DeviceMismatch(f"{what} on another device")
        if given.dtype != wanted.dtype:
            raise DtypeError(what)
        if given.shape != wanted.shape:
            raise ShapeError(what)
        if raw_rule.get() is self or switches().mode & NO_GRAD:
            return Variable(gx, requires_grad=False)
        # An output of everything that the gradient depends on, so that both `backward` and `grad` reach it.
        fellows = [variable_over(node, None) for node in self.inputs] + [g for g in grad_outputs if g is not None]
        return _End(self.label)._connect(fellows, (gx,))[0]

    def _checked_array(self, gx: Any, index: int) -> Array:
        if type(gx) not in plugins.by_type and isinstance(gx, plugins.scalar_types) and hasattr(gx, "dtype"):
            gx = plugins.host.restore(gx)
        if type(gx) not in plugins.by_type:
            raise UnknownArray(f"{self._bug()} gradient {index} must be an array, got {type(gx).__name__}")
        return gx


class _End(FunctionNode):
    """The creator of a gradient that an old-style function computed: sweeping through it raises."""

    of_library = True

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def label(self) -> str:
        """Label of the old-style function."""
        return self.name

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        """Raise: there is no formula to differentiate."""
        raise GraphError(
            f"cannot twice-differentiate an old style Function {self.name}; write it as a FunctionNode, whose backward "
            "computes on Variables"
        )


class Function(Implementation, Forward):
    """An old-style differentiable function, called as ``f(x, ...)``.

    Derive from it and write `forward` and `backward`, both on tuples of arrays. New code derives from `FunctionNode`.
    """

    _adapter: FunctionAdapter | None = None
    _weak_adapter: Any = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.label!r}>"

    def __getstate__(self) -> dict[str, Any]:  # called by copy and pickle
        """Return the attributes that the author set; copies start without calls."""
        return {name: value for name, value in vars(self).items() if name not in ("_adapter", "_weak_adapter")}

    @property
    def node(self) -> FunctionAdapter:
        """The `FunctionAdapter` of the last call, or a new one for the next call."""
        adapter = self._adapter or (self._weak_adapter() if self._weak_adapter is not None else None)
        if adapter is None:
            adapter = self._adapter = FunctionAdapter(self)
        return adapter

    def __call__(self, *inputs: Any) -> Any:
        """Apply the function; return one Variable, or a tuple of several."""
        adapter = self._adapter or FunctionAdapter(self)  # hooks may have been added to it
        before = self._adapter, self._weak_adapter
        adapter.own()
        self._adapter, self._weak_adapter = None, weakref.ref(adapter)
        try:
            outputs = adapter.apply(inputs)
        except BaseException:
            adapter.disown()
            self._adapter, self._weak_adapter = before
            raise
        return outputs[0] if len(outputs) == 1 else outputs

    def check_type_forward(self, in_types: Any) -> None:
        """Raise `InvalidType` for inputs that the function does not take."""

    def backward(self, inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return a gradient or None for each input; the default calls `backward_cpu` or `backward_gpu`."""
        return (
            self.backward_cpu(inputs, grad_outputs)
            if on_host(inputs + grad_outputs)
            else self.backward_gpu(inputs, grad_outputs)
        )

    def backward_cpu(self, inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradients for arrays in host memory."""
        return (None,) * len(inputs)

    def backward_gpu(self, inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradients for arrays of another device."""
        return (None,) * len(inputs)

    def retain_inputs(self, indexes: Sequence[int]) -> None:
        """Keep only these inputs for `backward`; to be called in `forward`."""
        self.node.retain_inputs(indexes)

    def retain_outputs(self, indexes: Sequence[int], retain_after_backward: bool = False) -> None:
        """Keep these outputs, to be read from `output_data` in `backward`; to be called in `forward`."""
        if retain_after_backward:
            warnings.warn("retain_outputs: retain_after_backward has no effect", DeprecationWarning, stacklevel=2)
        self.node.retain_outputs(indexes)

    inputs = property(attrgetter("node.inputs"), doc="Nodes of the inputs.")
    outputs = property(attrgetter("node.outputs"), doc="Weak references to the nodes of the outputs.")
    output_data = property(attrgetter("node.output_data"), doc="The retained outputs as arrays.")
    rank = property(attrgetter("node.rank"), doc="Rank in the graph.")
    stack = property(attrgetter("node.stack"), doc="Where the function was applied, in debug mode.")
    local_function_hooks = property(
        attrgetter("node.local_function_hooks"), doc="The hooks that were added to this function."
    )

    def unchain(self) -> None:
        """Cut this function out of the graph."""
        self.node.unchain()

    def add_hook(self, hook: Any, name: str | None = None) -> None:
        """Add a `FunctionHook` to this function only."""
        self.node.add_hook(hook, name)

    def delete_hook(self, name: str) -> None:
        """Remove the hook `name` from this function."""
        self.node.delete_hook(name)
