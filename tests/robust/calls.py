"""Correct calls of public functions, as the basis for wrong calls: rows of the case tables, and additional calls."""

import importlib
import inspect
import io
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
    return [call for call in found.values() if not call.name.endswith("_of")]  # kernels of functions of `special`


def of_links() -> list[Call]:
    """Return the calls of the constructors of links, and of the links themselves."""
    found: list[Call] = []
    for case in link_cases.CASES:
        space = {**vars(link_cases), "L": Recording(L, found)}
        link = types.FunctionType(case.make.__code__, space, None, None, case.make.__closure__)()
        found.append(Call(f"{case.name}.forward", link, tuple(link_cases.inputs_of(case)), {}))
    return [call for call in found if call.name != "Parameter.forward"]


# Calls that no table makes


def cubes(x: Any) -> Any:
    """Return a scalar."""
    return xpgrad.array_api.sum(x * x * x)


def squares(x: Any) -> Any:
    """Return a scalar with a minimum."""
    return xpgrad.array_api.sum(x * x)


def scaled(x: Any) -> Any:
    """Return a linear function."""
    return 2 * x


def halved(f: Any, y: Any) -> Any:
    """Solve the equation of `scaled`."""
    return y / 2


X, W = np.asarray([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]), np.asarray([0.3, 0.7, -0.2])
A, B, LINK = New(lambda: Variable(X)), New(lambda: Variable(W)), New(lambda: L.Linear(3, 2))
ROWS, STATE = [1.0, 2.0], New(xpgrad.random.get_state)
ITERATOR, OPTIMIZER = (
    New(lambda: xpgrad.iterators.SerialIterator(ROWS, 1)),
    New(lambda: optimizers.SGD().setup(L.Linear(3, 2))),
)
PLACED = (W, ([0, 1, 1], [2, 0, 1])), (2, 3)
COLUMNS = (W, [2, 0, 1], [0, 1, 2, 3]), (3, 3)
PAIR, SPEC = (1, "epoch"), "@numpy"


def file_of(save: Callable[[Any, Any], None]) -> Any:
    """Return a file of a link."""
    file = io.BytesIO()
    save(file, LINK.make())
    file.seek(0)
    return file


