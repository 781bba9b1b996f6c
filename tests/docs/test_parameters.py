"""Docstrings of public functions and classes: each parameter has its line, or a reference to another function."""

import contextlib
import importlib
import inspect
import re

MODULES = [
    "xpgrad", "xpgrad.array_api", "xpgrad.array_api.linalg", "xpgrad.array_api.fft", "xpgrad.ops",
    "xpgrad.functions", "xpgrad.links", "xpgrad.optimizers", "xpgrad.optimizer_hooks", "xpgrad.initializers",
    "xpgrad.distributions", "xpgrad.special", "xpgrad.transforms", "xpgrad.scipy", "xpgrad.scipy.linalg",
    "xpgrad.scipy.signal", "xpgrad.scipy.ndimage", "xpgrad.scipy.interpolate", "xpgrad.scipy.integrate",
    "xpgrad.scipy.fft", "xpgrad.scipy.stats", "xpgrad.scipy.sparse", "xpgrad.scipy.sparse.linalg",
    "xpgrad.scipy.spatial.distance", "xpgrad.training", "xpgrad.training.extensions", "xpgrad.training.triggers",
    "xpgrad.training.updaters", "xpgrad.iterators", "xpgrad.datasets", "xpgrad.serializers", "xpgrad.plugin",
    "xpgrad.drawing", "xpgrad.interop", "xpgrad.testing",
]  # fmt: skip
OPERANDS = "x x1 x2 xs a b y z input dataset datasets args kwargs kw kwds self"
"""Names of the arrays that a function is about, which its first line describes."""
REFERENCE = re.compile(
    r"(as (for|in|of)|as those of|same as|like|it is|are those of|with (the )?arguments|of|see|from|by) +`[\w.]+`"
    r"|`(numpy|scipy|chainer)\.[\w.]+`"
)


def described(found) -> list[str]:
    """Return the parameters of a function or class that its docstring does not mention."""
    text = " ".join((inspect.getdoc(found) or "").split())
    if inspect.isclass(found):
        text += " ".join((inspect.getdoc(found.__init__) or "").split())
    names = [
        name
        for name in inspect.signature(found).parameters
        if name not in OPERANDS.split() and not name.startswith("_")
    ]
    missing = [name for name in names if not re.search(rf"\b{re.escape(name)}\b", text)]
    return [] if REFERENCE.search(text) else missing


def test_parameters_have_a_line() -> None:
    missing = {}
    for public in map(importlib.import_module, MODULES):
        for name in getattr(public, "__all__", dir(public)):
            found = getattr(public, name)
            if (inspect.isfunction(found) or inspect.isclass(found)) and str(found.__module__).startswith("xpgrad"):
                with contextlib.suppress(ValueError):  # a class of errors without a signature
                    missing[f"{public.__name__}.{name}"] = [each for each in described(found) if each != "xp"]
    assert {name: names for name, names in missing.items() if names} == {}
