"""Batched arrays: the members of a batch in one array of the library, with a hidden leading axis."""

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Never

from xpgrad.errors import BatchError
from xpgrad.types import Array, DeviceHandle, Dtype, Shape

if TYPE_CHECKING:
    from xpgrad.transforms.batch.backend import BatchBackend
    from xpgrad.transforms.batch.batching import Batching

BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "matmul": "matmul", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}  # fmt: skip
"""The standard's functions by the names of their operators."""
COMPARISONS = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}  # fmt: skip
UNARY = {"neg": "negative", "pos": "positive", "abs": "abs", "invert": "bitwise_invert"}


class Later(NamedTuple):
    """Values that are computed when they are needed, because their total over the members may be all that is.

    Attributes
    ----------
    shape : tuple of int
        With the hidden axis.
    like : array
        The library's array of the same dtype and device.
    values : callable
        Returns the library's array.
    total : callable
        Returns its sum over the members, for less than the values take.
    """

    shape: Shape
    like: Array
    values: Callable[[], Array]
    total: Callable[[], Array]


class BatchArray:
    """Base of the types of batched arrays, one for each library and depth.

    Attributes
    ----------
    batching : Batching
        The batch that it belongs to.
    values : array
        The library's array.
    batched : bool
        Whether the first axis of `values` is that of the batch; else all members are the same.
    later : Later or None
        How `values` are computed, before they are.
    backend : BatchBackend
    """

    __slots__ = ("__weakref__", "batched", "batching", "later", "values")

    backend: ClassVar["BatchBackend"]
    later: Later | None
    __array_priority__ = 1000

    def __init__(self, batching: "Batching", values: Array, batched: bool) -> None:
        self.batching, self.values, self.batched = batching, values, batched
        self.later: Later | None = None

    def __getattr__(self, name: str) -> Any:
        if name != "values":
            raise AttributeError(
                f"a batched array has no attribute {name!r}; use functions of the Array API standard, or give the "
                "function a rule for batches with xpgrad.transforms.custom_vmap"
            )
        assert self.later is not None  # else values have been set
        self.values, self.later = self.later.values(), None
        return self.values

    @property
    def level(self) -> Any:
        """The transformation to which it belongs."""
        return self.batching.level

    @property
    def shape(self) -> Shape:
        """Shape of a member."""
        shape: Shape = self.values.shape if self.later is None else self.later.shape
        return shape[1:] if self.batched else shape

    @property
    def dtype(self) -> Dtype:
        """Dtype of the array."""
        return self.values.dtype if self.later is None else self.later.like.dtype

    @property
    def ndim(self) -> int:
        """Number of axes of a member."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements of a member."""
        size = 1
        for n in self.shape:
            size *= n
        return size

    @property
    def device(self) -> DeviceHandle:
        """The library's device object."""
        return self.backend.base.handle_of(self.values if self.later is None else self.later.like)

    @property
    def T(self) -> Any:
        """The transpose of a matrix."""
        if self.ndim != 2:
            raise ValueError(f"x.T is defined for matrices only, got shape {self.shape}; use x.mT or permute_dims")
        return self.mT

    @property
    def mT(self) -> Any:
        """The transposes of a stack of matrices."""
        return self.backend.namespace.matrix_transpose(self)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return self.backend.namespace

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Return the array on another device of its library."""
        return type(self)(self.batching, self.values.to_device(device), self.batched)

    # Elements

    def __getitem__(self, index: Any, /) -> Any:
        return self.backend.operator("x[]", operator.getitem)(self, index)

    def __setitem__(self, index: Any, value: Any, /) -> Never:
        raise BatchError(
            f"{self.batching.title}: a batched array cannot be written to; assign to elements of its Variable, or use "
            "xp.where"
        )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a 0-d array has no length")
        return self.shape[0]

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(len(self))])

    def __contains__(self, item: Any) -> bool:
        return bool(self.backend.namespace.any(self == item))

    # Values, of which there is one for each member

    def __bool__(self) -> bool:
        return bool(self._only("its truth value was asked"))

    def __int__(self) -> int:
        return int(self._only("it was converted to an int"))

    def __float__(self) -> float:
        return float(self._only("it was converted to a float"))

    def __complex__(self) -> complex:
        return complex(self._only("it was converted to a complex number"))

    def __index__(self) -> int:
        return operator.index(self._only("it was used as an integer"))

    def __array__(self, *args: Any, **options: Any) -> Any:
        values = self._only("it was converted to an array of another library")
        return values.__array__(*args, **options)

    def __reduce__(self) -> Never:
        raise BatchError(f"{self.batching.title}: a batched array cannot be pickled; return it from the function first")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self  # it is not written to

    def __dlpack__(self, **options: Any) -> Any:
        return self._only("it was exported to another library").__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()

    def __repr__(self) -> str:
        state = "" if self.batching.level.live else ", of a call that has ended"
        spec = self.backend.spec(self)
        return f"<{spec!r} for {f'each of {self.batching.size}' if self.batched else 'all'} members{state}>"

    def _only(self, what: str) -> Array:
        """Return the value that all members have, or raise if each has its own."""
        self.batching.check()
        if self.batched:
            raise self.batching.refused(what)
        return self.values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return self.backend.protocol(ufunc.__name__, inputs, options) if method == "__call__" else NotImplemented

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self.backend.protocol(function.__name__, args, kwargs)

    __hash__ = object.__hash__


def _binary(name: str, function: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Any, other: Any, /) -> Any:
        backend = self.backend
        return backend.operator(name, function)(self, other) if backend.meets(other) else NotImplemented

    def reflected(self: Any, other: Any, /) -> Any:
        backend = self.backend
        return backend.operator(name, function)(other, self) if backend.meets(other) else NotImplemented

    return forward, reflected


def _unary(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: self.backend.operator(name, function)(self)


for _name, _full in BINARY.items():
    _function = getattr(operator, f"{_name}_" if _name in ("and", "or") else _name)
    _forward, _reflected = _binary(_full, _function)
    setattr(BatchArray, f"__{_name}__", _forward)
    setattr(BatchArray, f"__r{_name}__", _reflected)
for _name, _full in COMPARISONS.items():
    setattr(BatchArray, f"__{_name}__", _binary(_full, getattr(operator, _name))[0])
for _name, _full in UNARY.items():
    setattr(BatchArray, f"__{_name}__", _unary(_full, getattr(operator, _name)))
