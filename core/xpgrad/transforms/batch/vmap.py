"""`vmap`: a function of one batch element, called once for all elements of a batch."""

import functools
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, Literal

from xpgrad import array_api
from xpgrad.backend import random
from xpgrad.backend.indexing import at_axis
from xpgrad.backend.levels import live
from xpgrad.backend.plugins import plugins
from xpgrad.config import called_with
from xpgrad.errors import BatchError, ShapeError
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.batch import ports
from xpgrad.transforms.batch.axes import Axes, axes_of, check_chunk_size
from xpgrad.transforms.batch.level import BatchLevel
from xpgrad.transforms.call import Mode
from xpgrad.transforms.enclosing.level import Port, root
from xpgrad.transforms.enclosing.node import Output, left, separated
from xpgrad.transforms.leaves import as_leaf, as_leaves, is_array, known_leaf
from xpgrad.transforms.trees import Structure, flatten, where

Randomness = Literal["different", "same"]


def vmap(
    f: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0, chunk_size: int | None = None,
    axis_name: str | None = None, *, randomness: Randomness = "different",
) -> Callable[..., Any]:  # fmt: skip
    """Return `f`, a function of one batch element, as a function of a batch: one call for all batch elements.

    Parameters
    ----------
    f : callable
        Takes and returns trees of Variables. It sees shapes without the axis of the batch.
    in_axes : int, None, or tuple of these or of trees of these
        The axis of the batch in each positional argument; None for arguments shared by all batch elements. One integer
        is for all arguments. An integer in place of a tree is for all of its leaves. Keyword arguments have axis 0.
    out_axes : int, None, or tree of these
        Position of the batch axis in the result; None for results shared by all batch elements, returned once.
    chunk_size : int, optional
        Largest number of batch elements that are computed at a time, which bounds the memory.
    axis_name : str, optional
        The name of the batch, for `psum`, `pmean` and `axis_index` within `f`, and for messages.
    randomness : {"different", "same"}
        Whether random numbers differ between batch elements.

    Returns
    -------
    callable
        Takes the arguments of `f` with the axis of the batch. Arrays give arrays and Variables give Variables; results
        that depend on captured Variables that require a gradient are connected to these Variables.

    Raises
    ------
    ShapeError
        The batches of two arguments have different sizes, or an argument has no such axis.
    BatchError
        The function needs the value of a batch element, or calls a function that has no rule for batches.

    Notes
    -----
    Within the function ``float(x)`` and ``if x > 0`` raise, since the values of batch elements differ; use `xp.where`.
    Names and meaning are the same as in ``jax.vmap``.
    """
    if not callable(f):
        raise TypeError(f"vmap: expected a function, got {type(f).__name__}")
    check_chunk_size("vmap", chunk_size)
    if randomness not in ("different", "same"):
        raise ValueError(f"vmap: randomness must be 'different' or 'same', got {randomness!r}")

    @functools.wraps(f, updated=())
    def batched(*args: Any, **kwargs: Any) -> Any:
        batch = Arguments(axis_name, args, kwargs, in_axes)
        if chunk_size is None or batch.size <= chunk_size:
            results, structure = batch.called(f, out_axes, randomness)
        else:
            results, structure = _in_chunks(batch, f, out_axes, randomness, chunk_size)
        return structure.build(batch.for_user(results))

    return batched


Result = tuple[Any, int | None]
"""A Variable outside, or another object; and the axis of the batch, None if it has none."""


