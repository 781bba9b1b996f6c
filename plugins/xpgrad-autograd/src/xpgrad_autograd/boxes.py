"""Boxes: the arrays that a program sees while its derivatives are taken."""

import importlib
import operator
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np

from xpgrad import Variable

OWN = "xpgrad."
"""How the modules of arrays begin that a transform has made, of which no value may be shown."""


class Box:
    """A value that a trace follows.

    Attributes
    ----------
    _value : object
        Its value outside the trace.
    _trace : int
        The number of the trace; 0 for arrays of xpgrad's graph.
    _node : Node or None
    """

    __module__ = "autograd.tracer"  # libraries that serve several kinds of arrays read it
    __slots__ = ("__weakref__", "_node", "_trace", "_value")
    _node: Any
    _trace: Any
    _value: Any
    types: ClassVar[set[type]] = set()
    type_mappings: ClassVar[dict[type, Callable[..., "Box"]]] = {}

    def __init__(self, value: Any, trace: int, node: Any) -> None:
        self._value, self._trace, self._node = value, trace, node

    def __bool__(self) -> bool:
        return bool(self._value)

    def __str__(self) -> str:
        return f"Autograd {type(self).__name__} with value {self._value}"

    def __copy__(self) -> "Box":
        return self  # a box cannot be written to

    def __deepcopy__(self, memo: dict[int, Any]) -> "Box":
        return self

    @classmethod
    def register(cls, value_type: type) -> None:
        """Follow values of a type in boxes of this class."""
        Box.types.add(cls)
        Box.type_mappings[value_type] = cls
        Box.type_mappings[cls] = cls


class ArrayBox(Box):
    """An array in xpgrad's graph, with NumPy's operators and methods; operands and indexes may be lists and Series."""

    __module__ = "autograd.numpy.numpy_boxes"
    __slots__ = ("in_graph",)

    in_graph: Variable
    flatten: Any
    __array_priority__ = 100.0

    def __init__(self, value: Any, trace: int = 0, node: Any = None) -> None:
        self.in_graph = value if isinstance(value, Variable) else Variable(np.asarray(value))

    _trace = property(lambda self: 0)
    _node = property(lambda self: self.in_graph.creator_node)
    _value = property(lambda self: shown(self.in_graph))

    def __bool__(self) -> bool:
        return bool(self.in_graph)

    shape = property(lambda self: tuple(self.in_graph.shape), doc="The lengths of the axes.")
    ndim = property(lambda self: self.in_graph.ndim, doc="The number of axes.")
    size = property(lambda self: self.in_graph.size, doc="The number of elements.")
    dtype = property(lambda self: self.in_graph.dtype, doc="The dtype of the array.")
    T = property(lambda self: self.transpose(), doc="The array with reversed axes.")

    def __len__(self) -> int:
        return len(self.in_graph)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        return boxed(self.in_graph[_index(index)])

    def __hash__(self) -> int:
        return id(self)

    def __format__(self, spec: str) -> str:
        return format(self._value, spec) if spec else str(self)

    def astype(self, dtype: Any, **options: Any) -> Any:
        """Return the array in another dtype, real or complex."""
        return boxed(self.in_graph.astype(np.dtype(dtype)))

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return importlib.import_module("xpgrad_autograd.package.numpy")

    def __pos__(self) -> Any:
        return self

    def __int__(self) -> int:
        return int(self._value)

    def copy(self) -> Any:
        """Return the array itself, which cannot be written to."""
        return self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options.pop("out", None) is not None:
            return NotImplemented
        if any(_is_foreign(x) for x in inputs):
            return NotImplemented
        return functions()[ufunc.__name__](*inputs, **options)

    def __array_function__(self, function: Callable[..., Any], types: Iterable[type], args: Any, kwargs: Any) -> Any:
        made = functions().get(function.__name__)
        return NotImplemented if made is None else made(*args, **kwargs)


_functions: dict[str, Callable[..., Any]] = {}


def functions() -> dict[str, Callable[..., Any]]:
    """Return the functions of ``autograd.numpy`` by name."""
    return _functions


BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "pow": "power", "mod": "mod",
    "floordiv": "floor_divide", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
}  # fmt: skip
COMPARISONS = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
UNARY = {"neg": "negative", "abs": "abs", "invert": "invert"}
METHODS = (
    *("all", "any", "argmax", "argmin", "argpartition", "argsort", "nonzero", "searchsorted", "round"),
    *("clip", "compress", "conj", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "prod", "ptp", "ravel"),
    *("repeat", "reshape", "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose", "var"),
)
"""Methods that are the functions of the same name."""


def _operators() -> None:
    def binary(name: str, function: str, operation: Callable[..., Any] | None) -> None:
        def forward(self: Any, other: Any) -> Any:
            kind = type(other)
            if operation is not None and type(self) is ArrayBox and (kind is ArrayBox or kind in DIRECT):
                return boxed(operation(self.in_graph, other.in_graph if kind is ArrayBox else other))
            return _ufunc(function, self, other)

        def backward(self: Any, other: Any) -> Any:
            if operation is not None and type(self) is ArrayBox and type(other) in DIRECT:
                return boxed(operation(other, self.in_graph))
            return _ufunc(function, other, self)

        setattr(ArrayBox, f"__{name}__", forward)
        if name in BINARY:
            setattr(ArrayBox, f"__r{name}__", backward)

    for name, function in (BINARY | COMPARISONS).items():
        found = getattr(operator, f"__{name}__") if name in ("add", "sub", "mul", "truediv", "pow", "matmul") else None
        binary(name, function, found)
    for name, function in UNARY.items():
        setattr(ArrayBox, f"__{name}__", lambda self, function=function: functions()[function](self))
    for name in METHODS:

        def method(self: Any, *args: Any, name: str = name, **kwargs: Any) -> Any:
            if name in ("reshape", "transpose") and len(args) > 1:
                args = (args,)
            return functions()[name](self, *args, **kwargs)

        method.__name__, method.__doc__ = name, f"Return ``np.{name}`` of the array."
        setattr(ArrayBox, name, method)
    ArrayBox.flatten = vars(ArrayBox)["ravel"]


