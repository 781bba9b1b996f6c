"""`make_vjp`, `make_jvp` and `primitive`: autograd's engine, implemented by xpgrad's engine."""

import functools
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any

import numpy as np

from xpgrad import FunctionNode, Variable, array_api, as_variable, get_device, no_backprop_mode
from xpgrad import primitive as xpgrad_primitive
from xpgrad.plugin import unchecked_vjp
from xpgrad.transforms import linearize
from xpgrad_autograd import nodes
from xpgrad_autograd.boxes import ArrayBox, Box, boxed, inside, is_box, is_of_program, plain, value_of
from xpgrad_autograd.spaces import numpy_dtype, vspace
from xpgrad_autograd.trees import TREES, filled, leaves, mapped
from xpgrad_autograd.wrapping import as_primitive, has_box

INDEPENDENT = "Output seems independent of input."


class NewKindError(TypeError):
    """Raised by a primitive whose result is of a type that the program has registered: only traces of nodes follow it.

    Such functions are evaluated again in a trace of nodes.
    """


class Evaluation:
    """A function of one tree, and its result.

    Parameters
    ----------
    fun : callable
    x : tree of boxes, arrays or floats

    Attributes
    ----------
    inputs : list of Variable or array
    result : tree
        The function's result, with boxes.
    """

    def __init__(self, fun: Callable[[Any], Any], x: Any) -> None:
        self.fun, self.x = fun, x
        self.inputs = [_input(leaf) for leaf in leaves(x)]

    def __call__(self, roots: list[Variable]) -> list[Variable]:
        """Return the outputs that are in the graph, for `vjp` and `linearize`."""
        given = iter(map(_root, roots))
        self.result = self.fun(mapped(lambda leaf: next(given), self.x))
        return [box.in_graph for box in leaves(self.result) if type(box) is ArrayBox]

    def value(self, outputs: Sequence[Any]) -> Any:
        """Return the function's result without this evaluation's boxes."""
        found = iter(map(_outside, outputs))
        return filled(self.result, found, lambda leaf: type(leaf) is ArrayBox)

    def gradient(self, found: Sequence[Any]) -> Any:
        """Return gradients as a tree like the argument."""
        if not isinstance(self.x, TREES):
            (g,) = found
            return plain(g) if type(g) is np.ndarray and g.dtype.kind == "f" else _outside(_conjugate(g))
        given = iter([_outside(_conjugate(g)) for g in found])
        return mapped(lambda leaf: next(given), self.x)


def _root(variable: Variable) -> ArrayBox:
    box = ArrayBox.__new__(ArrayBox)
    box.in_graph = variable
    return box


def _outside(x: Any) -> Any:
    return boxed(x) if isinstance(x, Variable) else plain(x)


def _input(leaf: Any) -> Any:
    kind = type(leaf)
    if kind is ArrayBox:
        return leaf.in_graph
    maker = Box.type_mappings.get(kind)
    if maker is None:
        if isinstance(leaf, np.ndarray) or not (hasattr(leaf, "__array_namespace__") or hasattr(leaf, "detach")):
            raise TypeError(f"Can't differentiate w.r.t. type {kind}")
        if hasattr(leaf, "detach") or leaf.ndim:
            return leaf
    elif not isinstance(maker, type):
        maker(leaf, 0, None)  # a function of the program, which may reject the argument
    array = np.asarray(leaf)
    if array.dtype == object and has_box([array]):
        return inside(array)
    return array if array.dtype.kind in "fc" else array.astype(float)


def _conjugate(x: Any) -> Any:
    """Convert a complex gradient from xpgrad's convention to autograd's, or back."""
    return x.conj() if numpy_dtype(x).kind == "c" else x


HOST_DEVICE = get_device("@numpy")
HOST = "cpu", "@numpy"  # NumPy's and xpgrad's names for the device of NumPy's arrays


