"""Methods, attributes and operators of NumPy's arrays, in Variables and in the arrays of each transformation."""

import copy
import itertools
import operator
import pickle
import re

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable, transforms
from xpgrad.array_api.array_object import METHODS
from xpgrad.backend.standard import BINARY_OPERATORS, COMPARISONS, UNARY_OPERATORS, python_operator
from xpgrad.errors import XpgradError

X = np.sin(np.arange(27.0)).reshape(3, 3, 3) * 4
Y = np.cos(np.arange(9.0)).reshape(3, 3) + 2
ARGUMENTS = {
    "argpartition": (1,), "astype": (np.float32,), "choose": ([X, X],), "clip": (-1.0, 1.0), "compress": ([True],),
    "dot": (Y,), "dump": ("/dev/null",), "fill": (2.0,), "getfield": (np.float64,), "partition": (1,),
    "put": ([0], [9.0]), "repeat": (2,), "reshape": (9, 3), "resize": ((9, 3),), "searchsorted": (0.7,),
    "setfield": (1.0, np.float64), "swapaxes": (0, 2), "take": ([0, 2],), "to_device": ("cpu",),
    "tofile": ("/dev/null",),
}  # fmt: skip
OBJECTS = frozenset(["ctypes", "data", "device", "flat"])
"""Attributes whose values cannot be compared."""
BITS = frozenset(["and", "or", "xor", "lshift", "rshift", "invert"])


def named(name):
    """Return a function that returns an attribute, or the result of a method: the array if that returns None."""

    def call(x):
        found = getattr(x, name)
        if not callable(found) or isinstance(found, np.dtype):
            return found
        returned = found(*ARGUMENTS.get(name, ()))
        return x if returned is None else returned

    return call


def assigned(x):
    x[0] = 7.0
    return x


def integers(x):
    """Return small integers, one for each element."""
    kind = x._node.spec.backend if isinstance(x, Variable) else getattr(x, "backend", None)
    astype = np.ndarray.astype if kind is None else kind.namespace.astype
    return (x * 0 + 3).astype(np.int64) if isinstance(x, Variable) else astype(x * 0 + 3, np.int64)


def binary(name):
    function, in_place = python_operator(name), python_operator(f"i{name}")
    operand, of = (2, integers) if name in BITS else (Y, lambda x: x)
    return {
        name: lambda x: function(of(x), operand),
        f"r{name}": lambda x: function(operand, of(x)),
        f"i{name}": lambda x: in_place(of(x * 1), operand),
    }


OPERATIONS = {
    **{name: named(name) for name in dir(np.ndarray) if not name.startswith("_") and name not in OBJECTS},
    **{key: call for name in BINARY_OPERATORS for key, call in binary(name).items()},
    **{name: lambda x, name=name: python_operator(name)(x, Y) for name in COMPARISONS},
    **{
        name: lambda x, name=name: python_operator(name)(integers(x) if name in BITS else x) for name in UNARY_OPERATORS
    },
    "asarray": np.asarray,
    "assignment": assigned,
    "bool": lambda x: bool(x[0, 1, 0] > 0),
    "complex": lambda x: complex(x[0, 1, 0]),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "divmod": lambda x: divmod(x, 2.0),
    "element": lambda x: x[2],
    "float": lambda x: float(x[0, 1, 0]),
    "in": lambda x: X[0, 1, 0] in x,
    "index": lambda x: operator.index(integers(x)[0, 1, 0]),
    "int": lambda x: int(x[0, 1, 0]),
    "item of one": lambda x: x[0, 1, 0].item(),
    "iteration": tuple,
    "len": len,
    "mask": lambda x: x[x > 0],
    "ndim by NumPy": np.ndim,
    "newaxis": lambda x: x[..., None, 0],
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "shape by NumPy": np.shape,
    "truth of all": bool,
}  # fmt: skip
NEEDS_VALUES = frozenset(["item", "nonzero"])
"""Methods that need values, which are not there in every transformation."""


