"""`FunctionNode`: one application of a differentiable function, and the class that users derive their own from."""

import weakref
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, ClassVar

from xpgrad.backend.current import call_on
from xpgrad.backend.levels import live
from xpgrad.backend.plugins import plugins
from xpgrad.config import GUARDED, NO_GRAD, WATCHED, config, switches
from xpgrad.errors import BackendMismatch, DeviceMismatch, GradientError, GraphError, UnknownArray, XpgradError
from xpgrad.graph import carried
from xpgrad.graph.node import FunctionBase, VariableNode
from xpgrad.graph.outputs import output
from xpgrad.graph.variable import Variable, as_variable, constant_variable, over
from xpgrad.types import Array
from xpgrad.utils.type_check import InvalidType, TypeInfo, TypeInfoTuple
from xpgrad.watch import inspection
from xpgrad.watch.observation import observed

new = object.__new__
OF_APPLICATION = frozenset(
    ("inputs", "outputs", "rank", "stack", "pullback", "_kept_inputs", "_kept_outputs", "_origin", "_guards", "_hooks")
)
"""Attributes that `apply` sets on a function, and those of that one application."""
raw_rule: "ContextVar[FunctionNode | None]" = ContextVar("xpgrad_raw_rule", default=None)
"""The user's function whose `backward` a raw sweep of this thread runs now: what it retained is constant there."""