def _cotangent(g: Any, like: Any) -> Any:
    """Return a cotangent of the shape and dtype of an output."""
    if type(g) is np.float64 and like.dtype == g.dtype and not like.shape:
        return np.asarray(g)
    g = inside(g) if is_box(g) else g
    if not isinstance(g, Variable) and str(like.device) not in HOST:
        g = as_variable(g).to_device(like.device)  # of another library
    if isinstance(g, Variable):
        if numpy_dtype(g).kind == "c" and numpy_dtype(like).kind != "c":
            g = array_api.real(g)
        g = g.astype(like.dtype) if g.dtype != like.dtype else g
    else:
        g = np.asarray(g)
        g = (g.real if g.dtype.kind == "c" and like.dtype.kind != "c" else g).astype(like.dtype)
    if tuple(g.shape) != tuple(like.shape):
        g = g.reshape(like.shape) if g.size == math.prod(like.shape) else np.broadcast_to(g, like.shape)
    return _conjugate(g)


def make_vjp(fun: Callable[[Any], Any], x: Any) -> tuple[Callable[[Any], Any], Any]:
    """Return the pullback of a function of one argument, and its value.

    Parameters
    ----------
    fun : callable
    x : array, float, or tuple, list or dictionary of these

    Returns
    -------
    pullback : callable
        Takes a cotangent like the value, returns a gradient like `x`; with autograd's convention for complex numbers.
    value : object
    """
    if nodes.needed(x):
        return nodes.make_vjp(fun, x)
    evaluation = Evaluation(fun, x)
    try:
        outputs, pullback = unchecked_vjp(evaluation, evaluation.inputs)
    except NewKindError:
        return nodes.make_vjp(fun, x)
    value = evaluation.value(outputs)
    if not outputs:
        warnings.warn(INDEPENDENT, stacklevel=3)
        return lambda g: vspace(x).zeros(), value
    single = type(evaluation.result) is ArrayBox
    first = outputs[0] if type(outputs[0]) is np.ndarray else evaluation.result.in_graph if single else None

    def pulled(g: Any) -> Any:
        """Return the gradient for a cotangent."""
        if single and not isinstance(g, TREES):
            given = [_cotangent(g, first)]
        else:
            pairs = zip(leaves(evaluation.result), leaves(g), strict=True)
            given = [_cotangent(each, box.in_graph) for box, each in pairs if type(box) is ArrayBox]
        return evaluation.gradient(pullback(given))

    return pulled, value


def make_jvp(fun: Callable[[Any], Any], x: Any) -> Callable[[Any], tuple[Any, Any]]:
    """Return the function from a tangent of `x` to the value of a function and its tangent."""
    if nodes.needed(x):
        return nodes.make_jvp(fun, x)

    def pushed(v: Any) -> tuple[Any, Any]:
        """Return the value and its tangent."""
        try:
            return _pushed(fun, x, v)
        except (NotImplementedError, NewKindError):  # a primitive of the program has no gradient, but perhaps a tangent
            return nodes.make_jvp(fun, x)(v)

    return pushed


def _pushed(fun: Callable[[Any], Any], x: Any, v: Any) -> tuple[Any, Any]:
    """Return the value and its tangent, computed by xpgrad's graph."""
    evaluation = Evaluation(fun, x)
    outputs, push = linearize(evaluation, evaluation.inputs, allow_constant=True)
    value = evaluation.value(outputs)
    if not outputs:
        return value, vspace(value).zeros()
    tangents = [_conjugate(_cotangent(t, like)) for t, like in zip(leaves(v), evaluation.inputs, strict=True)]
    found = iter(map(_outside, push(tangents)))
    result = evaluation.result
    return value, mapped(lambda leaf: next(found) if type(leaf) is ArrayBox else vspace(leaf).zeros(), result)


nodes.graph.update(vjp=make_vjp, jvp=_pushed)

# Functions with user-defined rules

Rule = Callable[..., Any]
primitive_vjps: dict[Any, Rule] = nodes.primitive_vjps
primitive_jvps: dict[Any, Rule] = nodes.primitive_jvps


