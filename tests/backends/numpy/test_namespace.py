"""The namespace of NumPy's backend: array_api_compat is imported when a name is used that NumPy lacks."""

import inspect
import itertools
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import array_api_compat
import array_api_compat.numpy as compat
import numpy as np
import pytest
from tests.processes import output_of

import xpgrad
from xpgrad.backend.standard import DTYPES
from xpgrad_numpy.namespace import SAME, UNCHANGED

OWN = {
    "astype",
    "clip",
    "roll",
    *(("ceil", "floor", "from_dlpack", "reshape", "trunc") if np.__version__.startswith("2.0.") else ()),
}
"""Functions that the backend replaces, most of them in NumPy 2.0."""
MODULES = {"__annotate__", "__annotations__", "__builtins__", "__dict__", "__dir__", "__name__"}
"""Attributes of every module, some of them only from Python 3.14 on."""
NAMES = sorted({*dir(compat), *vars(compat)} - MODULES)


def fresh(program: str) -> str:
    """Return the output of a program in a new interpreter."""
    return output_of("-c", dedent(program))


def test_every_other_name_is_the_object_of_array_api_compat() -> None:
    namespace = xpgrad.get_device("@numpy").backend.namespace
    assert len(NAMES) > 400
    others = {name for name in NAMES if getattr(namespace, name) is not getattr(compat, name)}
    assert others == OWN | SAME
    assert dir(namespace) == dir(compat)
    assert namespace.__name__ == compat.__name__
    assert array_api_compat.is_numpy_namespace(namespace)


@pytest.mark.parametrize("name", sorted({*UNCHANGED, *DTYPES}))
def test_an_unchanged_name_does_not_import_array_api_compat(name: str) -> None:
    assert name in UNCHANGED
    assert getattr(np, name) is getattr(compat, name)


X = np.arange(6.0).reshape(2, 3).T
CALLS: dict[str, list[tuple[Any, ...]]] = {
    "arange": [(3,), (2.5,), (1, 4), (1, 8, 2), (5, 1, -2), (3, 1)],
    "asarray": [(X,), (2,), (1.5,), (1j,), (True,), ([1, 2],), ([[1.0], [2]],), (memoryview(b"ab"),), (np.float32(1),)],
    "astype": [(X, np.float32), (X, np.float64), (X, np.complex64), (X, np.bool)],
    "clip": [(X,), (np.broadcast_to(X[0].astype("f"), (3, 2)),), (np.full((), np.nan),), (X.astype(int),), (X[:0],)],
    "empty": [((2, 3),), (4,), ((),)], "empty_like": [(X,)], "eye": [(2,), (2, 3), (2, None)],
    "full": [((2, 3), 1), (4, 2.5), ((), True), (2, 1j)], "full_like": [(X, 2), (X, True)],
    "linspace": [(0, 1, 5), (1.0, -1.0, 4), (0, 1, 1), (0, 1j, 3)], "ones": [((2, 3),), (4,), ((),)],
    "ones_like": [(X,)],
    "roll": [(x, shift) for x in (np.arange(24.0).reshape(2, 3, 4), X.ravel(), X[:0]) for shift in (0, 1, -2, 7)],
    "zeros": [((2, 3),), (4,), ((),)], "zeros_like": [(X,)],
}  # fmt: skip
KEYWORDS: dict[str, list[Any]] = {
    "device": [None, "cpu", "gpu", 0], "dtype": [None, np.float32, np.dtype("int16"), np.complex128],
    "copy": [None, True, False], "axis": [None, 0, 1, -1, 2], "k": [0, 1, -1],
    "min": [None, 0, 2.5, -0.0, -np.inf, np.float32(1.5), X], "max": [None, 3, 2.5, 1e300, np.nan, X[0]],
    "endpoint": [True, False], "step": [1, 2, -1, 0.5], "stop": [None, 7],
}  # fmt: skip


