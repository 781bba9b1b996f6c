"""The table of NumPy's ufuncs for Variables, and of their methods `reduce`, `accumulate` and `outer`."""

import sys
from collections.abc import Sequence
from typing import Any

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad.array_api.data_types import to_floating
from xpgrad.backend.kernels import table
from xpgrad.backend.plugins import plugins
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.graph.operands import is_scalar
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.interop.numpy import masks
from xpgrad.interop.numpy.arguments import Function, alike, cast, cast_within, refuse_argument, refuse_function
from xpgrad.interop.numpy.matrices import vecdot

SAME = [name for name in xp.__all__ if name in table.declared and not table.declared[name].parameters]
"""The functions whose arguments are all arrays; NumPy's ufuncs of the same names are these functions."""
RENAMED = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "conjugate": "conj", "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift", "mod": "remainder", "right_shift": "bitwise_right_shift",
    "true_divide": "divide",
}  # fmt: skip


def _power(x1: Any, x2: Any) -> Any:
    return x1**x2 if isinstance(x1, Variable) else as_variable(alike(x1, x2)[0]) ** x2


def _modf(x: Any) -> Any:
    x = to_floating(x)
    whole = xp.trunc(x)
    return x - whole, whole


def _heaviside(x1: Any, x2: Any) -> Any:
    x1, x2 = map(to_floating, alike(x1, x2))
    if x1.node.spec.complex or x2.node.spec.complex:
        raise DtypeError(f"numpy.heaviside: expected real numbers, got {x1.dtype} and {x2.dtype}")
    step = 0.5 + 0.5 * xp.sign(as_variable(x1.array))  # keeps NaN
    return xp.where(x1 == 0, x2, step)


def _ignoring_nan(function: Function) -> Function:
    def ignoring(x1: Any, x2: Any) -> Any:
        x1, x2 = alike(x1, x2)
        return xp.where(xp.isnan(x1), x2, xp.where(xp.isnan(x2), x1, function(x1, x2)))

    return ignoring


def _vecmat(x1: Any, x2: Any) -> Any:
    x1 = xp.conj(x1) if as_variable(x1).node.spec.complex else x1
    return xp.matmul(x1[..., None, :], _matrix("vecmat", x2))[..., 0, :]


def _matrix(name: str, x: Any) -> Any:
    if len(x.shape) < 2:
        raise ShapeError(f"numpy.{name}: expected a matrix with at least two axes, got shape {x.shape}")
    return x


def _ldexp(x1: Any, x2: Any) -> Any:
    whole = (is_scalar(x2) or isinstance(x2, Sequence)) and plugins.host.module.asarray(x2).dtype.kind in "biu"
    x1, x2 = alike(x1, x2)
    x1, x2 = to_floating(x1), cast(x2, int) if whole else x2
    if x2.node.spec.differentiable:
        raise DtypeError(f"numpy.ldexp: expected exponents of an integer dtype, got {x2.dtype}; use x1 * 2.0**x2")
    half = xp.floor_divide(x2, 2)  # two factors, neither of which overflows where the product does not
    two = xp.full_like(x1, 2.0)
    return x1 * two ** xp.astype(half, x1.dtype) * two ** xp.astype(x2 - half, x1.dtype)


UFUNCS: dict[str, Function] = {name: getattr(xp, name) for name in SAME}
UFUNCS |= {name: getattr(xp, ours) for name, ours in RENAMED.items()}
UFUNCS |= {
    "deg2rad": ops.deg2rad,
    "degrees": ops.rad2deg,
    "divmod": lambda x1, x2, /: (xp.floor_divide(x1, x2), xp.remainder(x1, x2)),
    "fabs": lambda x, /: xp.abs(to_floating(x)),
    "float_power": lambda x1, x2: _power(*(cast(x, complex if x.node.spec.complex else float) for x in alike(x1, x2))),
    "fmax": _ignoring_nan(xp.maximum),
    "fmin": _ignoring_nan(xp.minimum),
    "fmod": ops.fmod,
    "heaviside": _heaviside,
    "ldexp": _ldexp,
    "logaddexp2": ops.logaddexp2,
    "matvec": lambda x1, x2, /: xp.matmul(_matrix("matvec", x1), x2[..., None])[..., 0],
    "modf": _modf,
    "pow": _power,
    "power": _power,
    "rad2deg": ops.rad2deg,
    "round": lambda x, /: xp.round(to_floating(x)),  # of scipy.special
    "vecdot": vecdot,
    "rint": lambda x, /: xp.round(to_floating(x)),
    "vecmat": _vecmat,
    "radians": ops.deg2rad,
}
"""Our function for each ufunc, by its name."""

