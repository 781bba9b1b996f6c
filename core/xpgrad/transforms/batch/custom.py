"""`custom_vmap`: functions whose computation for a batch the user defines."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

from xpgrad.backend.levels import innermost
from xpgrad.errors import BatchError, ShapeError
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable, inside
from xpgrad.transforms.batch.axes import axes_of
from xpgrad.transforms.batch.level import BatchLevel
from xpgrad.transforms.leaves import as_leaf, is_array
from xpgrad.transforms.trees import Structure, flatten, where
from xpgrad.types import Array

P = ParamSpec("P")
R = TypeVar("R")


class custom_vmap(Generic[P, R]):  # noqa: N801 - a decorator, with JAX's name
    """A function whose computation for a batch the user defines; a decorator.

    For functions that `vmap` cannot compute on batched arrays, such as calls of another library, or for a faster
    implementation. ``@f.def_vmap`` completes it::

        @custom_vmap
        def f(x, y): ...


        @f.def_vmap
        def rule(axis_size, in_batched, x, y):
            return out, True  # out has the axis of the batch in front

    Parameters
    ----------
    f : callable
        Takes and returns trees; it is called outside of `vmap`, and for arguments shared by all batch elements.

    Notes
    -----
    The rule is used where `vmap` is the innermost transformation: in ``vmap(grad(f))``, but not in ``vmap(jvp(f))``,
    where `f` itself is called. Results computed from Variables can be differentiated, to any order. A `FunctionNode`
    that it applies gets arrays of the library, or arrays of the next `vmap`. Names and meaning are the same as in
    ``jax.custom_batching.custom_vmap``.
    """

    def __init__(self, f: Callable[P, R]) -> None:
        if not callable(f):
            raise TypeError(f"custom_vmap: expected a function, got {type(f).__name__}")
        functools.update_wrapper(self, f, updated=())
        self.function = f
        self.rule: Callable[..., Any] | None = None

    def def_vmap(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Define the computation for a batch; a decorator.

        Parameters
        ----------
        rule : callable
            Takes the size of the batch, a tuple with a tree of booleans for each argument, and the arguments. Arrays
            for which the boolean is True have the batch axis in front; other arrays are shared by all batch elements.
            Returns the result, and True, False or a tree of these, in the same way.

        Returns
        -------
        callable
            `rule` itself.
        """
        self.rule = rule
        return rule

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the result of the function, or of its rule within `vmap`."""
        level = innermost()
        if not isinstance(level, BatchLevel):
            return self.function(*args, **kwargs)
        positional: tuple[Any, ...] = args
        if kwargs:
            bound = inspect.signature(self.function).bind(*args, **kwargs)
            bound.apply_defaults()
            if bound.kwargs:
                raise TypeError(f"custom_vmap: {self.name} has keyword-only arguments; make them positional")
            positional = bound.args
        leaves, structure = flatten(positional)
        inputs = [inside(as_leaf(x, self.name)) if is_array(x) else x for x in leaves]
        flags = [isinstance(x, Variable) and x._array is not None and x._array.batched for x in inputs]
        if not any(flags):
            return self.function(*args, **kwargs)
        if self.rule is None:
            raise BatchError(f"{level.title}: {self.name} has no rule for batches yet; define it with def_vmap(rule)")
        result: R = self._by_rule(level, inputs, flags, structure)
        return result

    @property
    def name(self) -> str:
        """Name of the function."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def _by_rule(self, level: BatchLevel, inputs: list[Any], flags: list[bool], structure: Structure) -> Any:
        whole = [AllMembers().apply((x,))[0] if batched else x for x, batched in zip(inputs, flags, strict=True)]
        title = f"custom_vmap: rule of {self.name}"
        rule: Any = self.rule
        returned = rule(level.size, structure.build(flags), *structure.build(whole))
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise TypeError(f"{title}: it must return (result, batched), got {type(returned).__name__}")
        outputs, shape = flatten(returned[0])
        batched = axes_of(title, "batched", returned[1], shape, "the result", flags=True)
        made: list[Any] = []
        for y, own, path in zip(outputs, batched, shape.paths(), strict=True):
            if not own:
                made.append(y)
                continue
            what = f"{title}: result{where(path)}"
            y = inside(as_leaf(y, what))
            if y._array.batched:
                raise BatchError(
                    f"{what} depends on a batched array of an outer scope; pass it as an argument of {self.name}"
                )
            if y.shape[:1] != (level.size,):
                raise ShapeError(f"{what}: expected {level.size} batch elements along axis 0, got shape {y.shape}")
            made.append(OwnMember().apply((y,))[0])
        return shape.build(made)


# Conversion between batch elements and one array of all elements. Gradients are gradients of the sum over all
# batch elements: a shared array has the sum of the elements' gradients, and a shared cotangent counts for each of them.


class AllMembers(FunctionNode):
    """All batch elements along the first axis, as an array that is the same for all.

    A class, because it is not a function of one batch element.
    """

    of_library = True
    transposes = True

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the library's array as an array shared by all batch elements."""
        (x,) = inputs
        return (x.batching.same(x.batching.front(x)),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return to each batch element its part of the sum of all cotangents."""
        (gy,) = grad_outputs
        return (OwnMember().apply(MemberSum().apply((gy,)))[0],)


class OwnMember(FunctionNode):
    """Each batch element's own part of an array that is the same for all.

    A class, because it is not a function of one batch element.
    """

    of_library = True
    transposes = True

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the library's array with its first axis as the batch axis."""
        (x,) = inputs
        return (x.batching.made(x.values),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return all cotangents, each counted once."""
        (gy,) = grad_outputs
        return (AllMembers().apply((gy,))[0] / inside(gy)._array.batching.size,)


class MemberSum(FunctionNode):
    """The sum over the batch elements, as an array that is the same for all.

    A class, because it is not a function of one batch element.
    """

    of_library = True
    transposes = True

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the sum over the batch, which for a shared array is a multiple."""
        (x,) = inputs
        b = x.batching
        if not x.batched:
            return (b.same(b.base.restore(b.xp.multiply(x.values, b.size))),)
        return (b.same(b.base.restore(b.xp.sum(x.values, axis=0, dtype=x.dtype, keepdims=False))),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the sum of the cotangents: each batch element's input is in the sum of every batch element."""
        return MemberSum().apply(grad_outputs)
