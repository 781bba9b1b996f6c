"""A primitive as data: its name, inputs, parameters and rules, and the arrays that each rule retains."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from xpgrad.backend.kernels import Declaration, full_name, kernel_name, table
from xpgrad.errors import PluginError
from xpgrad.types import Namespace

Rule = Callable[..., Any]
TOGETHER = "together"
"""Name of the vjp of all inputs, among those of single inputs."""


@functools.cache
def _input(name: str) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY)


def identity(xp: Namespace, gy: Any) -> Any:
    """Return the cotangent unchanged: the rule of the inputs of an addition, which pullbacks need not call."""
    return gy


class Definition:
    """One primitive.

    Attributes
    ----------
    name : str
        Name of the function, preceded by the name of its extension, for messages.
    kernel : Declaration
        Name of the kernel, which includes the module if the primitive belongs to an extension.
    vjps : dict
        From an input's name to the declaration of its vjp's kernel; for `TOGETHER`, that of all inputs.
    inputs : tuple of str
        Names of the array inputs, in order. For a variadic primitive, the name of the sequence.
    parameters : dict
        Names of the other parameters, with their defaults.
    positional : tuple of str
        The parameters that may be given by position.
    required : set of str
        The parameters that have no default.
    rules : dict
        From an input's name to its vjp; inputs without a rule have no gradient.
    asks : dict
        From an input's name, or `TOGETHER`, to the names of the arguments of its rule.
    elementwise : bool
        Inputs broadcast, and a cotangent is summed over broadcast axes.
    same_dtype : bool
        It is elementwise, and a result from inexact inputs of one dtype has that dtype.
    variadic : bool
    linear : tuple of str
        Inputs in which the function is linear while the other inputs are constant.
    symmetric : tuple of str
        Inputs with a symmetric Jacobian, so that the rule also maps tangents.
    reduction : bool or tuple of int
        Each element of the first input affects one element of the result, over the parameter `axis`, or these axes.
    several : bool
        It takes more than two inputs, or a sequence: its applications hold their input nodes in a tuple.
    title : str
        The name of the function that users call, for messages.
    label : str
        Name in messages and drawings; an operator has blanks for its operands: ``_ + _``.
    paths : dict
        The specialised call paths: "public", and where defined "operator", "reflected" and "index".
    """

    __slots__ = (
        "__weakref__", "asks", "body", "elementwise", "inputs", "kernel", "label", "linear", "name", "parameters",
        "paths", "plans", "positional", "reduction", "required", "rules", "same_dtype", "several", "signature",
        "symmetric", "title", "variadic", "vjps",
    )  # fmt: skip

    def __init__(
        self, body: Callable[..., Any], rules: dict[str, Rule], *, elementwise: bool, same_dtype: bool,
        variadic: bool = False, label: str | None = None, extension: str | None = None, linear: tuple[str, ...] = (),
        symmetric: tuple[str, ...] = (), reduction: bool | tuple[int, ...] = False, together: Rule | None = None,
    ) -> None:  # fmt: skip
        self.body, self.rules, self.name = body, rules, full_name(body, extension)
        self.elementwise, self.same_dtype, self.variadic = elementwise, same_dtype, variadic
        code = body.__code__
        positional = code.co_posonlyargcount
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.inputs = names[1:positional]
        if names[0] != "xp" or not self.inputs:
            raise PluginError(
                f"{self.name}: a primitive is defined as f(xp, x, /, ...), its array inputs before the slash"
            )
        self.several = variadic or len(self.inputs) > 2
        values = body.__defaults__ or ()
        optional = dict(zip(code.co_varnames[code.co_argcount - len(values) : code.co_argcount], values, strict=True))
        optional |= body.__kwdefaults__ or {}
        self.parameters = {name: optional.get(name, inspect.Parameter.empty) for name in names[positional:]}
        self.positional = tuple(self.parameters)[: len(self.parameters) - code.co_kwonlyargcount]
        self.required = {name for name, value in self.parameters.items() if value is inspect.Parameter.empty}
        self.label = label or body.__name__
        self.title = label if label and label.isidentifier() and not label.startswith("_") else self.name
        self.linear, self.symmetric, self.reduction = linear, symmetric, reduction
        for word, inputs in (("linear", linear), ("symmetric", symmetric)):
            if type(inputs) is not tuple or not all(x in rules for x in inputs):
                raise PluginError(
                    f"{self.name}: {word} must be a tuple of names of inputs with rules, from "
                    f"{', '.join(rules) or 'none'}; got {inputs!r}"
                )
        first, named = next(iter(self.inputs), None), "axis" in self.parameters
        if reduction and (first not in rules or (reduction is True and not named)):
            raise PluginError(
                f"{self.name}: expected a rule for the first input of a reduction, and a parameter axis or given axes; "
                f"got reduction={reduction!r}"
            )
        every = rules if together is None else {**rules, TOGETHER: together}
        self.asks = {x: self._asked(x, rule) for x, rule in every.items()}
        self.plans: dict[Any, Any] = {}
        self.signature = self._signature()
        self.paths: dict[str, Callable[..., Any]] = {}
        kernel = kernel_name(body, extension)
        self.kernel = Declaration(kernel, len(self.inputs), tuple(self.parameters), body)
        self.vjps = {
            x: Declaration(f"{kernel}.{x}", 1 + len(asked), (), None, optional=True, rule=every[x])
            for x, asked in self.asks.items()
        }
        table.define(self, (self.kernel, *self.vjps.values()))

    def __repr__(self) -> str:
        return f"<Definition {self.name}{self.signature}>"

    def _asked(self, x: str, rule: Rule) -> tuple[str, ...]:
        if x not in self.inputs and x != TOGETHER:
            raise PluginError(f"{self.name}: a rule is given for {x!r}, but the inputs are {', '.join(self.inputs)}")
        names = rule.__code__.co_varnames[: rule.__code__.co_argcount]
        known = {"y", "specs", *self.inputs, *self._spec_names(), *self.parameters}
        unknown = [name for name in names[2:] if name not in known]
        if names[:2] != ("xp", "gy") or unknown:
            raise PluginError(
                f"{self.name}: the rule of {x} must be written as (xp, gy, ...) and may ask for "
                f"{', '.join(sorted(known))}; got ({', '.join(names)})"
            )
        own = {*self.inputs, *self.parameters}
        if ambiguous := [name for name in names[2:] if name in own and name in {"y", "specs", *self._spec_names()}]:
            raise PluginError(
                f"{self.name}: the rule of {x} requires {', '.join(ambiguous)}, an argument with the name that rules "
                "use for the output or the specs of inputs; rename the argument"
            )
        return names[2:]

    def _spec_names(self) -> set[str]:
        return {f"{x}_spec" for x in self.inputs}

    def _signature(self) -> inspect.Signature:
        """Return the public signature, derived from the code object: `inspect.signature` takes 50 µs each at import."""
        make, made = inspect.Parameter, [*map(_input, self.inputs)]
        for name, default in self.parameters.items():
            kind = make.POSITIONAL_OR_KEYWORD if name in self.positional else make.KEYWORD_ONLY
            made.append(make(name, kind, default=default))
        return inspect.Signature(made, __validate_parameters__=False)

    @property
    def simple(self) -> bool:
        """Whether the specialised call path serves it: one or two inputs, no parameters, rules that ask for arrays."""
        if self.variadic or self.parameters or len(self.inputs) > 2:
            return False
        plain = {"y", *self.inputs}
        return all(name in plain or name == f"{x}_spec" for x, asked in self.asks.items() for name in asked)

    def kept(self, needed: tuple[bool, ...]) -> set[str]:
        """Return the names that must be kept if the inputs `needed` require a gradient."""
        wanted = self.inputs if self.variadic else [x for x, need in zip(self.inputs, needed, strict=True) if need]
        return {name for x in wanted for name in self.asks.get(x, ())}

    @property
    def casts(self) -> bool:
        """Whether the result has an optional dtype that no rule requires: such calls are checked."""
        return self.parameters.get("dtype", self) is None and not any("dtype" in asked for asked in self.asks.values())

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return inputs and parameters of a call; errors are the same as for a plain Python function."""
        count = len(self.inputs)
        if len(args) == count and kwargs.keys() == self.parameters.keys():
            return args, kwargs
        named = self.positional[: len(args) - count] if len(args) > count else ()
        if len(args) == count + len(named) and kwargs.keys().isdisjoint(named):
            parameters = {**self.parameters, **dict(zip(named, args[count:], strict=True)), **kwargs}
            if len(parameters) == len(self.parameters) and self.required <= {*named, *kwargs}:
                return args[:count], parameters
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}{self.signature}: {error}") from None
        bound.apply_defaults()
        values = list(bound.arguments.values())
        return tuple(values[:count]), dict(zip(self.parameters, values[count:], strict=True))