REDUCTIONS: dict[str, Function] = {
    "add": masks.SUM,
    "logaddexp": masks.LOGADDEXP,
    "logical_and": masks.ALL,
    "logical_or": masks.ANY,
    "maximum": masks.MAX,
    "minimum": masks.MIN,
    "multiply": masks.PROD,
}
OF_CALLS = {"vecdot": ("axis", "keepdims")}
OF_METHODS = {"reduce": ("axis", "keepdims"), "accumulate": ("axis", "dtype")}
OF_REDUCTIONS = {"add": ("where", "initial", "dtype"), "multiply": ("where", "initial", "dtype"),
                 "logical_and": ("where",), "logical_or": ("where",)}  # fmt: skip
ACCUMULATIONS: dict[str, Function] = {"add": xp.cumulative_sum, "multiply": xp.cumulative_prod}
ADVICE = {
    "at": "use xpgrad.ops.scatter_add, which returns a new array",
    "reduceat": "use xpgrad.ops.segment_sum",
    "frexp": "it has no gradient; use v.array",
}


def _computed_in(
    dtype: Any, name: str, ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Return the result of a ufunc of arrays in `dtype`; raise a TypeError if it has another dtype."""
    xs = alike(*inputs) if any(isinstance(x, (list, tuple)) for x in inputs) else inputs
    y = call(ufunc, method, tuple([x if is_scalar(x) else cast_within(name, x, dtype) for x in xs]), options)
    if not all(xp.is_same_dtype(one.dtype, dtype) for one in (y if isinstance(y, tuple) else (y,))):
        raise TypeError(f"numpy.{name}: dtype= is not for Variables; cast the operands or the result with astype")
    return y


def call(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of `ufunc`, or of its method `method`, on Variables; TypeError if it is not defined."""
    name = ufunc.__name__
    if method == "__call__" and not kwargs and name in UFUNCS:
        return UFUNCS[name](*_unlisted(name, inputs))
    title = name if method == "__call__" else f"{name}.{method}"
    library = _library(ufunc)
    taken: tuple[str, ...] = OF_CALLS.get(name, ()) if method == "__call__" else OF_METHODS.get(method, ())
    if method == "reduce":
        taken += OF_REDUCTIONS.get(name, ("where", "initial"))
    options = {each: kwargs.pop(each) for each in taken if each in kwargs}
    dtype = None if "dtype" in options or (method == "__call__" and name not in UFUNCS) else kwargs.pop("dtype", None)
    for argument, value in kwargs.items():
        given = value[0] if argument == "out" and isinstance(value, tuple) and len(value) == 1 else value
        refuse_argument(title, argument, given, library)
    if dtype is not None:
        return _computed_in(dtype, title, ufunc, method, inputs, options)
    if method == "__call__" and name in UFUNCS:
        return UFUNCS[name](*_unlisted(name, inputs), **options)
    if method == "reduce" and name in REDUCTIONS:
        axis, keepdims = options.pop("axis", 0), bool(options.pop("keepdims", False))
        return REDUCTIONS[name](inputs[0], axis=axis, keepdims=keepdims, **options)
    if method == "accumulate" and name in ACCUMULATIONS:
        return ACCUMULATIONS[name](inputs[0], **{"axis": 0, **options})
    if method == "outer" and name in UFUNCS and len(inputs) == 2:
        x1, x2 = alike(*inputs)
        return UFUNCS[name](xp.reshape(x1, shape=x1.shape + (1,) * x2.ndim), x2)
    if method == "__call__" and (function := _special(name)) is not None:
        return function(*inputs)
    return refuse_function(title, ADVICE.get(method, ADVICE.get(name)), library)


def _unlisted(name: str, inputs: tuple[Any, ...]) -> Sequence[Any]:
    """Return operands with lists converted to arrays, as NumPy converts them; `ldexp` takes lists of integers."""
    for x in inputs:
        if isinstance(x, (list, tuple)) and name != "ldexp":
            return alike(*inputs)
    return inputs


def _library(ufunc: Any) -> str:
    """Return the module in which users find `ufunc`."""
    for module in ("numpy", "scipy.special"):
        if getattr(sys.modules.get(module), ufunc.__name__, None) is ufunc:
            return module
    return "ufunc"


def _special(name: str) -> Function | None:
    """Return our special function of a ufunc's name, as for ``scipy.special.erf(v)`` or ``np.cbrt(v)``."""
    from xpgrad import special  # large, and imported when it is first needed

    return getattr(special, name) if name in special.__all__ else None