def primitive(function: Callable[..., Any], substitute: Callable[..., Any] | None = None) -> Any:
    """Return a function of plain values whose derivatives are given by `defvjp` or `defjvp`.

    Until they are given, `substitute` is called for arrays whose derivatives are taken.
    """

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        if not has_box(args) and not any(nodes.inside_dict(x) for x in args):
            return function(*args, **kwargs)
        if nodes.among(args):
            return nodes.applied(call, args, kwargs, constant=call in nodes.constant)
        if call in nodes.constant:
            return call(*[mapped(value_of, x) for x in args], **kwargs)
        if substitute is not None and call not in primitive_vjps and call not in primitive_jvps:
            return substitute(*args, **kwargs)
        return _applied(call, args, kwargs)

    made = as_primitive(call, function)
    if substitute is None:
        nodes.without_default.add(made)
    return made


def primitive_with_deprecation_warnings(function: Callable[..., Any]) -> Any:
    """Return a primitive with the methods that defined rules before `defvjp` existed."""
    made: Any = primitive(function)
    rules: dict[int, Rule | None] = {}

    def define(argnum: int, rule: Rule | None) -> None:
        warnings.warn("rules are given by autograd.extend.defvjp; methods of primitives are deprecated", stacklevel=4)
        rules[argnum] = rule
        defvjp(made, *rules.values(), argnums=list(rules))

    def staged(rule: Rule, argnum: int) -> Rule:
        def of_all(ans: Any, *args: Any, **kwargs: Any) -> Any:
            return lambda g: rule(g, ans, vspace(args[argnum]), vspace(g), *args, **kwargs)

        return of_all

    def zero(argnum: int) -> bool:
        define(argnum, None)
        return True

    made.defgrad = lambda rule, argnum=0: define(argnum, rule)
    made.defvjp = lambda rule, argnum=0: define(argnum, staged(rule, argnum))
    made.defvjp_is_zero = lambda argnums=(0,): all(map(zero, argnums))
    return made


