"""Public names listed by the modules, each with one home module."""

import ast
import functools
import importlib
import inspect
from dataclasses import dataclass
from itertools import zip_longest
from types import ModuleType
from typing import Any

MODULES = {
    "xpgrad": "Variables, gradients, devices, configuration, errors, and what programs begin with",
    "xpgrad.array_api": "The Array API standard of Variables",
    "xpgrad.array_api.linalg": "Its extension for linear algebra",
    "xpgrad.array_api.fft": "Its extension for Fourier transforms",
    "xpgrad.ops": "What the standard lacks",
    "xpgrad.special": "Special functions by SciPy's names",
    "xpgrad.transforms": "Functions of functions",
    "xpgrad.functions": "Functions of neural networks, by Chainer's names",
    "xpgrad.linalg": "`numpy.linalg` of Variables",
    "xpgrad.fft": "`numpy.fft` of Variables",
    "xpgrad.distributions": "Probability distributions",
    "xpgrad.scipy": "SciPy's optimisers and solvers with exact derivatives",
    "xpgrad.scipy.fft": "SciPy's cosine and sine transforms",
    "xpgrad.scipy.integrate": "SciPy's integrals",
    "xpgrad.scipy.interpolate": "SciPy's interpolants",
    "xpgrad.scipy.linalg": "SciPy's linear algebra",
    "xpgrad.scipy.ndimage": "SciPy's filters of images",
    "xpgrad.scipy.signal": "SciPy's signal processing",
    "xpgrad.scipy.sparse": "SciPy's sparse matrices",
    "xpgrad.scipy.sparse.linalg": "SciPy's solvers of sparse systems",
    "xpgrad.scipy.spatial": "SciPy's distances and rotations",
    "xpgrad.scipy.spatial.distance": "Its distances",
    "xpgrad.scipy.spatial.transform": "Its rotations",
    "xpgrad.scipy.stats": "SciPy's distributions",
    "xpgrad.models": "Links, chains, and models as trees",
    "xpgrad.links": "Layers with parameters",
    "xpgrad.link_hooks": "Hooks of links",
    "xpgrad.initializers": "First values of parameters",
    "xpgrad.optimizer": "Optimizers and their hooks",
    "xpgrad.optimizers": "Formulas of optimizers",
    "xpgrad.optimizers.schedules": "Schedules of hyperparameters",
    "xpgrad.optimizer_hooks": "Hooks of optimizers",
    "xpgrad.serializers": "Models in files",
    "xpgrad.dataset": "Batches of examples",
    "xpgrad.datasets": "Data sets",
    "xpgrad.iterators": "Iterators over data sets",
    "xpgrad.training": "The training loop",
    "xpgrad.training.extensions": "Extensions of trainers",
    "xpgrad.training.triggers": "Triggers of extensions",
    "xpgrad.training.updaters": "Updaters of trainers",
    "xpgrad.reporter": "Reported values",
    "xpgrad.function_hooks": "Hooks of functions: time and memory",
    "xpgrad.drawing": "Pictures of graphs, programs and models",
    "xpgrad.computational_graph": "Graphs by Chainer's names",
    "xpgrad.backend": "Devices by Chainer's names",
    "xpgrad.backends.cuda": "Chainer's `cuda`",
    "xpgrad.utils": "Tools by Chainer's names",
    "xpgrad.utils.type_check": "Checks of types by Chainer's names",
    "xpgrad.backend.random": "Random numbers of devices",
    "xpgrad.interop": "Doors to other libraries",
    "xpgrad.interop.einops": "What einops looks for",
    "xpgrad.interop.stand_in": "Modules of one package under the name of another",
    "xpgrad.testing": "Comparisons of arrays",
    "xpgrad.testing.gradient_check": "Checks of gradients",
    "xpgrad.plugin": "What backends and adapters are written with",
    "xpgrad.errors": "Errors and warnings",
    "xpgrad.types": "Types of annotations",
    "xpgrad_conformance": "The conformance suite",
}
"""The public modules, in the order in which they are the home of a name; with what each has."""


@dataclass(frozen=True)
class Name:
    """A public name: its home is the first module that lists its object, or the name itself."""

    module: str
    name: str
    value: Any
    home: str

    @property
    def path(self) -> str:
        """``module.name``."""
        return f"{self.module}.{self.name}"

    @property
    def is_home(self) -> bool:
        """Return whether this module is the home."""
        return self.path == self.home


def listed(module: ModuleType) -> list[str]:
    """Return the names that a module lists in ``__dir__`` if it defines that function, else in ``__all__``.

    For a module without these lists, return the names that it defines and its documented constants.
    """
    if "__dir__" in vars(module):
        return [name for name in dir(module) if not name.startswith("__")]
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (getattr(value, "__module__", None) == module.__name__ or name in constants(module))
    )


def constants(module: ModuleType) -> dict[str, tuple[str, str]]:
    """Return the assigned expression, and the string after it, for each name assigned in the source of a module."""
    found: dict[str, tuple[str, str]] = {}
    try:
        body = ast.parse(inspect.getsource(module)).body
    except (OSError, TypeError):
        return found
    for statement, after in zip_longest(body, body[1:]):
        if isinstance(statement, ast.AnnAssign):
            target, value = statement.target, statement.value
        elif isinstance(statement, ast.Assign):
            target, value = statement.targets[0], statement.value
        else:
            continue
        if isinstance(target, ast.Name) and value is not None:
            text = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                text = inspect.cleandoc(str(after.value.value))
            found[target.id] = ast.unparse(value), text
    return found


def is_object(value: Any) -> bool:
    """Return whether a value is a function or a class of this project, which has a single home module."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return False
    return str(getattr(value, "__module__", "")).partition(".")[0].startswith("xpgrad")


@functools.cache
def names() -> tuple[Name, ...]:
    """Return the public names of all public modules, excluding modules."""
    first: dict[int, str] = {}
    found = []
    for path in MODULES:
        module = importlib.import_module(path)
        for name in listed(module):
            try:
                value = getattr(module, name)
            except ImportError:  # an adapter to a library that is not installed
                continue
            if inspect.ismodule(value):
                continue
            home = f"{path}.{name}"
            if is_object(value):
                home = first.setdefault(id(value), home)
            found.append(Name(path, name, value, home))
    return tuple(found)


@functools.cache
def homes() -> dict[int, str]:
    """Return a mapping from the identity of each function or class to its home."""
    return {id(name.value): name.home for name in names() if is_object(name.value)}


@functools.cache
def paths() -> dict[str, str]:
    """Return the home of each public name."""
    return {name.path: name.home for name in names()}


@functools.cache
def by_short_name() -> dict[str, list[str]]:
    """Return the homes of all objects with the same unqualified name, in the order of the modules."""
    found: dict[str, list[str]] = {}
    for name in names():
        if name.home not in found.setdefault(name.name, []):
            found[name.name].append(name.home)
    return found


def summary(text: str | None) -> str:
    """Return the first sentence of a docstring, on one line."""
    first = (text or "").strip().partition("\n\n")[0].replace("\n", " ")
    return first if len(first) <= 160 else first.partition(". ")[0].rstrip(".") + "."
