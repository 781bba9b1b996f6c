"""The methods of chx arrays, from the standard and from ChainerX."""

import operator
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import xpgrad
from xpgrad import functions
from xpgrad.plugin import check_cast
from xpgrad.types import Dtype
from xpgrad_chx import graph
from xpgrad_chx.arithmetic import Arithmetic
from xpgrad_chx.autograd import Autograd
from xpgrad_chx.backprop import anygraph
from xpgrad_chx.device import get_device
from xpgrad_chx.errors import ChainerxError, DimensionError
from xpgrad_chx.evaluation import assign, call, getitem
from xpgrad_chx.memory import Memory, another, over

API_VERSIONS = "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"
"""Versions of the standard that the namespace of arrays follows."""
NAMESPACE = __name__.partition(".")[0]
"""The package, which is the namespace of its arrays and is imported before there is one."""


class Methods(Arithmetic, Autograd):
    """Methods of arrays. Results are in the graph of the array."""

    __slots__ = ()

    __array_priority__ = 100
    __array_ufunc__ = None  # so that NumPy's operators defer to chx operators

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return `xpgrad_chx`, the namespace of these arrays."""
        if api_version is not None and api_version not in API_VERSIONS:
            known = ", ".join(API_VERSIONS)
            raise ValueError(f"__array_namespace__: expected a version of the standard ({known}), got {api_version!r}")
        return sys.modules[NAMESPACE]

    # Shapes

    @property
    def T(self) -> Any:
        """The array with its axes reversed."""
        return self.transpose()

    @property
    def mT(self) -> Any:
        """The array with its last two axes swapped."""
        return call("matrix_transpose", (self,), {})

    def transpose(self, *axes: Any) -> Any:
        """Return the array with its axes reversed, or in a given order, as several arguments or one sequence."""
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            axes = tuple(axes[0] or ())
        return call("permute_dims", (self, axes or tuple(range(self.ndim))[::-1]), {})

    def reshape(self, *shape: Any) -> Any:
        """Return the same elements in another shape, given as several arguments or one sequence."""
        lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return call("reshape", (self, tuple(lengths)), {})

    def flatten(self) -> Any:
        """Return a copy of the elements in one axis."""
        return self.copy().reshape(-1)

    def ravel(self) -> Any:
        """Return the elements in one axis, without a copy if they are contiguous."""
        return self.reshape(-1)

    def squeeze(self, axis: Any = None) -> Any:
        """Return the array without the axes `axis`, by default all axes of length 1."""
        axes = tuple(i for i, length in enumerate(self.shape) if length == 1) if axis is None else axis
        return call("squeeze", (self,), {"axis": axes})

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Return the array with two axes swapped."""
        return call("swapaxes", (self, axis1, axis2), {})

    def repeat(self, repeats: Any, axis: int | None = None) -> Any:
        """Return the array with elements repeated along `axis`."""
        return call("repeat", (self, repeats), {"axis": axis})

    # Reductions

    def sum(self, axis: Any = None, *, dtype: Dtype | None = None, keepdims: bool = False) -> Any:
        """Return the sum over `axis`."""
        return call("sum", (self,), {"axis": axis, "dtype": dtype, "keepdims": keepdims})

    def prod(self, axis: Any = None, *, dtype: Dtype | None = None, keepdims: bool = False) -> Any:
        """Return the product over `axis`."""
        return call("prod", (self,), {"axis": axis, "dtype": dtype, "keepdims": keepdims})

    def mean(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Return the mean over `axis`."""
        return call("mean", (self,), {"axis": axis, "keepdims": keepdims})

    def var(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Return the variance over `axis`."""
        return call("var", (self,), {"axis": axis, "keepdims": keepdims})

    def std(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Return the standard deviation over `axis`."""
        return call("std", (self,), {"axis": axis, "keepdims": keepdims})

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Return the maximum over `axis`; in its gradient, ties share equally."""
        return call("max", (self,), {"axis": axis, "keepdims": keepdims})

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Return the minimum over `axis`; in its gradient, ties share equally."""
        return call("min", (self,), {"axis": axis, "keepdims": keepdims})

    def all(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Return whether all elements along `axis` are true."""
        return call("all", (self,), {"axis": axis, "keepdims": keepdims})

    def any(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Return whether any element along `axis` is true."""
        return call("any", (self,), {"axis": axis, "keepdims": keepdims})

    def argmax(self, axis: int | None = None) -> Any:
        """Return the index of the maximum along `axis`."""
        return call("argmax", (self,), {"axis": axis})

    def argmin(self, axis: int | None = None) -> Any:
        """Return the index of the minimum along `axis`."""
        return call("argmin", (self,), {"axis": axis})

    # Elements

    def clip(self, a_min: Any = None, a_max: Any = None) -> Any:
        """Return the elements clipped to the limits."""
        return call("clip", (self, a_min, a_max), {})

    def dot(self, b: Any) -> Any:
        """Return the product with a matrix or vector; 0-d arrays multiply."""
        return self * b if 0 in (self.ndim, b.ndim) else self @ b

    def take(self, indices: Any, axis: int | None = None) -> Any:
        """Return the elements at `indices` along `axis`, by default of the flattened array."""
        return call("take", (self, indices), {"axis": axis}) if axis is not None else self.ravel().take(indices, 0)

    def conj(self) -> Any:
        """Return the complex conjugate."""
        return call("conj", (self,), {})

    @property
    def real(self) -> Any:
        """Real part."""
        return call("real", (self,), {})

    @property
    def imag(self) -> Any:
        """Imaginary part."""
        return call("imag", (self,), {})

    def __getitem__(self, index: Any) -> Any:
        return getitem(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        assign(operator.setitem, "__setitem__", self, index, value)

    def fill(self, value: Any) -> None:
        """Write one value into all elements."""
        self[...] = value

    def item(self) -> Any:
        """Return the only element as a Python scalar."""
        if self.size != 1:
            raise DimensionError(f"item: expected one element, got shape {self.shape}")
        return self._data.item()

    def tolist(self) -> Any:
        """Return nested lists of Python scalars."""
        return self._data.tolist()

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a 0-d array")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        for i in range(len(self)):
            yield self[i]

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.ndim or self.dtype.kind not in "biu":
            raise TypeError(f"only a 0-d integer array can be an index, got {self.dtype} {self.shape}")
        return int(self.item())

    # Copies

    def copy(self) -> Any:
        """Return a copy that is connected to this array."""
        if self._graph is None:
            return over(type(self), self._device.buffers.copy(self._data), self._device)
        return graph.record("copy", (self,), {})

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        memo[id(self)] = made = (self if self._is_computed() else another(self)).copy()
        return made

    def _is_computed(self) -> bool:
        """Return whether the array is the result of a recorded operation."""
        return (
            self._graph is not None
            and self._graph.variable.creator_node is not None
            and self.is_backprop_required(anygraph)
        )

    def astype(self, dtype: Dtype, copy: bool = True) -> Any:
        """Return the array in another dtype; complex arrays cannot be converted to real dtypes."""
        return call("astype", (self, check_cast(self, dtype, "astype")), {"copy": copy})

    def to_device(self, device: Any, index: int | None = None, *, stream: Any = None) -> Any:
        """Return the array on a device, itself if it is on it already; differentiable."""
        target = get_device(device) if index is None else get_device(device, index)
        if target is self._device:
            return self
        if self._graph is None:
            return target.place.send(self)
        return graph.recorded(functions.copy, (self, target.place), {})

    def __reduce__(self) -> tuple[Any, ...]:
        if self._is_computed():
            raise xpgrad.GraphError(
                "pickle: expected an array in no graph, its gradient would be lost; pickle a.as_grad_stopped()"
            )
        return restored, (type(self), self._device.buffers.to_host(self._data), self._device.name)

    # Conversion to other libraries

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        self._export("__array__", TypeError)
        if not self._device.on_host:
            raise TypeError(f"__array__: the array is on {self._device}; use to_numpy(...)")
        return np.array(self._data, dtype, copy=copy)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return the memory as a DLPack capsule for another library; an error if the array is in a graph."""
        self._export("__dlpack__", BufferError)
        wishes = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        return self._data.__dlpack__(**{name: value for name, value in wishes.items() if value is not None})

    def __dlpack_device__(self) -> tuple[Any, int]:
        """Return type and number of the device, as DLPack counts them."""
        return self._data.__dlpack_device__()  # type: ignore[no-any-return]  # typed Any by the library

    def _export(self, method: str, error: type[Exception]) -> None:
        if self._graph is not None and self.is_backprop_required(anygraph):
            raise error(f"{method}: the array is in a graph, its gradient would be lost; use as_grad_stopped() first")

    # Text

    def __repr__(self) -> str:
        words = [
            np.array2string(self._device.buffers.to_host(self._data), prefix="array(", separator=", "),
            f"shape={self.shape}",
            f"dtype={self.dtype}",
            f"device='{self._device}'",
        ]
        if self._graph is not None:
            words.append(f"backprop_ids={[each.name for each in self.backprop_ids]}")
        return f"array({', '.join(words)})"


def restored(kind: type[Any], data: Any, device: str) -> Any:
    """Return the array that `__reduce__` described, on its device."""
    place = get_device(device)
    if place.on_host:
        return over(kind, data, place)
    return over(kind, place.buffers.from_host(data, xpgrad.get_device(place.handle)), place)


def to_numpy(x: Any, copy: bool = True) -> Any:
    """Return the values of an array as a NumPy array, over the same host memory if `copy` is False."""
    if not isinstance(x, Memory):
        raise ChainerxError(f"to_numpy: expected a chx array, got {type(x).__name__}")
    return x._data if x._device.on_host and not copy else x._device.buffers.to_host(x._data)