def outcome(function: Callable[..., Any], args: tuple[Any, ...], given: dict[str, Any]) -> tuple[Any, ...]:
    """Return type, layout, dtype, sharing and values of a result, or the type of the error."""
    try:
        y = function(*args, **given)
    except Exception as error:
        return (type(error),)
    known = function.__name__.startswith("empty") or y.tobytes()
    return type(y), y.shape, y.dtype, y.strides, y is args[0], np.may_share_memory(y, X), known


@pytest.mark.parametrize("name", sorted({*SAME, "astype", "clip", "roll"}))
def test_functions_of_numpy_agree_with_array_api_compat(name: str) -> None:
    namespace = xpgrad.get_device("@numpy").backend.namespace
    ours, theirs = getattr(namespace, name), getattr(compat, name)
    parameters = inspect.signature(theirs).parameters.values()
    taken = [p.name for p in parameters if p.name in KEYWORDS and p.kind is not p.POSITIONAL_ONLY]
    for args in CALLS[name]:
        for count in (0, 1, 2):
            for words in itertools.combinations(taken, count):
                for values in itertools.product(*(KEYWORDS[word] for word in words)):
                    given = dict(zip(words, values, strict=True))
                    assert outcome(ours, args, given) == outcome(theirs, args, given), (args, given)


def test_an_unknown_name_is_missing() -> None:
    namespace = xpgrad.get_device("@numpy").backend.namespace
    assert not hasattr(namespace, "no_such_name")
    with pytest.raises(AttributeError, match=r"array_api_compat\.numpy.*no_such_name"):
        namespace.no_such_name  # noqa: B018 - the access is the test


PROGRAMS = {
    "sum of squares": "x = V(np.ones(3)); y = A.sum(x * x); y.backward()",
    "operators": "x = V(np.ones(3)); y = A.mean(2 * x / (1 + abs(x)) - x**3 + x[1:].sum()); y.backward()",
    "second order": "x = V(np.ones(())); A.sin(x).backward(enable_double_backprop=True); x.grad_var.backward()",
    "creation": "x = V(np.ones(5)); A.sum(x * A.linspace(0, 1, 5) * A.asarray([1] * 5) + A.arange(5)).backward()",
    "matrices": "W = V(np.ones((2, 3))); y = A.sum(A.tanh(A.matmul(W, np.ones((3, 4))))); y.backward()",
    "mixed dtypes": "x = V(np.ones(3, np.float32)); y = A.sum(x * np.ones(3)); y.backward()",
    "activations": "import xpgrad.functions as F; F.softplus(F.hard_sigmoid(V(np.ones(())))).backward()",
    "layer": """
        import xpgrad.functions as F
        W = V(np.ones((4, 3)))
        y = F.softmax_cross_entropy(F.relu(F.linear(np.ones((5, 3)), W)), np.zeros(5, int))
        y.backward()
    """,
}
HEAVY = (
    "array_api_compat", "email", "importlib.metadata", "logging", "numpy.f2py", "numpy.random", "numpy.testing",
    "zipfile",
)  # fmt: skip
"""Modules that take long to import, and that these programs do not need."""


def test_a_first_gradient_imports_no_heavy_module() -> None:
    program = f"""
import sys
import textwrap
import numpy as np
before = set(sys.modules)
import xpgrad
import xpgrad.array_api as A
from xpgrad import Variable as V
for name, text in {PROGRAMS!r}.items():
    exec(textwrap.dedent(text))
    if heavy := sorted(set({HEAVY!r}) & (set(sys.modules) - before)):
        sys.exit(f"{{name}}: {{heavy}}")
"""
    assert fresh(program) == ""


@pytest.mark.parametrize("executor", ["python", "c"])
def test_a_compiled_function_imports_only_numpy_random(executor: str) -> None:
    program = f"""
import sys
import numpy as np
import xpgrad
f = xpgrad.compile(lambda x: 2 * x + x * x, executor={executor!r})
for _ in range(3):
    f(np.ones(3))
print(*sorted(set({HEAVY!r}) & set(sys.modules)))
"""
    assert fresh(program) == "numpy.random"
