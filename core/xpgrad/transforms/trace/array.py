"""Traced arrays: a library's array together with the value that it is in a program."""

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from xpgrad.backend.standard import BINARY_OPERATORS, COMPARISONS, UNARY_OPERATORS, python_operator
from xpgrad.transforms.trace.program import Value
from xpgrad.types import Array, DeviceHandle, Dtype, Shape

if TYPE_CHECKING:
    from xpgrad.transforms.trace.backend import TraceBackend
    from xpgrad.transforms.trace.recording import Recording

REMEDY = (
    "a program cannot depend on values: use xp.where, make the argument static, or leave this part outside of the "
    "compiled function"
)


class TracedArray:
    """Base of the types of arrays that are traced, one for each library and depth.

    Attributes
    ----------
    recording : Recording
        Where calls with it are recorded.
    value : Value
        What it is in the program.
    values : array
        The library's array.
    backend : TraceBackend
    """

    __slots__ = ("__weakref__", "recording", "value", "values")

    backend: ClassVar["TraceBackend"]
    __array_priority__ = 1000

    def __init__(self, recording: "Recording", value: Value, values: Array) -> None:
        self.recording, self.value, self.values = recording, value, values

    @property
    def level(self) -> Any:
        """The transformation to which it belongs."""
        return self.recording.level

    @property
    def shape(self) -> Shape:
        """Shape of the array."""
        shape: Shape = self.values.shape
        return shape

    @property
    def dtype(self) -> Dtype:
        """Dtype of the array."""
        return self.values.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.values.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.value.spec.size

    @property
    def device(self) -> DeviceHandle:
        """The library's device object."""
        return self.value.spec.device

    @property
    def T(self) -> Any:
        """The transpose of a matrix."""
        return self.backend.call("T", _transposed, (self,), {})

    @property
    def mT(self) -> Any:
        """The transposes of a stack of matrices."""
        return self.backend.call("mT", _matrices_transposed, (self,), {})

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return self.backend.namespace

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Return the array on another device of its library."""
        return self.backend.call("to_device", operator.methodcaller("to_device", device), (self,), {})

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
        if not self.values.shape:
            raise TypeError("a 0-d array has no length")
        return int(self.values.shape[0])

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(len(self))])

    def __contains__(self, item: Any) -> bool:
        return bool(self.backend.namespace.any(self == item))

    # Values, which only a run has

    def __bool__(self) -> bool:
        return bool(self._needed("its truth value was asked"))

    def __int__(self) -> int:
        return int(self._needed("it was converted to an int"))

    def __float__(self) -> float:
        return float(self._needed("it was converted to a float"))

    def __complex__(self) -> complex:
        return complex(self._needed("it was converted to a complex number"))

    def __index__(self) -> int:
        return operator.index(self._needed("it was used as an integer"))

    def __dlpack__(self, **options: Any) -> Any:
        return self._needed("it was exported to another library").__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()

    def __repr__(self) -> str:
        state = "" if self.recording.level.live else ", of a call that has ended"
        return f"<traced {self.value.spec!r}{state}>"

    def _needed(self, what: str) -> Array:
        self.recording.level.check()
        self.recording.needs(f"the value of a traced array of {self.value.spec!r} is needed: {what}", REMEDY)
        return self.values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return self.backend.protocol(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self.backend.call(function.__name__, function, args, kwargs)

    __hash__ = object.__hash__


def _transposed(x: Array) -> Array:
    return x.T


def _matrices_transposed(x: Array) -> Array:
    return x.mT


def _binary(name: str, function: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Any, other: Any, /) -> Any:
        backend = self.backend
        return backend.call(name, function, (self, other), {}) if backend.meets(other) else NotImplemented

    def reflected(self: Any, other: Any, /) -> Any:
        backend = self.backend
        return backend.call(name, function, (other, self), {}) if backend.meets(other) else NotImplemented

    return forward, reflected


def _in_place(name: str, function: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    def updated(self: Any, other: Any, /) -> Any:
        backend = self.backend
        if not backend.meets(other):
            return NotImplemented
        if backend.immutable:
            return backend.call(name, plain, (self, other), {})
        backend.write(f"{name} in place", function, (self, other))
        return self

    return updated


def _unary(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: self.backend.call(name, function, (self,), {})


for _name, _full in BINARY_OPERATORS.items():
    _function = python_operator(_name)
    _forward, _reflected = _binary(_full, _function)
    setattr(TracedArray, f"__{_name}__", _forward)
    setattr(TracedArray, f"__r{_name}__", _reflected)
    setattr(TracedArray, f"__i{_name}__", _in_place(_full, python_operator(f"i{_name}"), _function))
for _name, _full in COMPARISONS.items():
    setattr(TracedArray, f"__{_name}__", _binary(_full, python_operator(_name))[0])
for _name, _full in UNARY_OPERATORS.items():
    setattr(TracedArray, f"__{_name}__", _unary(_full, python_operator(_name)))
