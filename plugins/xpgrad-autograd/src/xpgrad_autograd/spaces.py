"""Vector spaces of values: shapes, zeros, ones, bases, sums and inner products."""

import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from xpgrad_autograd.boxes import ArrayBox, NodeBox, functions, is_box, value_of
from xpgrad_autograd.trees import leaves, mapped


class VSpace:
    """The vector space of a value; a subclass for each kind of value.

    Parameters
    ----------
    value : object
        One of its elements.
    """

    mappings: ClassVar[dict[type, Callable[[Any], "VSpace"]]] = {}
    iscomplex: bool = False
    shape: Any
    size: Any

    def __init__(self, value: Any) -> None:
        pass

    def zeros(self) -> Any:
        """Return the zero."""
        raise NotImplementedError(f"{type(self).__name__} has no zeros")

    def ones(self) -> Any:
        """Return the element whose coordinates are 1."""
        raise NotImplementedError(f"{type(self).__name__} has no ones")

    def standard_basis(self) -> Iterator[Any]:
        """Yield a basis."""
        raise NotImplementedError(f"{type(self).__name__} has no basis")

    def randn(self) -> Any:
        """Return an element with random normal coordinates."""
        raise NotImplementedError(f"{type(self).__name__} draws no random elements")

    def add(self, x: Any, y: Any) -> Any:
        """Return the sum of two elements."""
        return self._add(x, y)

    def mut_add(self, x: Any, y: Any) -> Any:
        """Return ``x + y``, possibly in the memory of `x`; None for `x` means zero."""
        return self._mut_add(self.zeros() if x is None else x, y)

    def scalar_mul(self, x: Any, a: Any) -> Any:
        """Return an element times a number."""
        return self._scalar_mul(x, a)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """Return the real inner product of two elements."""
        return self._inner_prod(x, y)

    def covector(self, x: Any) -> Any:
        """Return an element as a cotangent."""
        return self._covector(x)

    def _add(self, x: Any, y: Any) -> Any:
        return x + y

    def _mut_add(self, x: Any, y: Any) -> Any:
        return self._add(x, y)

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return x * a

    def _inner_prod(self, x: Any, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no inner product")

    def _covector(self, x: Any) -> Any:
        return x

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}_{vars(self)}"

    @classmethod
    def register(cls, value_type: type, vspace_maker: Callable[[Any], "VSpace"] | None = None) -> None:
        """Register this class of spaces, or a function that makes a space, for values of a type."""
        VSpace.mappings[value_type] = vspace_maker or cls


class ArrayVSpace(VSpace):
    """Real arrays of one shape and dtype."""

    def __init__(self, value: Any) -> None:
        array = value if hasattr(value, "dtype") else np.asarray(value)
        self.shape, self.dtype = tuple(array.shape), numpy_dtype(array)

    @property
    def size(self) -> int:
        """The number of real coordinates."""
        return int(math.prod(self.shape)) * (2 if self.iscomplex else 1)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def zeros(self) -> Any:
        """Return the zero."""
        return np.zeros(self.shape, self.dtype)

    def ones(self) -> Any:
        """Return the array of ones; complex elements are ``1 + 1j``."""
        return np.full(self.shape, 1 + 1j if self.iscomplex else 1, self.dtype)

    def standard_basis(self) -> Iterator[Any]:
        """Yield arrays with one element 1, or 1j, and zeros."""
        for index in np.ndindex(*self.shape):
            for one in (1.0, 1.0j) if self.iscomplex else (1.0,):
                made = np.zeros(self.shape, self.dtype)
                made[index] = one
                yield made

    def randn(self) -> Any:
        """Return random normal numbers."""
        draw = np.random.randn
        made = np.asarray(draw(*self.shape)).astype(self.dtype)
        return made + 1j * np.asarray(draw(*self.shape)).astype(self.dtype) if self.iscomplex else made

    def _inner_prod(self, x: Any, y: Any) -> Any:
        xp = functions()
        if self.iscomplex:
            return xp["real"](xp["dot"](xp["conj"](xp["ravel"](x)), xp["ravel"](y)))
        return xp["dot"](xp["ravel"](x), xp["ravel"](y))