class Forward:
    """The forward computation of a user's function: for all arrays, or separately for host and other devices."""

    __slots__ = ()

    @property
    def label(self) -> str:
        """Short text that names the function in messages and drawings."""
        return type(self).__name__

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the outputs, a tuple of arrays.

        The default passes arrays of the host backend to `forward_cpu` and all other arrays to `forward_gpu`.
        """
        return self.forward_cpu(inputs) if on_host(inputs) else self.forward_gpu(inputs)

    def forward_cpu(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the outputs for arrays in host memory."""
        raise NotImplementedError(f"{self.label}: neither forward nor forward_cpu is implemented")

    def forward_gpu(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the outputs for arrays of another device."""
        raise NotImplementedError(f"{self.label}: neither forward nor forward_gpu is implemented")


def on_host(arrays: tuple[Any, ...]) -> bool:
    """Return whether the first of `arrays` that is not None is in host memory."""
    first = next((a for a in arrays if a is not None), None)
    return first is None or plugins.backend_of(first).root is plugins.host


class FunctionNode(FunctionBase, Forward):
    """A differentiable function with several outputs, with state, or with an explicit backward computation.

    Derive a class from it, write `forward` (on arrays) and `backward` (on Variables), and call ``MyFunction().apply((x,
    w))``. Inside `forward`, call `retain_inputs` and `retain_outputs` for the arrays that `backward` needs; no other
    array is kept. Everything that `backward` computes from the retained Variables can be differentiated again.
    Otherwise they are constants there. `backward` may create graphs of its own and call `grad` on them, and may write
    into the arrays of the gradients that it receives, which are copies; while gradients are recorded, such a write is
    an error.

    Attributes
    ----------
    inputs : tuple of VariableNode or None
        None before `apply`, and outside a graph.
    outputs : tuple of weak references to VariableNode or None
    rank : int
    stack : traceback.StackSummary or None
        Where the function was applied, in debug mode.
    """

    __slots__ = ()  # so that `Application` can do without a dictionary; classes that users derive have one

    lazy_grad_sum: ClassVar[bool] = False
    transposes: ClassVar[bool] = False  # for those `of_library`: whether forward mode transposes `backward`
    chainerx_device: ClassVar[None] = None
    _kept_inputs: Any = None  # of index to array
    _kept_outputs: Any = None

    def __getstate__(self) -> dict[str, Any]:  # called by copies and by pickle
        """Return the attributes that the author has set; a copy has not been applied, and has no hooks."""
        return {name: value for name, value in getattr(self, "__dict__", {}).items() if name not in OF_APPLICATION}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise: a FunctionNode is applied, not called."""
        raise RuntimeError(f"{self.label}: a FunctionNode is applied with apply((x, ...)), not called")

    # Methods for authors to override

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        """Return the gradients of the inputs `target_input_indexes`, or of all inputs, as Variables or None.

        Parameters
        ----------
        target_input_indexes : tuple of int
            Sorted; the inputs that require a gradient.
        grad_outputs : tuple of Variable or None
            Gradients of the outputs.

        Notes
        -----
        A complex gradient of a real input counts by its real part; other dtypes are cast.
        """
        return (None,) * len(target_input_indexes)

    def backward_accumulate(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...], grad_inputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Return the gradients of the targets, each added to the corresponding entry of `grad_inputs`.

        Called only where it is overridden; otherwise the sweep adds the contributions.
        """
        gxs = self._checked(self.backward(target_input_indexes, grad_outputs), target_input_indexes)
        return tuple(
            g if held is None else held if g is None else held + g for g, held in zip(gxs, grad_inputs, strict=True)
        )

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        """Raise `InvalidType`, through `type_check.expect`, for invalid inputs."""

    def retain_inputs(self, indexes: Sequence[int]) -> None:
        """Keep these inputs for `backward`; to be called in `forward`."""
        self._kept_inputs = self._reserved(indexes, "retain_inputs")

    def retain_outputs(self, indexes: Sequence[int]) -> None:
        """Keep these outputs for `backward`; to be called in `forward`."""
        self._kept_outputs = self._reserved(indexes, "retain_outputs")

    def _reserved(self, indexes: Sequence[int], method: str) -> dict[int, Any]:
        if self.inputs is not None:
            raise GraphError(f"{self.label}: {method} is called in forward; the function has been applied already")
        return dict.fromkeys(indexes)

    def _filled(self, kept: Any, arrays: Sequence[Array], method: str) -> Any:
        for i in kept or ():
            if not 0 <= i < len(arrays):
                raise IndexError(f"{self.label}: {method}: expected indexes below {len(arrays)}, got {i}")
        return None if kept is None else {i: arrays[i] for i in kept}

    def get_retained_inputs(self) -> tuple[Any, ...]:
        """Return the retained inputs as Variables of the graph, in the order in which they were named."""
        if raw_rule.get() is self:
            return _constants(self._kept_inputs)
        return tuple(over(self.inputs[i], array) for i, array in (self._kept_inputs or {}).items())

    def get_retained_outputs(self) -> tuple[Any, ...]:
        """Return the retained outputs as Variables of the graph, rebuilt where they have been deleted."""
        if raw_rule.get() is self:
            return _constants(self._kept_outputs)
        return tuple(over(self._output_node(i, array), array) for i, array in (self._kept_outputs or {}).items())

    def _output_node(self, index: int, array: Array) -> VariableNode:
        node = self.outputs[index]() if self.outputs else None
        if node is None:
            node = self._adopted(output(array, plugins.backend_of(array).spec(array), None, 0)._node, index)
            outputs = list(self.outputs)
            outputs[index] = weakref.ref(node)
            self.outputs = tuple(outputs)
        return node

    @property
    def output_data(self) -> tuple[Any, ...]:
        """The retained outputs as arrays, None for outputs that were not retained."""
        if self._kept_outputs is None:
            raise RuntimeError(f"{self.label}: no output is retained; call retain_outputs in forward")
        return tuple(carried.visible(self._kept_outputs.get(i)) for i in range(len(self.outputs)))

    def has_tangents(self, outputs: tuple[Variable, ...]) -> bool:
        """Return whether tangents of the inputs determine the tangents of `outputs`; used for functions of xpgrad."""
        return True

    # Application

    def apply(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        """Return the outputs, Variables connected to `inputs`, which are Variables or arrays of one device.

        Raises
        ------
        TypeError
            The inputs are of two backends, or `forward` returns no tuple of arrays.
        GraphError
            This object was applied already, and its outputs are still in use.
        """
        variables = [as_variable(x) for x in inputs]
        arrays = tuple(x._array for x in variables)
        _check_families(self, variables)
        mode = switches().mode
        if mode & WATCHED and config.debug:
            inspection.note(self)
        self._check_types(arrays)
        if self.inputs is not None:
            if any(ref() is not None for ref in self.outputs or ()):
                raise GraphError(f"{self.label}: this FunctionNode was already applied; create a new one")
            self.inputs = self.outputs = None
        hooks = inspection.hooks_of(self) if mode & WATCHED or self._hooks else []
        if mode & WATCHED or hooks:
            seen = tuple(map(carried.visible, arrays))
            outputs = observed(
                self, "forward", hooks, (seen,), lambda: self._forward(arrays), arrays=tuple, operands=arrays
            )
        else:
            outputs = self._forward(arrays)
        return self._connect(variables, outputs, recording=not mode & NO_GRAD)

    def _forward(self, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        self._kept_inputs = self._kept_outputs = None
        if live and arrays:
            outputs = plugins.backend_of(arrays[0]).function_outputs(self, arrays)
            if outputs is not None:
                return self._checked_outputs(outputs)
        return self._checked_outputs(call_on(arrays[0], self.forward, arrays) if arrays else self.forward(arrays))

    def _connect(
        self, variables: Sequence[Variable], outputs: Sequence[Array], *, recording: bool = True
    ) -> tuple[Variable, ...]:
        """Return Variables over the arrays `outputs`, connected to the inputs `variables`."""
        if config.debug and self.stack is None:  # else noted before `forward`
            inspection.note(self)
        kept_inputs = self._filled(self._kept_inputs, [x._array for x in variables], "retain_inputs")
        kept_outputs = self._filled(self._kept_outputs, outputs, "retain_outputs")
        results = tuple(output(y, plugins.backend_of(y).spec(y), None, 0) for y in outputs)
        needed = any(x._node.requires_grad for x in variables)
        if not (recording and needed):
            self._kept_inputs = self._kept_outputs = None
            return results
        self.rank = max((x._node.rank for x in variables), default=0)  # type: ignore[misc]  # derived classes have a dict
        self.inputs = tuple(x._node for x in variables)
        self.outputs = tuple(weakref.ref(self._adopted(y._node, i)) for i, y in enumerate(results))
        self._kept_inputs, self._kept_outputs = kept_inputs, kept_outputs
        if self.stack is not None or switches().mode & GUARDED:
            self._guards = inspection.guards([*(kept_inputs or {}).values(), *(kept_outputs or {}).values()])
        return results

    def _adopted(self, node: VariableNode, index: int) -> VariableNode:
        """Return the node of the output `index`, after making this function its creator."""
        node.creator_node, node.rank, node.requires_grad = self, self.rank + 1, node.spec.differentiable
        if index:
            node.own_extra().index = index
        return node

    def _checked_outputs(self, outputs: Any) -> tuple[Array, ...]:
        if not isinstance(outputs, tuple):
            raise TypeError(f"{self.label}: forward output must be a tuple, got {type(outputs).__name__}")
        restored = [self._restored(y) for y in outputs]
        if len({plugins.backend_of(y) for y in restored}) > 1:
            kinds = ", ".join(type(y).__name__ for y in restored)
            raise TypeError(f"{self.label}: incompatible array types are mixed in the forward output: {kinds}")
        return tuple(restored)

    def _restored(self, y: Any) -> Array:
        """Convert an output to an array: some libraries return scalars. Python's scalars are not converted."""
        kind = type(y)
        if kind not in (bool, int, float, complex) and not isinstance(y, Variable):
            if kind not in plugins.by_type and isinstance(y, plugins.scalar_types):
                return plugins.host.restore(y)
            try:
                backend = plugins.backend_of(y)
            except UnknownArray:
                pass
            else:
                try:
                    backend.check(y)
                except UnknownArray as error:  # its message already contains the remedy
                    raise UnknownArray(f"{self.label}: forward output: {error}") from None
                return y
        raise TypeError(f"{self.label}: forward output must be a tuple of ndarrays, got {kind.__name__} in it")

    def _check_types(self, arrays: tuple[Array, ...]) -> None:
        if type(self).check_type_forward is FunctionNode.check_type_forward or not config.type_check:
            return
        infos = TypeInfoTuple(TypeInfo(tuple(a.shape), a.dtype) for a in arrays)
        try:
            self.check_type_forward(infos)
        except InvalidType as error:
            error.locate(self.label, infos)
            raise

    # The sweep's side

    def pull(self, gys: tuple[Any, ...], targets: tuple[int, ...], sweep: Any) -> Sequence[Any]:
        """Return one gradient or None for each input, from Variables or None for each output; `sweep` runs it."""
        try:
            if getattr(self.backward_accumulate, "__func__", None) is FunctionNode.backward_accumulate:
                gxs = self._checked(self.backward(targets, gys), targets)
            else:
                gxs = self.backward_accumulate(targets, gys, (None,) * len(targets))
                if len(gxs) != len(targets):
                    raise self._wrong_number(gxs, len(targets), len(targets))
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            self._note_retained(error)
            raise
        result: list[Any] = [None] * len(self.inputs)
        for i, gx in zip(targets, gxs, strict=True):
            if gx is not None and not isinstance(gx, Variable):
                raise GradientError(
                    f"{self.label}: type of gradients returned from backward is incorrect: expected Variable or None, "
                    f"got {type(gx).__name__} for input {i}"
                )
            result[i] = gx
        return result

    def _note_retained(self, error: Exception) -> None:
        """Add the list of retained inputs to an error of `backward`, if `forward` did not retain all of them."""
        kept = sorted(self._kept_inputs or ())
        if len(kept) < len(self.inputs) and not isinstance(error, XpgradError):
            which = ", ".join(map(str, kept)) or "none"
            error.add_note(
                f"{self.label}: of its {len(self.inputs)} inputs forward retained {which}, and backward gets no "
                "others; to have more, call self.retain_inputs((0, ...)) in forward"
            )

    def _checked(self, gxs: Any, targets: tuple[int, ...]) -> tuple[Any, ...]:
        if not isinstance(gxs, (tuple, list)):
            gxs = (gxs,)
        if len(gxs) == len(self.inputs) != len(targets):
            return tuple(gxs[i] for i in targets)
        if len(gxs) != len(targets):
            raise self._wrong_number(gxs, len(targets), len(self.inputs))
        return tuple(gxs)

    def _wrong_number(self, gxs: Sequence[Any], expected: int, inputs: int) -> GradientError:
        wanted = f"{expected}" if expected == inputs else f"{expected} or {inputs}"
        shapes = ", ".join(str(node.shape) for node in self.inputs)
        return GradientError(
            f"number of gradients returned from backward is incorrect: {len(gxs)} != expected {wanted}; "
            f"function {self._impl_name} ({self.label}), inputs of shapes {shapes}"
        )

    def kept_inputs(self) -> tuple[Any, ...]:
        """Return the array of each input, None for inputs that were not retained; used by hooks."""
        kept = self._kept_inputs or {}
        return tuple(carried.visible(kept.get(i)) for i in range(len(self.inputs)))

    def release(self) -> None:
        """Release the retained arrays; a later sweep of this function raises."""
        self._kept_inputs = self._kept_outputs = self._guards = None
        self.pullback = RELEASED


class _Bare(FunctionNode):
    """Base of ``FunctionNode()`` instances: accepts attributes, like all classes that users derive."""


_Bare.__name__ = _Bare.__qualname__ = "FunctionNode"


def made(cls: type[FunctionNode], *args: Any, **kwargs: Any) -> FunctionNode:
    """Return a new function, which takes attributes by whichever class it is made."""
    if (args or kwargs) and cls.__init__ is object.__init__:
        raise TypeError(f"{cls.__name__}() takes no arguments")
    function: FunctionNode = new(_Bare if cls is FunctionNode else cls)
    return function


class _Released:
    """Replaces the rules of a function after `retain_graph=False` dropped the values that they need."""


RELEASED: Any = _Released()


def _constants(kept: dict[int, Any] | None) -> tuple[Variable | None, ...]:
    return tuple(None if array is None else constant_variable(array) for array in (kept or {}).values())


def _check_families(function: FunctionNode, inputs: list[Variable]) -> None:
    specs = [x._node.spec for x in inputs]
    if None in specs:
        raise UnknownArray(f"{function.label}: input {specs.index(None)} is uninitialised; give it data first")  # type: ignore[arg-type]  # a spec may be None
    for x in inputs:
        x._current(function.label)
    first = specs[0] if specs else None
    if all(spec is first for spec in specs):
        return
    if len({spec.backend for spec in specs}) > 1:
        kinds = ", ".join(f"{type(x._array).__module__}.{type(x._array).__qualname__}" for x in inputs)
        raise BackendMismatch(
            f"incompatible array types are mixed in the forward input ({function.label}): {kinds}; use to_device"
        )
    if any(spec.device != specs[0].device for spec in specs):
        devices = ", ".join(str(x.device) for x in inputs)
        raise DeviceMismatch(f"{function.label}: arrays of several devices, {devices}; move them with to_device")