class Arguments:
    """The arguments of one call, and the axis of the batch in each of their leaves.

    Attributes
    ----------
    size : int
        Number of batch elements.
    """

    def __init__(self, name: str | None, args: tuple[Any, ...], kwargs: dict[str, Any], in_axes: Axes) -> None:
        title = "vmap" if name is None else f"vmap over {name}"
        self.name, self.title = name, title
        self.count, self.names = len(args), tuple(kwargs)
        self.structures: list[Structure] = []
        self.leaves: list[Any] = []
        self.axes: list[int | None] = []
        self.lead: Any = None
        sizes: dict[int, tuple[int, int]] = {}  # with the argument and the leaf
        if type(in_axes) is int:
            given = [in_axes] * len(args) + [0] * len(kwargs)
        else:
            given = [*_axes_of_arguments(title, len(args), in_axes), *[0] * len(kwargs)]
        variables: list[Variable] = []
        for i, (tree, axes) in enumerate(zip((*args, *kwargs.values()), given, strict=True)):
            leaves, structure = flatten(tree)
            self.structures.append(structure)
            if type(axes) is int:
                places: list[int | None] = [axes] * len(leaves)
            else:
                places = axes_of(title, "in_axes", axes, structure, f"argument {i}")
            for j, (leaf, axis) in enumerate(zip(leaves, places, strict=True)):
                if isinstance(leaf, Variable):
                    variables.append(leaf)
                if axis is None and not is_array(leaf):
                    self.leaves.append(leaf)
                    self.axes.append(None)
                    continue
                x: Any = leaf
                if live or type(leaf) not in plugins.by_type or type(leaf) in plugins.carriers:
                    x = known_leaf(leaf)
                    if x is None:
                        x = as_leaf(leaf, self._what(i, j))
                if axis is not None:
                    shape = x._array.shape if isinstance(x, Variable) else x.shape
                    if not -len(shape) <= axis < len(shape):
                        raise ShapeError(
                            f"{self._what(i, j)} has no axis {axis}, its shape is {shape}; pass in_axes=None for "
                            "an argument shared by all batch elements"
                        )
                    axis %= len(shape)
                    sizes.setdefault(shape[axis], (i, j))
                    if self.lead is None:
                        self.lead = x
                self.leaves.append(x)
                self.axes.append(axis)
        if not sizes:
            raise ValueError(f"{title}: no argument has an axis of the batch; give at least one an axis by in_axes")
        if len(sizes) > 1:
            raise self._sizes_differ(list(sizes.items())[:2])
        (self.size,) = sizes
        self.mode = Mode(found=variables)

    def _what(self, i: int, j: int) -> str:
        """Return the name of leaf `j` of argument `i` in messages."""
        return f"{self.title}: argument{self._where(i, j)}"

    def _where(self, i: int, j: int) -> str:
        return where((i if i < self.count else self.names[i - self.count], *self.structures[i].paths()[j]))

    def _sizes_differ(self, found: Iterable[tuple[int, tuple[int, int]]]) -> ShapeError:
        """Return the error for arguments whose batches have different sizes, from size and leaf of two arguments."""
        starts = accumulate((len(structure.paths()) for structure in self.structures), initial=0)
        first = list(starts)
        texts = []
        for n, (i, j) in found:
            x, axis = self.leaves[first[i] + j], self.axes[first[i] + j]
            texts.append(f"{n} in argument{self._where(i, j)} of shape {x.shape} along axis {axis}")
        return ShapeError(f"{self.title}: the batch has one size for all arguments, got {', and '.join(texts)}")

    def part(self, start: int, stop: int) -> "Arguments":
        """Return the arguments for some of the batch elements."""
        part: Arguments = object.__new__(Arguments)
        part.__dict__ |= self.__dict__
        part.size = stop - start
        part.leaves = [
            x if axis is None else x[at_axis(axis, slice(start, stop))]
            for x, axis in zip(self.leaves, self.axes, strict=True)
        ]
        return part

    def called(self, f: Callable[..., Any], out_axes: Axes, randomness: str) -> tuple[list[Result], Structure]:
        """Return the outer leaves of the result of `f` for all batch elements, and their structure."""
        level = BatchLevel(self.title, self.size, randomness, self.name)
        if self.name is not None:
            level.lead = as_leaf(self.lead, self.title)
        inside = []
        for x, axis in zip(self.leaves, self.axes, strict=True):
            if isinstance(x, Variable) and x._array is not None:
                port: Port = ports.shared(level) if axis is None else ports.member(level, axis)
                entered = level.entered((x,), port.inward((x._array,)), port).inside
                if entered._node.requires_grad:
                    entered._node.own_extra().passed = True
                inside.append(entered)
            elif type(x) in plugins.by_type:
                plugins.by_type[type(x)].check(x)
                level.outside.add(id(x))
                inside.append(root(ports.inside(level, x, axis), False))
            else:
                inside.append(x)
        remaining, passed = iter(inside), []
        for structure in self.structures:
            passed.append(structure.build(remaining))
        kwargs = dict(zip(self.names, passed[self.count :], strict=True))
        outputs, structure, axes = level.run(_returned, level, f, passed[: self.count], kwargs, out_axes)
        if level.captured:
            level.store()
        results: list[Result] = []
        if level.entries:
            leaving = [Output(y, ports.leaving(level, axis)) for y, axis in zip(outputs, axes, strict=True)]
            for (y,), axis in zip(left(level, leaving, unshared=True), axes, strict=True):
                results.append((y, axis))
            return results, structure
        for x, axis in zip(outputs, axes, strict=True):
            array = separated(ports.outside(x._array, axis), level.outside)
            results.append((constant_variable(array) if self.mode.variables else array, axis))
        level.forget()
        return results, structure

    def for_user(self, results: list[Result]) -> list[Any]:
        """Return results as the user receives them: Variables if arguments were, or if they are connected."""
        variables, found = self.mode.variables, []
        for y, _ in results:
            found.append(y if variables or not isinstance(y, Variable) or y._node.requires_grad else y._array)
        return found