NPZ = New(lambda: file_of(xpgrad.serializers.save_npz))
SAFETENSORS = New(lambda: file_of(xpgrad.serializers.save_safetensors))

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
    "xpgrad.array_api": {
        "broadcast_shapes": ((2, 1), (1, 3)), "empty_like": (A,), "greater": (A, W), "greater_equal": (A, W),
        "not_equal": (A, W), "ones_like": (A,), "zeros_like": (A,),
    },
    "xpgrad.fft": {
        "fft2": (A,), "fftfreq": (5,), "ifft2": (A,), "irfft2": (A,), "rfft2": (A,), "rfftfreq": (5,),
    },
    "xpgrad.linalg": {
        "cond": (A,), "lstsq": (A, np.asarray([0.5, -1.0])), "multi_dot": ([A, W],), "norm": (A,),
        "tensorinv": (np.eye(4).reshape(2, 2, 2, 2),), "tensorsolve": (np.eye(2), np.asarray([0.5, -1.0])),
    },
    "xpgrad.ops": {
        "default_dtype": (), "diag_indices": (3,), "is_same_dtype": ("float32", "float64"), "tril_indices": (3,),
        "triu_indices": (3,),
    },
    "xpgrad.utils": {"WalkerAlias": ([0.2, 0.8],), "to_coo": (X,)},
    "xpgrad.distributions": {"Categorical": (np.asarray([0.2, 0.3, 0.5]),), "register_kl": (int, int)},
    "xpgrad.scipy.sparse": {"coo_array": PLACED, "csc_array": COLUMNS},
    "xpgrad.models": {"ChainList": (LINK,), "Sequential": (LINK, F.relu), "stack": ([LINK, LINK],)},
    "xpgrad.link_hooks": {"SpectralNormalization": (), "WeightStandardization": ()},
    "xpgrad.transforms": {
        "checkpoint": (cubes,), "custom_linear_solve": (scaled, A, halved, halved),
        "custom_root": (scaled, A, halved, halved),
        "custom_vjp": (cubes,), "custom_vmap": (cubes,), "fori_loop": (0, 3, lambda i, x: 2 * x, A),
        "grad": (cubes,), "hessian": (cubes,), "hessian_diagonal": (squares,), "hvp": (cubes, (A,), (A,)),
        "jacfwd": (cubes,), "jet": (cubes, (A,), ([X],)), "laplacian": (cubes,), "jacobian": (cubes,),
        "jacrev": (cubes,), "jvp": (cubes, (A,), (A,)), "linearize": (cubes, A),
        "odeint": (lambda y, t: -y, A, np.asarray([0.0, 0.1])), "per_example": (cubes,), "psum": (A, "i"),
        "pmean": (A, "i"), "scan": (lambda carry, x: (carry + x, x), B, A), "sparse_hessian": (cubes,),
        "sparse_jacobian": (scaled,), "stop_gradient": (A,), "value_and_grad": (cubes,), "vjp": (cubes, A),
        "vmap": (cubes,), "while_loop": (lambda x: xpgrad.array_api.max(x) < 8.5, lambda x: x + 1, A),
    },
    "xpgrad.scipy": {
        "hess": (cubes,), "hvp": (cubes,), "jac": (cubes,), "least_squares": (scaled, W), "minimize": (squares, W),
        "ravel": ([A],), "residuals": (cubes,), "root": (scaled, W), "solve_ivp": (lambda t, y: -y, (0.0, 0.1), W),
        "value_and_grad": (cubes,),
    },
    "xpgrad.serializers": {
        "load_npz": (NPZ, LINK), "load_safetensors": (SAFETENSORS, LINK), "save_npz": ("made.npz", LINK),
        "save_safetensors": ("made", LINK), "DictionarySerializer": (), "NpzDeserializer": ({},),
    },
    "xpgrad.datasets": {
        "ConcatenatedDataset": (ROWS, ROWS), "SubDataset": (ROWS, 0, 1), "TransformDataset": (ROWS, tuple),
        "TupleDataset": (ROWS, ROWS), "get_cross_validation_datasets": (ROWS, 2), "split_dataset": (ROWS, 1),
        "get_cross_validation_datasets_random": (ROWS, 2), "split_dataset_n": (ROWS, 2),
        "split_dataset_n_random": (ROWS, 2), "split_dataset_random": (ROWS, 1),
    },
    "xpgrad.dataset": {"concat_examples": (ROWS,), "to_device": (SPEC, X)},
    "xpgrad.iterators": {
        "MultithreadIterator": (ROWS, 1), "SerialIterator": (ROWS, 1), "ShuffleOrderSampler": (),
    },
    "xpgrad.training": {"StandardUpdater": (ITERATOR, OPTIMIZER), "get_trigger": (PAIR,), "make_extension": ()},
    "xpgrad.training.extensions": {
        "DumpGraph": ("loss",), "Evaluator": (ITERATOR, LINK), "ExponentialShift": ("lr", 0.5),
        "InverseShift": ("lr", 0.5, 1.0), "LinearShift": ("lr", (1.0, 0.0), (0, 9)), "LogReport": (),
        "MicroAverage": ("a", "b", "c"), "MultistepShift": ("lr", 0.5, [3]), "PlotReport": (["a"],),
        "PolynomialShift": ("lr", 0.5, 9), "PrintReport": (["a"],), "ProgressBar": (), "StepShift": ("lr", 0.5, 3),
        "WarmupShift": ("lr", 0.1, 3, 1.0), "observe_lr": (), "observe_value": ("a", len), "snapshot": (),
        "snapshot_object": (LINK, "name"),
    },
    "xpgrad.backend.random": {
        "get_state": (), "normal": ((2,),), "seed": (0,), "set_state": (STATE,), "uniform": ((2,),),
    },
    "xpgrad": {
        "backward": (New(lambda: [Variable(np.asarray(1.0))]),),
        "as_array": (X,), "as_variable": (X,), "compile": (cubes,), "get_array_module": (X,), "get_device": (SPEC,),
        "get_device_from_array": (X,), "get_dtype": ("float32",), "is_arrays_compatible": ([X],), "report": ({},),
        "report_scope": ({},), "using_device": (SPEC,),
    },
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