def _ufunc(name: str, *operands: Any) -> Any:
    if any(_is_foreign(x) for x in operands):
        return getattr(np, name)(*operands)  # such as arrays of xarray, which implement NumPy's protocol
    return functions()[name](*operands)


DIRECT = frozenset([int, float, complex, bool, np.ndarray, np.float64, np.float32, np.int64])
"""Types of operands that operators of Variables take as they are."""
TABLES = "pandas"


def _is_foreign(x: Any) -> bool:
    """Return whether an operand of another library takes part in NumPy's ufuncs itself."""
    kind = type(x)
    if (
        kind in DIRECT
        or isinstance(x, (Box, np.ndarray, np.generic, list, tuple))
        or kind.__module__.startswith(TABLES)
    ):
        return False
    return getattr(kind, "__array_ufunc__", None) is not None


_operators()
for _type in (np.ndarray, float, np.longdouble, np.float64, np.float32, np.float16, complex, np.clongdouble,
              np.complex64, np.complex128):  # fmt: skip
    ArrayBox.register(_type)


class NodeBox(ArrayBox):
    """An array in a trace of nodes (`xpgrad_autograd.nodes`), with the same operators and methods."""

    __module__ = "autograd.numpy.numpy_boxes"
    __slots__ = ("_inner", "_number", "_start")

    def __init__(self, value: Any, trace: int, node: Any) -> None:
        self._inner, self._number, self._start = value, trace, node

    _trace = property(lambda self: self._number)
    _node = property(lambda self: self._start)
    _value = property(lambda self: self._inner)
    shape = property(lambda self: np.shape(self._inner))
    ndim = property(lambda self: np.ndim(self._inner))
    size = property(lambda self: np.size(self._inner))
    dtype = property(lambda self: np.asarray(self._inner).dtype if not is_box(self._inner) else self._inner.dtype)

    def __bool__(self) -> bool:
        return bool(self._inner)

    def __len__(self) -> int:
        return len(self._inner)

    def __getitem__(self, index: Any) -> Any:
        return functions()["_getitem"](self, index)

    def astype(self, dtype: Any, **options: Any) -> Any:
        """Return the array in another dtype."""
        return functions()["_astype"](self, dtype, **options)


Box.types.add(NodeBox)


def is_box(x: Any) -> bool:
    """Return whether a trace follows `x`."""
    return type(x) in Box.types


def is_of_program(x: Any) -> bool:
    """Return whether the program has registered a class of boxes for values such as `x`, which are no arrays."""
    kind: Any = Box.type_mappings.get(type(x), ArrayBox)
    return isinstance(kind, type) and not issubclass(kind, ArrayBox)


def value_of(x: Any) -> Any:
    """Return the value of `x` outside all traces."""
    while is_box(x):
        x = x._value
    return x


def boxed(result: Any) -> Any:
    """Return a result of xpgrad with boxes around arrays that depend on an argument; other arrays are plain."""
    if type(result) is Variable or isinstance(result, Variable):
        if result.requires_grad or _is_hidden(result.array):
            box = ArrayBox.__new__(ArrayBox)
            box.in_graph = result
            return box
        return plain(result.array)
    if isinstance(result, (tuple, list)):
        made = map(boxed, result)
        return type(result)(*made) if hasattr(result, "_fields") else type(result)(made)
    return result


def _is_hidden(array: Any) -> bool:
    return type(array) is not np.ndarray and type(array).__module__.startswith(OWN)


def plain(array: Any) -> Any:
    """Return an array of NumPy as its functions return it: without axes as a scalar."""
    return array[()] if type(array) is np.ndarray and array.ndim == 0 else array


def shown(variable: Variable) -> Any:
    """Return the values of a Variable."""
    return plain(variable.array)


def inside(x: Any) -> Any:
    """Return an argument of a function with Variables in place of boxes."""
    kind = type(x)
    if kind is ArrayBox:
        return x.in_graph
    if kind is list or kind is tuple:
        return kind([inside(each) for each in x])
    if kind.__module__.startswith(TABLES) and hasattr(x, "to_numpy"):
        return x.to_numpy()
    if isinstance(x, np.ndarray):
        if x.dtype == object and any(map(is_box, x.flat)):
            return inside(functions()["array"](x.tolist()))
        return np.asarray(x) if kind in Box.type_mappings else x  # of a subclass that the program has registered
    return x


def _index(index: Any) -> Any:
    kind = type(index)
    if kind is int or kind is slice or kind is np.ndarray:
        return index
    if kind is tuple:
        return tuple(map(_index, index))
    if kind is list or kind.__module__.startswith(TABLES):
        return np.asarray(value_of_all(index))
    return np.asarray(index) if isinstance(index, np.ndarray) else value_of(index)


def value_of_all(x: Any) -> Any:
    """Return nested lists and tuples with the values of boxes; tables as arrays."""
    kind = type(x)
    if kind in Box.types:
        return value_of(x)
    if kind is list or kind is tuple:
        return kind([value_of_all(each) for each in x])
    if kind.__module__.startswith(TABLES) and hasattr(x, "to_numpy"):
        return x.to_numpy()
    return x