def _returned(
    level: BatchLevel, f: Callable[..., Any], args: Any, kwargs: Any, out_axes: Axes
) -> tuple[list[Variable], Structure, list[int | None]]:
    """Call `f`, and return the leaves of its result, their structure, and the axis of the batch in each leaf."""
    result = f(*args, **kwargs)
    leaves, structure = flatten(result)
    what = f"{level.title}: what the function returned"
    axes: list[int | None]
    if type(out_axes) is int:
        axes = [out_axes] * len(leaves)
    else:
        axes = axes_of(level.title, "out_axes", out_axes, structure, "what the function returned")
    held = True
    for y in leaves:
        held = held and isinstance(y, Variable) and y._array is not None and level.holds(y._array)
    outputs: list[Variable] = leaves if held else as_leaves(leaves, structure, what)
    places: list[int | None] = []
    for i, (y, axis) in enumerate(zip(outputs, axes, strict=True)):
        if axis is None:
            if y._array.batched:
                raise BatchError(
                    f"{what}{where(structure.paths()[i])} has a value for each batch element, but out_axes is None; "
                    "give an axis, or reduce it after the call"
                )
        else:
            ndim = len(y._array.shape) + 1
            if not -ndim <= axis < ndim:
                raise ShapeError(
                    f"{what}{where(structure.paths()[i])}: out_axes is {axis}, but the result has {ndim} axes "
                    "including the batch axis"
                )
            axis %= ndim
        places.append(axis)
    return outputs, structure, places


def _in_chunks(
    batch: Arguments, f: Callable[..., Any], out_axes: Axes, randomness: str, chunk: int
) -> tuple[list[Result], Structure]:
    """Return the same as `Arguments.called`, computed for at most `chunk` batch elements at a time."""
    stops = [*range(chunk, batch.size, chunk), batch.size]
    devices = {x.device for x in batch.leaves if isinstance(x, Variable)}
    states = random.snapshot(devices) if randomness == "same" else None
    first = batch.part(0, stops[0]).called(f, out_axes, randomness)
    parts = [first]
    for start, stop in pairwise(stops):
        replayed = {} if states is None else random.replaying(states)
        parts.append(called_with(replayed, batch.part(start, stop).called, f, out_axes, randomness))
    structure = parts[0][1]
    joined: list[Result] = []
    for pieces in zip(*(results for results, _ in parts), strict=True):
        axis = pieces[0][1]
        joined.append(pieces[-1] if axis is None else (array_api.concat([y for y, _ in pieces], axis=axis), axis))
    return joined, structure


# Axes


def _axes_of_arguments(title: str, count: int, in_axes: Axes) -> Sequence[Axes]:
    """Return the axes of the batch for each of `count` positional arguments."""
    if isinstance(in_axes, (tuple, list)):
        if len(in_axes) != count:
            raise ValueError(
                f"{title}: in_axes must be an integer, None or a tuple with one for each positional argument; got "
                f"{len(in_axes)} for {count} arguments"
            )
        return in_axes
    if in_axes is None or (hasattr(in_axes, "__index__") and not isinstance(in_axes, bool)):
        return [in_axes] * count
    raise TypeError(f"{title}: in_axes must be an integer, None or a tuple, got {type(in_axes).__name__}")
