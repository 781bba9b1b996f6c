"""`custom_vmap`: functions whose computation for a batch the user defines."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from xpgrad.backend.levels import innermost
from xpgrad.errors import BatchError, ShapeError
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable, inside
from xpgrad.transforms.batch.axes import axes_of
from xpgrad.transforms.batch.level import BatchLevel
from xpgrad.transforms.custom import Customized
from xpgrad.transforms.leaves import as_leaf, is_array
from xpgrad.transforms.trees import Structure, flatten, where
from xpgrad.types import Array

P = ParamSpec("P")
R = TypeVar("R")


class custom_vmap(Customized[P, R]):  # noqa: N801 - a decorator, with JAX's name
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
        super().__init__(f)
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

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the result of the function, or of its rule within `vmap`."""
        level = innermost()
        if not isinstance(level, BatchLevel):
            return self.function(*args, **kwargs)
        leaves, structure = flatten(self.positional(args, kwargs))
        inputs = [inside(as_leaf(x, self.name)) if is_array(x) else x for x in leaves]
        flags = [isinstance(x, Variable) and x._array is not None and x._array.batched for x in inputs]
        if not any(flags):
            return self.function(*args, **kwargs)
        if self.rule is None:
            raise BatchError(f"{level.title}: {self.name} has no rule for batches yet; define it with def_vmap(rule)")
        result: R = self._by_rule(level, inputs, flags, structure)
        return result

    def _by_rule(self, level: BatchLevel, inputs: list[Any], flags: list[bool], structure: Structure) -> Any:
        whole = [all_members(x) if batched else x for x, batched in zip(inputs, flags, strict=True)]
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
            made.append(own_member(y))
        return shape.build(made)


# Conversion between batch elements and one array of all elements. Gradients are gradients of the sum over all
# batch elements: a shared array has the sum of the elements' gradients, and a shared cotangent counts for each of them.


class Converted(FunctionNode):
    """A conversion between batch elements and one array that is the same for all.

    A class, because it is not a function of one batch element.

    Parameters
    ----------
    convert : callable
        From an array of the batch to another.
    pull : callable
        From the cotangent to the gradient.
    """

    of_library = True
    transposes = True

    def __init__(self, convert: Callable[[Array], Array], pull: Callable[[Variable], Variable]) -> None:
        self.convert, self.pulled = convert, pull

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the converted array."""
        return (self.convert(*inputs),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradient."""
        return (self.pulled(*grad_outputs),)


def all_members(x: Variable) -> Variable:
    """Return all batch elements along the first axis, as an array that is the same for all."""
    node = Converted(lambda x: x.batching.same(x.batching.front(x)), lambda gy: own_member(member_sum(gy)))
    return node.apply((x,))[0]


def own_member(x: Variable) -> Variable:
    """Return each batch element's own part of an array that is the same for all."""
    # All cotangents are counted once.
    node = Converted(lambda x: x.batching.made(x.values), lambda gy: all_members(gy) / inside(gy)._array.batching.size)
    return node.apply((x,))[0]


def member_sum(x: Variable) -> Variable:
    """Return the sum over the batch elements, as an array that is the same for all."""
    return Converted(_member_sum, member_sum).apply((x,))[0]  # each input is in the sum of every batch element


def _member_sum(x: Array) -> Array:
    b = x.batching
    if not x.batched:
        return b.same(b.base.restore(b.xp.multiply(x.values, b.size)))
    return b.same(b.base.restore(b.xp.sum(x.values, axis=0, dtype=x.dtype, keepdims=False)))
