"""`Convertible`: conversions of a Variable to Python numbers and iterators, and protocols of array libraries."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from xpgrad.backend.checks import check_cast
from xpgrad.backend.levels import live, note_number
from xpgrad.backend.plugins import plugins
from xpgrad.graph.methods.cuts import looked_at
from xpgrad.graph.methods.ending import taken
from xpgrad.graph.slot import slot
from xpgrad.types import Array, Dtype, Namespace, Shape

if TYPE_CHECKING:
    from xpgrad.graph.methods.declared import Declared
    from xpgrad.graph.node import VariableNode
    from xpgrad.graph.variable import Variable
else:
    Declared = object  # the operators and methods declared there are bound by `array_api.array_object`

Number = TypeVar("Number")
API_VERSIONS = "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"
"""Versions of the Array API standard that a Variable follows; each includes those before it."""


class Convertible(Declared):
    """Conversions that need no function of xpgrad; conversions that would lose a gradient raise."""

    __slots__ = ()

    if TYPE_CHECKING:
        _array: Array
        array: Array
        _node: VariableNode

        @property
        def shape(self) -> Shape:
            """Shape of the array."""
            ...

        @property
        def ndim(self) -> int:
            """Number of axes."""
            ...

        @property
        def size(self) -> int:
            """Number of elements."""
            ...

        @property
        def dtype(self) -> Dtype:
            """Dtype of the array."""
            ...

        def _current(self, operation: str) -> Any: ...
        def _title(self) -> str: ...

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of a 0-d Variable")
        return self.shape[0]

    def __iter__(self) -> Iterator["Variable"]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d Variable")
        for i in range(self.shape[0]):
            yield self[i]

    def __divmod__(self, other: Any) -> tuple["Variable", "Variable"]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple["Variable", "Variable"]:
        return other // self, other % self

    def __contains__(self, item: Any) -> bool:
        namespace: Any = slot.functions.namespace(self._node.spec.backend)
        return bool(namespace.any(self == item))

    def __format__(self, format_spec: str) -> str:
        if not format_spec:
            return str(self)
        if self.size == 1:
            return format(self._number(), format_spec)
        try:
            return format(str(self), format_spec)
        except ValueError:
            raise ValueError(
                f"format: {format_spec!r} is for one number, got a Variable of shape {self.shape}; format its elements "
                "one by one, or print v.array"
            ) from None

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"bool: expected one element, got shape {self.shape}, whose truth is ambiguous; reduce it with "
                "xpgrad.array_api.any or all"
            )
        looked_at()
        return bool(self._number())

    def __int__(self) -> int:
        return self._taken(int)

    def __float__(self) -> float:
        return self._taken(float)

    def __complex__(self) -> complex:
        return self._taken(complex)

    def __index__(self) -> int:
        if self.ndim or not self._node.spec.backend.is_kind(self.dtype, "integral"):
            raise TypeError(f"only a 0-d integer Variable can be an index, got {self._node.spec!r}")
        looked_at()
        return int(self._number())

    def item(self) -> Any:
        """Return the only element as a Python scalar, through which no gradient flows.

        Out of a Variable that requires a gradient it is a `GraphEndWarning`, as is ``float(v)``; ``float(v.array)``
        says that it is meant.
        """
        return self._taken(lambda number: number)

    def _taken(self, kind: Callable[[Any], Number]) -> Number:
        number = kind(self._number())
        if self._node.requires_grad:
            taken(self._node)
        else:
            looked_at()
        if live:
            note_number(self._array)
        return number

    def _number(self) -> Any:
        if self.size != 1:
            raise ValueError(f"item: expected one element, got shape {self.shape}")
        array = self.array  # lifted, so that compiled functions read it at each call
        backend = plugins.backend_of(array)
        kinds = ("bool", bool), ("integral", int), ("real floating", float)
        kind = next((each for name, each in kinds if backend.is_kind(array.dtype, name)), complex)
        return kind(backend.namespace.reshape(array, ()))

    def tolist(self) -> Any:
        """Return the elements as Python scalars, in lists within lists for each axis; no gradient flows through them.

        Out of a Variable that requires a gradient it is a `GraphEndWarning`, as for `item`.
        """
        if self._array is None:
            raise ValueError("tolist: the Variable is uninitialised; give it an array first")
        if self._node.requires_grad:
            taken(self._node)
        if live:
            note_number(self._array)
        array = self.array
        return plugins.backend_of(array).to_host(array).tolist()

    def numpy(self) -> Array:
        """Return the array as a NumPy array, converted by its library; a Variable in a graph raises an error.

        Raises
        ------
        TypeError
            A gradient would be lost: use ``v.array``, or ``v.detach().numpy()``.
        """
        return self.__array__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if self._array is None or self._node.requires_grad:
            raise TypeError(
                "a Variable is not converted silently, its gradient would be lost; use v.array, or "
                f"xpgrad.array_api.asarray for a list of Variables (v: {self._title()})"
            )
        convert = getattr(self.array, "__array__", None)
        if convert is None:
            raise TypeError(f"{self._title()} is not converted silently; use v.to_cpu().array")
        plain = convert()  # the library decides whether its arrays are converted
        if dtype is not None and plain.dtype != dtype:
            if copy is False:
                raise ValueError(f"a Variable of dtype {self.dtype} cannot be viewed as {dtype} without a copy")
            return plain.astype(check_cast(plain, dtype, "__array__"))
        return plain.copy() if copy else plain

    def __dlpack__(
        self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None, copy: bool | None = None,
    ) -> Any:  # fmt: skip
        """Return the array as a DLPack capsule for another library; a Variable in a graph raises, as for `np.asarray`.

        Raises
        ------
        BufferError
            A gradient would be lost: the other library does not know of the graph.
        """
        array = self._exported("__dlpack__")
        wishes = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        return array.__dlpack__(**{name: value for name, value in wishes.items() if value is not None})

    def __dlpack_device__(self) -> tuple[Any, int]:
        """Return type and number of the device, as DLPack counts them."""
        return self._exported("__dlpack_device__", refuse=False).__dlpack_device__()  # type: ignore[no-any-return]  # an array

    def _exported(self, method: str, refuse: bool = True) -> Array:
        if self._array is None or (refuse and self._node.requires_grad):
            raise BufferError(
                f"{method}: a Variable is not converted silently, its gradient would be lost; use v.array "
                f"(v: {self._title()})"
            )
        return self._array

    def __array_namespace__(self, *, api_version: str | None = None) -> Namespace:
        """Return the differentiable namespace of this Variable's backend.

        Raises
        ------
        ValueError
            The version of the standard does not exist, or is newer than the supported version.
        """
        if api_version is not None and api_version not in API_VERSIONS:
            raise ValueError(
                f"__array_namespace__: expected a version of the standard ({', '.join(API_VERSIONS)}), "
                f"got {api_version!r}"
            )
        return slot.functions.namespace(self._current("__array_namespace__").backend)