class ComplexArrayVSpace(ArrayVSpace):
    """Complex arrays of one shape and dtype, as real vector space."""

    iscomplex = True

    def _covector(self, x: Any) -> Any:
        return functions()["conj"](x)


def of_array(value: Any) -> VSpace:
    """Return the space of an array or number."""
    array = value if hasattr(value, "dtype") else np.asarray(value)
    return (ComplexArrayVSpace if numpy_dtype(array).kind == "c" else ArrayVSpace)(array)


def numpy_dtype(array: Any) -> Any:
    """Return the NumPy dtype that corresponds to the dtype of an array of any library."""
    dtype = array.dtype
    return dtype if isinstance(dtype, np.dtype) else np.dtype(str(dtype).rpartition(".")[2])


class TreeVSpace(VSpace):
    """Nested tuples, lists and dictionaries."""

    def __init__(self, value: Any) -> None:
        self.shape = mapped(_Leaf, value)

    @property
    def spaces(self) -> list[VSpace]:
        """The spaces of the leaves."""
        return [leaf.space for leaf in leaves(self.shape)]

    @property
    def size(self) -> int:
        """The number of real coordinates."""
        return sum(space.size for space in self.spaces)

    def _each(self, function: Callable[..., Any], *trees: Any) -> Any:
        return mapped(lambda leaf, *values: function(leaf.space, *values), self.shape, *trees)

    def zeros(self) -> Any:
        """Return a tree of zeros."""
        return self._each(lambda space: space.zeros())

    def ones(self) -> Any:
        """Return a tree whose leaves are ones."""
        return self._each(lambda space: space.ones())

    def randn(self) -> Any:
        """Return a tree of random normal numbers."""
        return self._each(lambda space: space.randn())

    def standard_basis(self) -> Iterator[Any]:
        """Yield trees with a basis element of one leaf, and zeros."""
        for i, space in enumerate(self.spaces):
            for element in space.standard_basis():
                number = iter(range(len(self.spaces)))

                def one(leaf: Any, element: Any = element, i: int = i, number: Iterator[int] = number) -> Any:
                    return element if next(number) == i else leaf.space.zeros()

                yield mapped(one, self.shape)

    def _add(self, x: Any, y: Any) -> Any:
        return self._each(lambda space, a, b: space.add(a, b), x, y)

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return self._each(lambda space, each: space.scalar_mul(each, a), x)

    def _covector(self, x: Any) -> Any:
        return self._each(lambda space, each: space.covector(each), x)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        products = self._each(lambda space, a, b: space.inner_prod(a, b), x, y)
        return sum(leaves(products))


class _Leaf:
    """The space of one leaf."""

    def __init__(self, value: Any) -> None:
        self.space = vspace(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Leaf) and self.space == other.space

    def __hash__(self) -> int:
        return hash(type(self))


for _type in (np.ndarray, float, complex, np.longdouble, np.clongdouble, np.float64, np.float32, np.float16,
              np.complex64, np.complex128, ArrayBox, NodeBox):  # fmt: skip
    VSpace.register(_type, of_array)
for _container in (tuple, list, dict):
    VSpace.register(_container, TreeVSpace)


def vspace(value: Any) -> VSpace:
    """Return the vector space of a value.

    Raises
    ------
    TypeError
        No space is registered for its type.
    """
    made = VSpace.mappings.get(type(value))
    if made is not None:
        return made(value)
    if is_box(value):
        return vspace(value_of(value))
    if isinstance(value, (tuple, list, dict)):
        return TreeVSpace(value)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return of_array(value)
    raise TypeError(
        f"vspace: expected one of {[kind.__name__ for kind in VSpace.mappings]}, got {type(value).__name__}"
    )
