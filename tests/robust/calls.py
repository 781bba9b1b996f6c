"""Correct calls of public functions, of which a test makes wrong ones: those of the tables of cases, and others."""

import importlib
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from tests.core.links import link_cases

import xpgrad
from xpgrad import Variable, optimizers
from xpgrad import functions as F
from xpgrad import links as L
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.scenario import Scenario, dtypes_of

Arguments = tuple[Any, ...]


class Call(NamedTuple):
    """A correct call of a public function."""

    name: str
    function: Callable[..., Any]
    args: Arguments
    kwargs: dict[str, Any]
    first: int = 0
    """Position of the first argument that may be wrong: 1 in methods."""

    def places(self) -> Iterator[Any]:
        """Yield the place of each argument: a position, the name of one, or a position and one in its sequence."""
        for i, value in enumerate(self.args[self.first :], self.first):
            yield i
            if type(value) in (list, tuple) and value:
                yield i, len(value) - 1
        yield from self.kwargs
        parameters = list(inspect.signature(self.function).parameters.values())[len(self.args) :]
        named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        yield from (p.name for p in parameters if p.kind in named and p.name not in self.kwargs)

    def made(self, place: Any, value: Any) -> tuple[list[Any], dict[str, Any]]:
        """Return new arguments, with `value` at a place."""
        args, kwargs = [renewed(x) for x in self.args], {name: renewed(x) for name, x in self.kwargs.items()}
        if isinstance(place, str):
            kwargs[place] = value
        elif isinstance(place, tuple):
            i, j = place
            items = list(args[i])
            items[j] = value
            args[i] = type(args[i])(items)
        else:
            args[place] = value
        return args, kwargs


class New(NamedTuple):
    """An argument that each call needs anew."""

    make: Callable[[], Any]


def renewed(x: Any) -> Any:
    """Return an argument, with new Variables over the same arrays."""
    if isinstance(x, New):
        return x.make()
    if type(x) is Variable:
        return Variable(x.array, requires_grad=x.requires_grad)
    if type(x) in (list, tuple):
        return type(x)(renewed(each) for each in x)
    return x


class Recording:
    """A namespace that notes the calls of its functions, and of the constructors of its links."""

    def __init__(self, target: Any, calls: list[Call], prefix: str = "") -> None:
        self._target, self._calls, self._prefix = target, calls, prefix

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if isinstance(found, types.ModuleType):
            return Recording(found, self._calls, f"{self._prefix}{name}.")
        if not callable(found) or (isinstance(found, type) and not issubclass(found, xpgrad.Link)):
            return found

        def noted(*args: Any, **kwargs: Any) -> Any:
            noted_kwargs = {key: renewed(value) for key, value in kwargs.items()}
            self._calls.append(Call(f"{self._prefix}{name}", found, renewed(args), noted_kwargs))
            return found(*args, **kwargs)

        return noted


def of_cases() -> list[Call]:
    """Return the calls that the cases of the table make of public functions, one of each kind."""
    device, found = xpgrad.get_device("@numpy"), dict[Any, Call]()
    for case in CASES:
        scenario, calls = Scenario(case, device, dtypes_of(case)[0]), list[Call]()
        prefix = "" if case.area == "xp" else f"{case.area}."
        case.call(Recording(scenario.xp, calls, prefix), *scenario.variables(scenario.arrays()))
        for call in calls:
            found.setdefault((call.name, len(call.args), *sorted(call.kwargs)), call)
    return list(found.values())


def of_links() -> list[Call]:
    """Return the calls of the constructors of links, and of the links themselves."""
    found: list[Call] = []
    for case in link_cases.CASES:
        space = {**vars(link_cases), "L": Recording(L, found)}
        link = types.FunctionType(case.make.__code__, space)()
        found.append(Call(f"{case.name}.forward", link, tuple(link_cases.inputs_of(case)), {}))
    return [call for call in found if call.name != "Parameter.forward"]


# Calls that no table makes

X, W = np.asarray([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]), np.asarray([0.3, 0.7, -0.2])
A, LINK = New(lambda: Variable(X)), New(lambda: L.Linear(3, 2))
PAIR, SPEC = (1, "epoch"), "@numpy"
TABLE: dict[str, dict[str, Arguments]] = {
    "xpgrad.initializers": {
        "Constant": (0.5,), "generate_array": (xpgrad.initializers.Normal(), (2, 3)), "get_fans": ((2, 3),),
        "Normal": (), "Uniform": (),
        "Orthogonal": (), "Identity": (), "HeNormal": (), "GlorotUniform": (), "UpsamplingDeconvFilter": (),
    },
    "xpgrad.optimizers": {name: () for name in optimizers.__all__ if name not in ("Rule", "schedules")},
    "xpgrad.optimizers.schedules": {
        "constant": (0.1,), "cosine": (0.1, 10), "exponential": (0.1, 0.5, 2), "inverse_sqrt": (0.1, 2),
        "linear_warmup": (10, 0.1), "piecewise": (0.1, {2: 0.5}), "polynomial": (0.1, 10),
    },
    "xpgrad.optimizer_hooks": {
        "GradientClipping": (1.0,), "GradientHardClipping": (-1.0, 1.0), "GradientLARS": (), "GradientNoise": (0.1,),
        "Lasso": (0.1,), "WeightDecay": (0.1,),
    },
    "xpgrad.training.triggers": {
        "BestValueTrigger": ("a", max), "EarlyStoppingTrigger": (), "IntervalTrigger": PAIR,
        "ManualScheduleTrigger": ([1, 2], "epoch"), "MaxValueTrigger": ("a",), "MinValueTrigger": ("a",),
        "OnceTrigger": (), "TimeTrigger": (10,),
    },
    "xpgrad.models": {"ChainList": (LINK,), "Sequential": (LINK, F.relu), "stack": ([LINK, LINK],)},
    "xpgrad.link_hooks": {"SpectralNormalization": (), "WeightStandardization": ()},
}  # fmt: skip
"""Arguments by module and function."""
METHODS: dict[str, Arguments] = {
    "all": (), "any": (), "argmax": (), "argmin": (), "argsort": (), "astype": (np.float32,), "clip": (-1.0, 1.0),
    "conj": (), "copy": (), "cumprod": (0,), "cumsum": (0,), "diagonal": (), "dot": (W,), "flatten": (), "max": (),
    "mean": (), "min": (), "prod": (), "ravel": (), "repeat": (2,), "reshape": (3, 2), "round": (), "squeeze": (),
    "std": (), "sum": (), "swapaxes": (0, 1), "take": ([0, 1],), "trace": (), "transpose": (1, 0), "var": (),
    "__getitem__": ((0, slice(None)),), "__add__": (W,), "__mul__": (W,), "__matmul__": (W,), "__pow__": (2.0,),
    "__truediv__": (W,), "__rsub__": (1.0,), "__lt__": (W,), "to_device": (SPEC,),
}  # fmt: skip
"""Arguments of methods of a Variable."""


def of_modules() -> list[Call]:
    """Return the calls of functions that are in no table of cases."""
    found = []
    for module, functions in TABLE.items():
        space = importlib.import_module(module)
        found += [Call(f"{module}.{name}", getattr(space, name), args, {}) for name, args in functions.items()]
    return found


def of_methods() -> list[Call]:
    """Return the calls of methods of Variables."""
    return [Call(f"Variable.{name}", getattr(Variable, name), (A, *args), {}, 1) for name, args in METHODS.items()]