def raw(x):
    """Return the library's array in a result: of a Variable, the primal, the values, or the first member."""
    if isinstance(x, (tuple, list)):
        return type(x)(map(raw, x))
    if isinstance(x, Variable):
        return raw(x._array)
    if hasattr(x, "values_for"):
        return x.values[0] if getattr(x, "batched", False) else x.values
    return x


def outcome(call, x):
    """Return the result of a call, or its exception."""
    try:
        with np.errstate(all="ignore"):
            return raw(call(x))
    except Exception as error:
        return error


def within(transform):
    """Return a function that calls another with a Variable, or with its array, within a transformation."""

    def run(call, by_array):
        found = []
        transform(lambda x: found.append(outcome(call, (x * 1)._array if by_array else x * 1)) or x)
        return found[0]

    return run


WITHIN = {
    "a graph": within(lambda f: f(Variable(X.copy()))),
    "jvp": within(lambda f: transforms.jvp(f, (X,), (X + 1,))),
    "vmap": within(lambda f: transforms.vmap(f)(np.stack([X, X + 1]))),
    "compile": within(lambda f: xpgrad.compile(f, executor="python")(X)),
}


def assert_same(found, wanted):
    if isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for pair in zip(found, wanted, strict=True):
            assert_same(*pair)
    elif isinstance(wanted, (np.ndarray, np.generic)):
        assert isinstance(found, (np.ndarray, np.generic))
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(found, wanted, rtol=1e-15, atol=1e-15 * np.max(np.abs(wanted), initial=0))
    else:
        assert found == wanted


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("where", "by_array"), [("a graph", False), *itertools.product(list(WITHIN)[1:], (False, True))]
)
@pytest.mark.parametrize("name", OPERATIONS)
def test_results_agree_with_numpy_or_raise(name, where, by_array) -> None:
    wanted, found = outcome(OPERATIONS[name], X * 1), WITHIN[where](OPERATIONS[name], by_array)
    if isinstance(wanted, Exception):
        assert isinstance(found, Exception)
    elif isinstance(found, Exception):
        assert name not in METHODS.keys() - NEEDS_VALUES
        assert isinstance(found, (XpgradError, AttributeError, TypeError))
        assert re.search(r"; .*(use|return|write|compute|assign|pickle|did you mean)|unsupported operand", str(found))
    else:
        assert_same(found, wanted)


SCALE = np.array([1.0, 2.0])
MIXED = {
    "concatenate": (lambda y, z: np.concatenate([y, z]), lambda y: SCALE * y, lambda y: SCALE**2 * y),
    "multiply": (np.multiply, lambda y: SCALE * y**2, lambda y: SCALE**2 * y**2),
    "where": (lambda y, z: np.where(y > 2, z, 0.0), lambda y: SCALE * y * (y > 2), lambda y: SCALE**2 * y * (y > 2)),
}
"""Functions of the array of a Variable, a constant, and of the Variable; their first and second derivatives."""
DERIVATIVES = {
    "compile": lambda slope, x: xpgrad.compile(slope)(x),
    "forward": lambda slope, x: transforms.jacobian(slope, mode="forward")(x).sum(0),
    "jvp": lambda slope, x: transforms.jvp(slope, [x], [np.ones_like(x)])[1],
    "reverse": lambda slope, x: transforms.jacobian(slope, mode="reverse")(x).sum(0),
    "vmap": lambda slope, x: transforms.vmap(slope)(x[None])[0],
}


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("name", MIXED)
@pytest.mark.filterwarnings("ignore::xpgrad.BatchWarning")
def test_numpy_functions_of_a_transformed_array_and_a_variable_are_recorded(name, derivative) -> None:
    function, first, second = MIXED[name]

    def of_both(p):
        y = xpgrad.exp(p * SCALE)
        return np.sum(function(y.array, y))

    x = np.array([0.42, 0.4])
    found = DERIVATIVES[derivative](transforms.grad(of_both), x)
    wanted = (first if derivative in ("compile", "vmap") else second)(np.exp(x * SCALE))
    np.testing.assert_allclose(getattr(found, "array", found), wanted)