def notrace_primitive(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of plain values whose results have no derivatives."""

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*[mapped(value_of, x) for x in args], **kwargs)

    return call


class Application(FunctionNode):
    """A primitive of the program that was applied.

    Parameters
    ----------
    function : callable
    args, kwargs : tuple, dict
        Its arguments, with boxes.
    argnums : tuple of int
        The arguments that have boxes.
    result : object, optional
        Its result, if it was called already.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        argnums: tuple[int, ...],
        result: Any = None,
    ) -> None:
        self.function, self.args, self.kwargs, self.argnums, self.result = function, args, kwargs, argnums, result
        self.is_flat = True not in [isinstance(args[i], TREES) for i in self.argnums]

    @property
    def label(self) -> str:
        """Name of the function."""
        return getattr(self.function, "__name__", "primitive")

    def with_arrays(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return the arguments with `values` in place of the boxes."""
        if self.is_flat:
            args = [*self.args]
            for i, value in zip(self.argnums, values, strict=True):
                args[i] = value
            return tuple(args)
        given = iter(values)
        return tuple(filled(arg, given, is_box) for arg in self.args)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arrays of the result."""
        self.retain_inputs(range(len(inputs)))
        if self.result is None:
            with no_backprop_mode():  # derivatives that it takes itself are of plain values
                self.result = self.function(*self.with_arrays(list(map(plain, inputs))), **self.kwargs)
        if not isinstance(self.result, TREES):
            self.is_mixed = False
            self.retain_outputs((0,))
            return (_array(self.result),)
        self.is_flat, found = False, list(leaves(self.result))
        self.is_mixed = len(found) > 1 and len(set(map(_is_inexact, found))) > 1
        outputs = tuple(_array(leaf) for leaf in found if self.is_output(leaf))
        self.retain_outputs(range(len(outputs)))
        return outputs

    def is_output(self, leaf: Any) -> bool:
        """Return whether a leaf of the result is in the graph; integers beside floating-point arrays are not."""
        return not self.is_mixed or _is_inexact(leaf)

    def of_result(self, values: Iterable[Any]) -> Any:
        """Return the result with `values` in place of the arrays in the graph."""
        return filled(self.result, iter(values), self.is_output)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradients by the rule of the program."""
        args = self.with_arrays([boxed(x) for x in self.get_retained_inputs()])
        kept, inputs = self.get_retained_outputs(), self.inputs
        if self.is_flat:
            rule = nodes.vjp_of(self.function)(self.argnums, boxed(kept[0]), args, self.kwargs)
            found = list(rule(_seed(grad_outputs[0], kept[0])))
            return tuple([_gradient(found[i], inputs[i]) for i in target_input_indexes])
        answer = self.of_result(map(boxed, kept))
        seeds = iter([_seed(g, y) for g, y in zip(grad_outputs, kept, strict=True)])
        cotangent = mapped(lambda leaf: next(seeds) if self.is_output(leaf) else np.zeros(np.shape(leaf)), self.result)
        made = list(nodes.vjp_of(self.function)(self.argnums, answer, args, self.kwargs)(cotangent))
        found = [g for arg, g in zip(self.argnums, made, strict=True) for g in nodes.of_boxes(self.args[arg], g)]
        return tuple(_gradient(found[i], inputs[i]) for i in target_input_indexes)


def _argnums(args: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple([i for i, x in enumerate(args) if is_box(x) or (isinstance(x, TREES) and any(map(is_box, leaves(x))))])


def _is_inexact(leaf: Any) -> bool:
    return np.asarray(leaf).dtype.kind in "fc"


def _array(leaf: Any) -> Any:
    if is_of_program(leaf):
        raise NewKindError(f"expected arrays, got a value of the program's type {type(leaf).__name__}")
    if type(leaf) is ArrayBox:  # of an array of a transform
        return leaf.in_graph.array
    array = np.asarray(leaf)
    return array if array.dtype.kind in "fc" else array.astype(float)


def _seed(g: Any, y: Any) -> Any:
    return plain(np.zeros(y.shape, y.dtype)) if g is None else boxed(_conjugate(g))


def _gradient(g: Any, node: Any) -> Any:
    if g is None:
        return None
    spec = node.spec
    host = spec.backend.array_types[0] is np.ndarray
    if host and type(g) is np.ndarray and g.dtype is spec.dtype and g.shape == spec.shape and not spec.complex:
        return Variable(g)
    g = _cotangent(g, node)
    return g if isinstance(g, Variable) else Variable(g)


class Call:
    """A call of a primitive of the program whose only box is the argument `argnum`, and whose value is an array.

    Attributes
    ----------
    value : array
    """

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], argnum: int, value: Any
    ) -> None:
        self.function, self.args, self.kwargs, self.argnum, self.value = function, args, kwargs, argnum, value
        self.__name__ = getattr(function, "__name__", "primitive")

    def gradient(self, gy: Any, y: Any, x: Any) -> Any:
        """Return the gradient by the rule of the program: of arrays, or recorded for Variables."""
        host, recorded = type(gy) is np.ndarray, isinstance(gy, Variable)
        if host:
            g = self._pulled(plain(gy), plain(y), plain(x))
        else:
            g = self._pulled(boxed(gy if recorded else Variable(gy)), *[boxed(as_variable(v)) for v in (y, x)])
        if g is None or (host and type(g) is np.ndarray and g.dtype is x.dtype and g.shape == x.shape):
            return g
        g = _conjugate(_cotangent(g, x))  # as autograd has it, as within a sweep
        return as_variable(g) if recorded else g.array if isinstance(g, Variable) else g

    def _pulled(self, g: Any, ans: Any, x: Any) -> Any:
        args = [*self.args]
        args[self.argnum] = x
        (found,) = nodes.vjp_of(self.function)((self.argnum,), ans, tuple(args), self.kwargs)(g)
        return found


@xpgrad_primitive(label="{call}", x=lambda xp, gy, y, x, call: call.gradient(gy, y, x))
def _called(xp: Any, x: Any, /, *, call: Call) -> Any:
    return call.value


def _applied(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if function in nodes.transposing:
        raise nodes.not_defined(function)
    argnums, result = _argnums(args), None
    if len(argnums) == 1 and type(x := args[argnums[0]]) is ArrayBox and x.in_graph.device is HOST_DEVICE:
        (i,) = argnums
        with no_backprop_mode():  # derivatives that it takes itself are of plain values
            result = function(*args[:i], x._value, *args[i + 1 :], **kwargs)
        if not isinstance(result, TREES):
            return boxed(_called(x.in_graph, call=Call(function, args, kwargs, i, _array(result))))
    node = Application(function, args, kwargs, argnums, result)
    inputs = [x.in_graph for arg in args for x in leaves(arg) if is_box(x)]
    return node.of_result(map(boxed, node.apply(inputs)))


def defvjp_argnums(function: Callable[..., Any], rule: Rule) -> None:
    """Give a primitive a rule ``rule(argnums, ans, args, kwargs)`` that returns a function of the cotangent."""
    primitive_vjps[function] = rule


def defvjp_argnum(function: Callable[..., Any], rule: Rule) -> None:
    """Give a primitive a rule ``rule(argnum, ans, args, kwargs)`` for each argument."""

    def of_all(argnums: Sequence[int], *rest: Any) -> Callable[[Any], Any]:
        pulled = [rule(argnum, *rest) for argnum in argnums]
        return lambda g: (pull(g) for pull in pulled)

    primitive_vjps[function] = of_all


def defvjp(function: Callable[..., Any], *rules: Rule | None, argnums: Any = None) -> None:
    """Give a primitive one rule ``rule(ans, *args, **kwargs)`` for each argument; None where the gradient is zero."""
    given = dict(zip(count() if argnums is None else argnums, rules, strict=False))
    name = getattr(function, "__name__", function)
    for rule in rules:
        if rule is not None and not callable(rule):
            raise TypeError(f"defvjp: expected a function or None for {name}, got {rule!r}")

    def of_one(argnum: int, ans: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[Any], Any]:
        if argnum not in given:
            raise NotImplementedError(f"VJP of {name} wrt argnum {argnum} not defined")
        rule = given[argnum]
        return (lambda g: vspace(args[argnum]).zeros()) if rule is None else rule(ans, *args, **kwargs)

    defvjp_argnum(function, of_one)


def defjvp_argnums(function: Callable[..., Any], rule: Rule) -> None:
    """Give a primitive a rule ``rule(argnums, tangents, ans, args, kwargs)`` that returns the tangent."""
    primitive_jvps[function] = rule


def defjvp_argnum(function: Callable[..., Any], rule: Rule) -> None:
    """Give a primitive a rule ``rule(argnum, tangent, ans, args, kwargs)`` for each argument."""

    def of_all(argnums: Sequence[int], tangents: Sequence[Any], *rest: Any) -> Any:
        return nodes.sum_outgrads(rule(argnum, t, *rest) for argnum, t in zip(argnums, tangents, strict=True))

    primitive_jvps[function] = of_all


def defjvp(function: Callable[..., Any], *rules: Any, argnums: Any = None) -> None:
    """Give a primitive a rule ``rule(tangent, ans, *args, **kwargs)`` for each argument.

    "same" means that the primitive is linear in the argument, None that it does not depend on it.
    """
    given = dict(zip(count() if argnums is None else argnums, rules, strict=False))

    def of_one(argnum: int, tangent: Any, ans: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        rule = given[argnum]
        if rule is None:
            return vspace(ans).zeros()
        if rule == "same":
            return function(*args[:argnum], tangent, *args[argnum + 1 :], **kwargs)
        return rule(tangent, ans, *args, **kwargs)

    defjvp_argnum(function, of_one)


def def_linear(function: Callable[..., Any]) -> None:
    """Say that a primitive is linear in each of its arguments."""

    def rule(argnum: int, tangent: Any, ans: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return function(*args[:argnum], tangent, *args[argnum + 1 :], **kwargs)

    defjvp_argnum(function, rule)
