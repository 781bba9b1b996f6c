"""`TransformedArray`: common base of the arrays of all transformations."""

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Never

from xpgrad.backend.levels import Level
from xpgrad.backend.plugins import plugins
from xpgrad.backend.standard import BINARY_OPERATORS, COMPARISONS, UNARY_OPERATORS, python_operator
from xpgrad.graph.variable import Variable
from xpgrad.transforms.enclosing.backend import TransformedBackend
from xpgrad.types import Array, DeviceHandle, Dtype, Shape


class TransformedArray:
    """Base of the arrays of transformations, which hold arrays of a library; each library and depth has its own types.

    A subclass defines the properties below that raise NotImplementedError, and `values_for`. Operators and functions
    call the backend.

    Attributes
    ----------
    backend : TransformedBackend
    noun : str
        Name of such an array in messages.
    error : type
        The class of errors where something is not possible with such an array.
    """

    __slots__ = ("__weakref__",)

    backend: ClassVar[TransformedBackend]
    noun: ClassVar[str]
    error: ClassVar[type[Exception]] = TypeError
    __array_priority__ = 1000

    @property
    def level(self) -> Level:
        """The transformation to which it belongs."""
        raise NotImplementedError

    @property
    def values(self) -> Array:
        """The library's array."""
        raise NotImplementedError

    @property
    def shape(self) -> Shape:
        """Shape of the array."""
        raise NotImplementedError

    @property
    def dtype(self) -> Dtype:
        """Dtype of the array."""
        raise NotImplementedError

    def values_for(self, use: str) -> Array:
        """Return the library's array for its values, or raise if these are not available for the `use`."""
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def device(self) -> DeviceHandle:
        """The library's device object."""
        return self.backend.handle_of(self)

    @property
    def T(self) -> Any:
        """The array with its axes reversed."""
        order = tuple(range(self.ndim))[::-1]
        return self.mT if len(order) == 2 else self.backend.xp.permute_dims(self, axes=order)

    @property
    def mT(self) -> Any:
        """The array with its last two axes swapped."""
        return self.backend.xp.matrix_transpose(self)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return self.backend.namespace

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Return the array on another device of its library."""
        return self.backend.mapped("to_device", self, operator.methodcaller("to_device", device))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.backend.attribute(self, name)

    # Elements

    def __getitem__(self, index: Any, /) -> Any:
        return self.backend.getitem(self, index)

    def __setitem__(self, index: Any, value: Any, /) -> None:
        self.backend.write("x[] =", operator.setitem, (self, index, value))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a 0-d array has no length")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __contains__(self, item: Any) -> bool:
        return bool(self.backend.namespace.any(self == item))

    # Values

    def __bool__(self) -> bool:
        return bool(self.values_for("its truth value was asked"))

    def __int__(self) -> int:
        return int(self.values_for("it was converted to an int"))

    def __float__(self) -> float:
        return float(self.values_for("it was converted to a float"))

    def __complex__(self) -> complex:
        return complex(self.values_for("it was converted to a complex number"))

    def __index__(self) -> int:
        return operator.index(self.values_for("it was used as an integer"))

    def item(self, *index: int) -> Any:
        """Return the number that a 0-d array holds, or that at an index."""
        return self.values_for("it was converted to a number").item(*index)

    def exported(self) -> Array:
        """Return the library's array for ``__array__``, a method present only if the library's arrays have it."""
        return self.values_for("it was converted to an array of another library")

    def __dlpack__(self, **options: Any) -> Any:
        return self.values_for("it was exported to another library").__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()

    def __reduce__(self) -> Never:
        raise self.error(f"{self.level.title}: {self.noun} cannot be pickled; return it from the function first")

    def __copy__(self) -> Any:
        return self if self.backend.immutable else self.backend.copy(self)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    # Protocols of NumPy

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        recorded = _with_variable(map(type, inputs))
        return NotImplemented if recorded else self.backend.protocol(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return NotImplemented if _with_variable(types) else self.backend.array_function(function, args, kwargs)

    __hash__ = object.__hash__


def _with_variable(types: Iterable[type]) -> bool:
    return any(issubclass(kind, Variable) for kind in types)  # of which Variable's protocol records the call


def _binary(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Any, other: Any, /) -> Any:
        backend = self.backend
        known = type(other) in backend.operands or plugins.is_scalar(other)
        return backend.operators[name](self, other) if known else NotImplemented

    def reflected(self: Any, other: Any, /) -> Any:
        backend = self.backend
        known = type(other) in backend.operands or plugins.is_scalar(other)
        return backend.operators[name](other, self) if known else NotImplemented

    return forward, reflected


def _in_place(name: str) -> Callable[..., Any]:
    title, function = f"{BINARY_OPERATORS[name]} in place", python_operator(f"i{name}")

    def updated(self: Any, other: Any, /) -> Any:
        backend = self.backend
        if backend.immutable or not (type(other) in backend.operands or plugins.is_scalar(other)):
            return NotImplemented  # so that Python computes a new array
        backend.write(title, function, (self, other))
        return self

    return updated


for _name in (*BINARY_OPERATORS, *COMPARISONS):
    _forward, _reflected = _binary(_name)
    setattr(TransformedArray, f"__{_name}__", _forward)
    if _name in BINARY_OPERATORS:
        setattr(TransformedArray, f"__r{_name}__", _reflected)
        setattr(TransformedArray, f"__i{_name}__", _in_place(_name))
for _name in UNARY_OPERATORS:
    setattr(TransformedArray, f"__{_name}__", lambda self, name=_name: self.backend.operators[name](self))
