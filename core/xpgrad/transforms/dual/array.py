"""Dual arrays: an array of the level below, with its tangent."""

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from xpgrad.types import Array, DeviceHandle, Dtype, Shape

if TYPE_CHECKING:
    from xpgrad.transforms.dual.backend import DualBackend
    from xpgrad.transforms.dual.level import DualLevel

BINARY: dict[str, tuple[str, Callable[..., Any]]] = {
    "add": ("add", operator.add), "sub": ("subtract", operator.sub), "mul": ("multiply", operator.mul),
    "truediv": ("divide", operator.truediv), "floordiv": ("floor_divide", operator.floordiv),
    "mod": ("remainder", operator.mod), "pow": ("pow", operator.pow), "matmul": ("matmul", operator.matmul),
    "and": ("bitwise_and", operator.and_), "or": ("bitwise_or", operator.or_), "xor": ("bitwise_xor", operator.xor),
    "lshift": ("bitwise_left_shift", operator.lshift), "rshift": ("bitwise_right_shift", operator.rshift),
}  # fmt: skip
"""Operators of two operands, with the primitives that they are and the functions that compute them."""
COMPARISONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "lt": ("less", operator.lt), "le": ("less_equal", operator.le), "gt": ("greater", operator.gt),
    "ge": ("greater_equal", operator.ge), "eq": ("equal", operator.eq), "ne": ("not_equal", operator.ne),
}  # fmt: skip
UNARY: dict[str, tuple[str, Callable[..., Any]]] = {
    "neg": ("negative", operator.neg), "pos": ("positive", operator.pos), "abs": ("abs", operator.abs),
    "invert": ("bitwise_invert", operator.invert),
}  # fmt: skip


class DualArray:
    """Base of the types of dual arrays, one for each library and depth.

    Its values are those of the primal. Nothing writes to either of its arrays.

    Attributes
    ----------
    level : DualLevel
        The transformation that it belongs to.
    primal : array
    tangent : array or None
        Of the shape, dtype and device of the primal; None for zero, and for integers and booleans.
    later : callable or None
        Returns the primal, if that is not computed before it is needed; there is a tangent then.
    backend : DualBackend
    """

    __slots__ = ("__weakref__", "later", "level", "primal", "tangent")

    backend: ClassVar["DualBackend"]
    __array_priority__ = 1000

    def __init__(self, level: "DualLevel", primal: Array, tangent: Array | None) -> None:
        self.level, self.primal, self.tangent = level, primal, tangent
        self.later: Callable[[], Array] | None = None

    @classmethod
    def with_later(cls, level: "DualLevel", later: Callable[[], Array], tangent: Array) -> "DualArray":
        """Return an array whose primal is computed when it is needed."""
        x = cls.__new__(cls)
        x.level, x.later, x.tangent = level, later, tangent
        return x

    def __getattr__(self, name: str) -> Any:
        if name != "primal":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        assert self.later is not None  # else the primal has been set
        self.primal, self.later = self.later(), None
        return self.primal

    @property
    def like(self) -> Array:
        """The primal, or the tangent if that is there already: an array of the same shape, dtype and device."""
        return self.primal if self.later is None else self.tangent

    @property
    def shape(self) -> Shape:
        """Shape of the array."""
        shape: Shape = self.like.shape
        return shape

    @property
    def dtype(self) -> Dtype:
        """Dtype of the array."""
        return self.like.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.like.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.backend.spec(self).size

    @property
    def device(self) -> DeviceHandle:
        """The library's device object."""
        return self.backend.handle_of(self)

    @property
    def T(self) -> Any:
        """The transpose of a matrix."""
        return self.backend.xp.matrix_transpose(self)

    @property
    def mT(self) -> Any:
        """The transposes of a stack of matrices."""
        return self.backend.xp.matrix_transpose(self)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return self.backend.namespace

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Return the array on another device of its library."""
        return self.backend.move(self, self.backend.device_for(device))

    # Elements

    def __getitem__(self, index: Any, /) -> Any:
        return self.backend.function("getitem", _item)(self, index=index)

    def __setitem__(self, index: Any, value: Any, /) -> None:
        raise TypeError(
            "jvp: an array in forward mode cannot be written to; assign to elements of a Variable, v[index] = value, "
            "or use xp.where"
        )

    def __len__(self) -> int:
        if not self.primal.shape:
            raise TypeError("a 0-d array has no length")
        return int(self.primal.shape[0])

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __contains__(self, item: Any) -> bool:
        return bool(self.backend.namespace.any(self == item))

    # Values, which are the primal's

    def __bool__(self) -> bool:
        return bool(self.value())

    def __int__(self) -> int:
        return int(self.value())

    def __float__(self) -> float:
        return float(self.value())

    def __complex__(self) -> complex:
        return complex(self.value())

    def __index__(self) -> int:
        return operator.index(self.value())

    def item(self) -> Any:
        """Return the number that a 0-d array holds."""
        return self.value().item()

    def value(self) -> Array:
        """Return the primal, after a check that the level has not ended."""
        if not self.level.live:
            self.level.check()
        return self.primal

    def __dlpack__(self, **options: Any) -> Any:
        return self.value().__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.primal.__dlpack_device__()

    def __repr__(self) -> str:
        if not self.level.live:
            return f"<dual {self.backend.spec(self)!r} of a call that has ended>"
        return f"<dual: primal {self.primal!r}, tangent {self.tangent!r}>"

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return self.backend.protocol(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self.backend.by_variables(function, args, kwargs)

    __hash__ = object.__hash__


def _item(x: Array, index: Any) -> Array:
    return x[index]


def _binary(name: str, function: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Any, other: Any, /) -> Any:
        backend = self.backend
        return backend.function(name, function)(self, other) if backend.meets(other) else NotImplemented

    def reflected(self: Any, other: Any, /) -> Any:
        backend = self.backend
        return backend.function(name, function)(other, self) if backend.meets(other) else NotImplemented

    return forward, reflected


def _unary(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: self.backend.function(name, function)(self)


for _python, (_name, _function) in BINARY.items():
    _forward, _reflected = _binary(_name, _function)
    setattr(DualArray, f"__{_python}__", _forward)
    setattr(DualArray, f"__r{_python}__", _reflected)
for _python, (_name, _function) in COMPARISONS.items():
    setattr(DualArray, f"__{_python}__", _binary(_name, _function)[0])
for _python, (_name, _function) in UNARY.items():
    setattr(DualArray, f"__{_python}__", _unary(_name, _function))
