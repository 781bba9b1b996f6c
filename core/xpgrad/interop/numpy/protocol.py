"""NumPy's protocols `__array_ufunc__` and `__array_function__`, which dispatch ``np.sin(v)`` to xpgrad's function.

NumPy also calls the Variable's protocol for ``ndarray * v``, so that path is kept short. The tables load with the first
function that is not an operator.
"""

import importlib
from typing import Any

from xpgrad.array_api import linear_algebra, namespace
from xpgrad.array_api.elementwise import arithmetic, logical
from xpgrad.backend.kernels import table
from xpgrad.errors import UnknownArray
from xpgrad.graph.primitive import operators
from xpgrad.graph.variable import Variable

EXTENSIONS = {"lib": "xpgrad.interop.numpy.lib", "special": "xpgrad.special"}
"""Namespaces beyond the standard, and their modules, which load when they are first used."""
_SWAPPED = {  # ``ndarray < v`` calls ``np.less(ndarray, v)``
    "less": logical.greater,
    "less_equal": logical.greater_equal,
    "greater": logical.less,
    "greater_equal": logical.less_equal,
    "equal": logical.equal,
    "not_equal": logical.not_equal,
}


def _comparison(function: Any) -> Any:
    """Return the operator with its operands swapped.

    NumPy converts its own scalar on the left of a comparison to a 0-d array, so 0-d arrays are taken as scalars.
    """
    operator = operators(function)[0]

    def compare(v: Variable, x: Any) -> Any:
        return operator(v, x.item() if getattr(x, "shape", None) == () else x)

    return compare


_REFLECTED: dict[str, Any] = {name: _comparison(function) for name, function in _SWAPPED.items()}
_REFLECTED |= {
    function.__name__: operators(function)[1]
    for function in (
        arithmetic.add, arithmetic.subtract, arithmetic.multiply, arithmetic.divide, arithmetic.floor_divide,
        arithmetic.remainder, logical.bitwise_and, logical.bitwise_or, logical.bitwise_xor, linear_algebra.matmul,
    )
}  # fmt: skip
_REFLECTED["power"] = arithmetic.power_operators[1]

_ABSENT: Any = object()
_UNREFLECTED = frozenset([Variable, list, tuple])
_reflected: dict[Any, Any] = {}  # by ufunc, filled at its first use


def array_ufunc(
    self: Variable, ufunc: Any, method: str, x1: Any = None, x2: Any = _ABSENT, /, *rest: Any, **kwargs: Any
) -> Any:
    """Return the result of NumPy's `ufunc` on Variables.

    Raises
    ------
    TypeError
        The function, or an argument such as `out=`, is not defined for Variables.
    """
    if x2 is self and not kwargs and method == "__call__" and type(x1) not in _UNREFLECTED:
        function = _reflected.get(ufunc)
        if function is None:
            function = _reflected.setdefault(ufunc, _REFLECTED.get(ufunc.__name__, False))
        if function:
            y = function(x2, x1)
            if y is not NotImplemented:
                return y
            got = type(x1).__name__
            raise UnknownArray(f"numpy.{ufunc.__name__}: expected a Variable, an array or a scalar, got {got}")
    from xpgrad.interop.numpy.ufuncs import call  # the tables, which most programs do not need

    inputs = (x1,) if x2 is _ABSENT else (x1, x2, *rest)
    return call(ufunc, method, inputs, kwargs)


def array_function(self: Variable, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of a function of NumPy on Variables.

    Raises
    ------
    TypeError
        The function, or an argument such as `out=`, is not defined for Variables.
    """
    from xpgrad.interop.numpy.functions import call  # as above

    return call(self, func, args, kwargs)


class _Additions:
    """`special`, `lib`, and the functions of NumPy and `xpgrad.ops` beyond the standard: `pad`, `einsum`, ..."""

    def names(self) -> set[str]:
        from xpgrad.interop.names import beyond_names  # the tables again

        return {*EXTENSIONS, *beyond_names()}

    def find(self, name: str) -> Any:
        if name in EXTENSIONS:
            return importlib.import_module(EXTENSIONS[name])
        if name.startswith("_"):
            raise AttributeError(name)
        from xpgrad.interop.names import beyond

        return beyond(name)


def bind() -> None:
    """Give Variable the protocols, and its namespaces the names beyond the standard."""
    table.late["special"] = "xpgrad.special.catalogue"
    namespace.slot.additions = _Additions()
    for name, function in (("__array_ufunc__", array_ufunc), ("__array_function__", array_function)):
        setattr(Variable, name, function)
