"""`Evaluation`: one evaluation of a user's function on new roots, shared by all transforms."""

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.config import NO_GRAD, backprop_mode, called_with, switches
from xpgrad.errors import DtypeError
from xpgrad.graph.backward import gradients
from xpgrad.graph.methods.cuts import GraphEnds
from xpgrad.graph.methods.ending import NumberWatch
from xpgrad.graph.node import VariableNode
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.containers import is_array_like
from xpgrad.transforms.leaves import alias, as_leaves, cotangents, real_scalar, requires_grad, root_over, variables_in
from xpgrad.transforms.trees import Structure, flatten, leaves_in, map_leaves

OUTSIDE, WITHIN, RECORDED = range(3)
_inside: ContextVar[int] = ContextVar("xpgrad_inside_transform", default=OUTSIDE)


def transforming(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Return the result of a user's function; a graph is recorded, and transforms within it return Variables."""
    return called_with(transformed_mode(), function, *args, **kwargs)


def transformed_mode() -> dict[ContextVar[Any], Any]:
    """Return, for `called_with`, the mode of `transforming`."""
    return {_inside: RECORDED, **backprop_mode(True)}


def within(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Return the result of a user's function; inner transforms return Variables, connected only if necessary."""
    return called_with({_inside: max(_inside.get(), WITHIN), **backprop_mode(True)}, function, *args, **kwargs)


def recording() -> bool:
    """Return whether this thread records a graph."""
    return not switches().mode & NO_GRAD


class Mode:
    """How the results of a transform are returned, which depends on where it is called and on its arguments.

    Attributes
    ----------
    variables : bool
        As Variables: one of the arguments is a Variable, or the call is made inside another transform.
    recorded : bool
        Connected to the graph that the arguments belong to.
    within : bool
        The call is made inside another transform, which may ask for other derivatives.

    Parameters
    ----------
    *arguments : object
    found : sequence of Variable, optional
        The Variables among the leaves of the arguments, where these are known.
    """

    def __init__(self, *arguments: Any, found: Sequence[Variable] | None = None) -> None:
        unrecorded = switches().mode & NO_GRAD
        inside = OUTSIDE if unrecorded else _inside.get()
        if found is None:
            found = variables_in(arguments)
        self.variables, self.within = bool(inside or found), bool(inside)
        self.recorded = inside == RECORDED or bool(found and not unrecorded and requires_grad(found))

    def computed(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(*args)``, which records a graph only if the results are to be connected."""
        return function(*args) if self.recorded else called_with(backprop_mode(False), function, *args)

    def for_user(self, tree: Any) -> Any:
        """Return `tree` with its Variables as the user receives them."""
        return map_leaves(self.leaf_for_user, tree)

    def leaf_for_user(self, leaf: Any) -> Any:
        """Return one leaf as `for_user` returns it."""
        if not isinstance(leaf, Variable):
            return leaf
        if not self.variables:
            return leaf._array
        return leaf if self.recorded or not leaf._node.requires_grad else constant_variable(leaf._array)


class RootArgument:
    """One argument to differentiate by: a tree whose floating-point leaves become roots.

    Attributes
    ----------
    roots : list of Variable
    structure : Structure
    tree : object
        The argument with its roots, which the function receives.

    Parameters
    ----------
    value : tree
    mode : Mode
    what : str
        Name in messages.
    make : callable
        ``make(x, mode)`` returns the root for a Variable.
    """

    def __init__(
        self, value: Any, mode: Mode, what: str, make: Callable[[Variable, Mode], Variable] | None = None
    ) -> None:
        leaves, self.structure = flatten(value)
        variables = as_leaves(leaves, self.structure, what)
        self.counts: list[bool] = []
        self.roots: list[Variable] = []
        self._leaves: list[Any] = []
        make = make or new_root
        for leaf, x in zip(leaves, variables, strict=True):
            counts = x._node.spec.differentiable
            if counts:
                leaf = make(x, mode)
                self.roots.append(leaf)
            self._leaves.append(leaf)
            self.counts.append(counts)
        if not self.roots and (self.structure.kind is None or leaves):
            got = ", ".join(sorted({repr(x._node.spec) for x in variables}))
            raise DtypeError(f"{what}: integers and booleans have no gradient, got {got}; give floating-point numbers")
        self.tree = self.structure.build(self._leaves)

    def replaced(self, roots: Iterator[Variable]) -> Any:
        """Return the argument with its roots replaced by the next of `roots`."""
        pairs = zip(self._leaves, self.counts, strict=True)
        return self.structure.build([next(roots) if counts else leaf for leaf, counts in pairs])

    def filled(self, values: Iterable[Any]) -> Any:
        """Return the tree with the next of `values` for each root, and None for the other leaves."""
        remaining, leaves = iter(values), []
        for counts in self.counts:
            leaves.append(next(remaining) if counts else None)
        return self.structure.build(leaves)

    def picked(self, leaves: Sequence[Any]) -> list[Any]:
        """Return the entries of `leaves`, one for each leaf of the argument, that belong to roots."""
        return [leaf for leaf, counts in zip(leaves, self.counts, strict=True) if counts]


def new_root(x: Variable, mode: Mode) -> Variable:
    """Return a root over the array of `x`, connected to `x` if results of the transform are to be connected."""
    if mode.recorded and x._node.requires_grad:
        connected: Variable = called_with(backprop_mode(True), alias, x)
        return connected
    return root_over(x)


class Evaluation:
    """One evaluation of ``f(*args, **kwargs)``, with the arguments `argnums` as roots of a graph.

    Attributes
    ----------
    arguments : list of RootArgument
    outputs : list of Variable
        The leaves of the tree that `f` returned.
    structure : Structure
        The structure of that tree.
    aux : object
        The auxiliary output of `f`, with `has_aux`.
    watch : NumberWatch
        The numbers that `f` took out of Variables.
    """

    def __init__(
        self, name: str, f: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool, args: tuple[Any, ...],
        kwargs: dict[str, Any], *more: Any, allow_constant: bool = False,
    ) -> None:  # fmt: skip
        if not callable(f):
            raise TypeError(f"{name}: expected a function, got {type(f).__name__}")
        self.name, self.single = name, hasattr(argnums, "__index__")
        self.mode = Mode(args, kwargs, more)
        places = places_of(argnums, len(args), name)
        passed, made = list(args), dict[int, RootArgument]()
        self.arguments: list[RootArgument] = []
        self.roots: list[Variable] = []
        self._watched: list[VariableNode] = []
        for i in places:
            if i not in made:
                made[i] = RootArgument(args[i], self.mode, f"{name}: argument {i}")
                passed[i] = made[i].tree
            self.arguments.append(made[i])
            for x in made[i].roots:
                self.roots.append(x)
                self._watched.append(x._node)
        self._places, self._allow_constant = places, allow_constant
        self.watch = NumberWatch(self._watched, self.mode.recorded or self.mode.within)
        cuts = GraphEnds(None, lambda given: bool(self.watch.roots_of(x._node for x in given)))
        entered = self.watch.entered() | cuts.entered() | transformed_mode()
        result = called_with(entered, f, *passed, **kwargs)
        self.aux: Any = None
        if has_aux:
            result, self.aux = with_aux(name, result)
        self.outputs, self.structure = output_leaves(name, result, allow_constant)
        accepted = allow_constant and not self.watch.rejecting
        if self.watch:
            self.check_dependence(self.outputs, "what the function returned")
            if not accepted or self.watch.roots_of(y._node for y in self.outputs):
                self.watch.warn()
        if cuts.found and not accepted and not self.watch.roots_of(y._node for y in self.outputs):
            cuts.refuse(name, self.watch.rejecting, self.outputs, leaves_in(result))

    def check_dependence(self, outputs: Sequence[Variable | None], what: str) -> None:
        """Raise if `outputs` do not depend on an argument because the function took a number out of a Variable.

        `what` names them in the error.
        """
        if self._allow_constant or not self.watch:
            return
        nodes, remaining = [y._node for y in outputs if y is not None], iter(self._watched)
        for i, argument in zip(self._places, self.arguments, strict=True):
            roots = [next(remaining) for _ in argument.roots]
            text = f"{self.name}: {what} does not depend on argument {i}"
            self.watch.refuse(nodes, roots, text, "; allow_constant=True gives zeros")

    def gradients(self, cotangents: Sequence[Variable | None], *, recorded: bool) -> list[Variable | None]:
        """Return the gradient of each root, from a cotangent of each output; None for an output means zeros."""
        return pulled(self.outputs, self.roots, cotangents, recorded=recorded)

    def number(self, holomorphic: bool | None = None) -> Variable:
        """Return the single output, which must be one real number; `holomorphic` is as for `real_scalar`."""
        if self.structure.kind is not None and not is_array_like(self.structure.kind):
            raise TypeError(
                f"{self.name}: the function must return one number, got {self.structure.kind.__name__}; for a number "
                "and other outputs use has_aux=True"
            )
        return real_scalar(self.outputs[0], self.name, holomorphic)

    def output(self) -> Any:
        """Return the output of the function as the user receives it."""
        return self.mode.for_user(self.structure.build(self.outputs))

    def aux_for_user(self) -> Any:
        """Return the auxiliary output as the user receives it."""
        return self.mode.for_user(self.aux)

    def over_arguments(self, values: Iterable[Any]) -> Any:
        """Return the arguments with `values` in place of their leaves, as the function of this name."""
        return over_arguments(self.arguments, values, single=self.single)


def over_arguments(arguments: Sequence[RootArgument], values: Iterable[Any], *, single: bool) -> Any:
    """Return a tuple with a tree of the roots' `values` for each argument; only the tree if `argnums` is an int."""
    remaining, trees = iter(values), []
    for argument in arguments:
        trees.append(argument.filled(remaining))
    return trees[0] if single else tuple(trees)


def with_aux(name: str, result: Any) -> tuple[Any, Any]:
    """Return the result of a function with an auxiliary output, after a check."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(
            f"{name}: with has_aux=True the function must return (output, aux), got {type(result).__name__}"
        )
    return result


def output_leaves(name: str, result: Any, allow_constant: bool) -> tuple[list[Variable], Structure]:
    """Return the function's result as Variables and their structure; raise if none can have a derivative."""
    leaves, structure = flatten(result)
    outputs = as_leaves(leaves, structure, f"{name}: what the function returned")
    differ = allow_constant or not leaves
    for leaf, y in zip(leaves, outputs, strict=True):
        spec = y._node.spec
        differ = differ or spec.differentiable
        if not differ and plugins.is_scalar(leaf):
            differ = not spec.backend.is_kind(y.dtype, "bool")
    if not differ:
        got = ", ".join(sorted({repr(y._node.spec) for y in outputs}))
        raise DtypeError(
            f"{name}: the function must return floating-point numbers, got {got}: integers and booleans have no "
            "gradient; convert them before, or pass allow_constant=True for zeros"
        )
    return outputs, structure


def pulled(
    outputs: Sequence[Variable], roots: Sequence[Variable], cotangents: Sequence[Variable | None], *, recorded: bool
) -> list[Variable | None]:
    """Return the gradients of `roots`, from those outputs that have a cotangent and a graph."""
    starts = []
    for y, g in zip(outputs, cotangents, strict=True):
        if g is not None and y._node.requires_grad:
            starts.append((y, g))
    if not starts:
        return [None] * len(roots)
    # The sweep may call a user's function again: a checkpoint, a backward rule.
    found: list[Variable | None] = called_with(transformed_mode(), gradients, starts, roots, recorded)
    return found


def directions(name: str, arguments: Sequence[RootArgument], tangents: Any) -> list[Variable]:
    """Return the leaves of `tangents`, one for each root of the arguments.

    Raises
    ------
    TypeError, StructureError, GradientError
        There is not one tangent for each argument, or one does not fit.
    """
    if not isinstance(tangents, (tuple, list)) or len(tangents) != len(arguments):
        raise TypeError(f"{name}: expected a tuple of {len(arguments)} tangents, one for each primal")
    found: list[Variable] = []
    for i, (argument, tangent) in enumerate(zip(arguments, tangents, strict=True)):
        what = f"{name}: tangent {i}"
        found += cotangents(argument.structure, tangent, argument.roots, what, argument.counts)
    return found


def places_of(argnums: int | Sequence[int], count: int, name: str) -> list[int]:
    """Return `argnums` as positions among `count` arguments of the transform `name`."""
    if type(argnums) is int and -count <= argnums < count:
        return [argnums % count]
    try:
        given: Any = argnums
        places = [operator.index(i) for i in ([given] if hasattr(given, "__index__") else given)]
    except TypeError:
        raise TypeError(
            f"{name}: argnums must be an integer or a sequence of integers, got {argnums!r}; differentiated "
            "arguments are positional"
        ) from None
    if wrong := [i for i in places if not -count <= i < count]:
        raise ValueError(
            f"{name}: argnums names argument {wrong[0]}, but {count} positional arguments were given; keyword "
            "arguments are not differentiated"
        )
    return [i % count for i in places]
