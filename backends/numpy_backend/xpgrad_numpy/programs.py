"""NumPy's functions in compiled programs: which return new memory, and which can write into given memory."""

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xpgrad.plugin import CHAPTERS, OPERATORS, Programs, RowKernel, Spec, python_operator
from xpgrad.types import Array, Dtype, Kernel
from xpgrad_numpy import elementwise
from xpgrad_numpy.aligned import aligned
from xpgrad_numpy.kernels import KERNELS
from xpgrad_numpy.kernels.gathers import scatter_add
from xpgrad_numpy.kernels.indexing import INDEXING
from xpgrad_numpy.kernels.joint import Joint, joint
from xpgrad_numpy.kernels.rows import POINTWISE
from xpgrad_numpy.namespace import NAMESPACE, at_once, is_whole
from xpgrad_numpy.writers import INTO, WRITERS

_VIEWS = {
    *("broadcast_arrays", "broadcast_to", "expand_dims", "flip", "matrix_transpose", "moveaxis", "permute_dims"),
    *("reshape", "squeeze", "unstack", "asarray", "from_dlpack", "meshgrid", "astype", "getitem", "sum_to", "sum.x"),
    *("real", "imag", "linalg.diagonal", "linalg.matrix_transpose", "accumulate", "clip", "round"),
}
"""Functions that may return their argument, or a view of it."""
_NETWORKS = {
    *("affine", "affine_b", "affine_x", "convolution", "cross_entropy", "cross_entropy_x", "expit", "expit_x", "gate"),
    *("log_softmax", "log_softmax_backward", "logsumexp", "normalized", "relu", "softmax", "softmax_backward"),
    *("softmax_from_log", "softmax_from_log_x", "standardize", "standardize_backward", "transposed_convolution"),
}
"""Kernels of `xpgrad.functions`, by their names in `xpgrad_numpy.kernels`, that compute their results in new arrays."""
_ONLY_IN_C = frozenset(("cumulative_prod.x", "normalized.gamma", "prod.x"))
"""Gradients whose kernels decline until they are compiled."""
_CHAPTERS = (
    "creation",
    "elementwise",
    "linear algebra",
    "manipulation",
    "indexing",
    "searching",
    "statistics",
    "sorting",
)


@functools.cache
def fresh(whole: bool) -> frozenset[Kernel]:
    """Return functions other than ufuncs whose results are in new memory, from all or the imported namespace."""
    kernels = {kernel for name, kernel in KERNELS.items() if name not in _VIEWS and "einsum" not in name}
    names = (
        name for chapter in _CHAPTERS for name in CHAPTERS[chapter] if name not in _VIEWS and (whole or at_once(name))
    )
    found = {getattr(NAMESPACE, name, None) for name in names}
    return frozenset(kernels | {function for function in found if function is not None})


def is_fresh(function: Kernel) -> bool:
    """Return whether a function is in `fresh`, or is a similar kernel for networks."""
    try:
        if function in fresh(is_whole()):
            return True
    except TypeError:  # an object that is not hashable
        return False
    own = str(getattr(function, "__module__", "")).startswith("xpgrad_numpy.kernels.")
    return own and function.__name__ in _NETWORKS


_OPERATORS: dict[Kernel, Kernel] = {
    python_operator(name): getattr(np, function)
    for name, function in OPERATORS.items()
    if name not in ("pow", "matmul")
}
"""What operators of arrays call. Powers are not among them: ``x ** 2`` is another function than `power`."""


def loop(function: Kernel) -> Kernel | None:
    """Return the ufunc that a function or operator is, if it computes element by element, with one result."""
    try:
        function = _OPERATORS.get(function, function)
    except TypeError:  # an object that is not hashable
        return None
    if not isinstance(function, np.ufunc) or function.signature is not None or function.nout != 1:
        return None
    return function


def writer(function: Kernel) -> Kernel | None:
    """Return an elementwise function that takes ``out=``, which may be an argument; or None."""
    return loop(function) or _found(WRITERS, function)


def into(function: Kernel) -> Kernel | None:
    """Return a function that takes ``out=``, which shares no memory with its arguments; or None."""
    return loop(function) or _found(INTO, function)


def _found(kernels: dict[Kernel, Kernel], function: Kernel) -> Kernel | None:
    try:
        return kernels.get(function)
    except TypeError:  # an object that is not hashable
        return None


_SCALAR_DTYPES = frozenset(map(np.dtype, ("float32", "float64")))
_ON_SCALARS: dict[Kernel, str] = {
    np.add: "{} + {}",
    np.subtract: "{} - {}",
    np.multiply: "{} * {}",
    np.negative: "-{}",
    np.square: "{0} * {0}",
    KERNELS["square.x"]: "{0} * {1} * 2",
}
"""Expressions that round scalars as the loop over arrays does, in a tenth of the time of a loop over one element."""


def on_scalars(
    function: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any], dtype: Dtype
) -> tuple[str, tuple[Any, ...]] | None:
    """Return the expression that `Programs.on_scalars` describes."""
    if dtype not in _SCALAR_DTYPES:
        return None
    if function is operator.getitem or function is INDEXING["getitem"]:
        index = kwargs["index"] if kwargs else args[-1]
        return ("{}[{}]", (args[0], index)) if _are_numbers(index) else None
    try:
        found = None if kwargs else _ON_SCALARS.get(loop(function) or function)
    except TypeError:  # an object that is not hashable
        return None
    if found is None:
        return None
    operands = tuple(_scalar(item, dtype) for item in args)
    return None if any(item is None for item in operands) else (found, operands)


def _are_numbers(index: Any) -> bool:
    return all(type(item) is int for item in index) if type(index) is tuple else type(index) is int


def _scalar(item: Any, dtype: Dtype) -> Any:
    """Return a constant operand as a scalar of `dtype`, or None; placeholders of arrays are unchanged."""
    if isinstance(item, np.ndarray):
        if item.dtype != dtype or item.ndim:
            return None
        return item if item.flags.writeable or item.base is not None else item[()]  # the first could change
    if type(item) is float or type(item) is int:
        return dtype.type(item) if abs(item) < 1e30 else None
    return None if item is None or isinstance(item, (bool, str, complex, np.generic)) else item


def takes_scalars(function: Kernel) -> bool:
    """Return whether a function takes scalars as it takes 0-d arrays."""
    return function is scatter_add


_ELEMENTWISE = {"tanh_slope", "tanh_x", "square_x", "expit", "expit_x", "relu", "gate"}
"""Kernels, by their names, that compute element by element."""


def is_elementwise(function: Kernel) -> bool:
    """Return whether a kernel computes element by element."""
    own = str(getattr(function, "__module__", "")).startswith("xpgrad_numpy.kernels.")
    return own and function.__name__ in _ELEMENTWISE


def _accepting(kernel: Kernel, rule: Kernel, *args: Any) -> Array:
    """Return the gradient by a kernel, or by its rule if it declines, in new memory."""
    found: Array = kernel(*args)
    if found is NotImplemented:
        found = rule(*args)
        if any(isinstance(a, np.ndarray) and np.may_share_memory(found, a) for a in args):
            return found.copy()
    return found


class NumPyPrograms(Programs):
    """NumPy in compiled programs and in blocks."""

    def is_fresh(self, function: Kernel) -> bool:
        """Return whether the results of a function are in new memory, as for ufuncs and many other functions."""
        if type(function) is np.ufunc or getattr(function, "func", None) is _accepting:
            return True
        if getattr(function, "__self__", None) is self.backend and function.__name__ == "asarray":
            return True
        return is_fresh(function)

    def traced_kernel(self, name: str, rule: Kernel | None) -> Kernel | None:
        """Return eager's kernel; if it exists only in C, that or the rule, or None where programs fuse the rule."""
        found = super().traced_kernel(name, rule)
        if found is None or rule is None:
            return found
        if name.replace(".", "_") in POINTWISE or name == "normalized.together":
            return None
        return functools.partial(_accepting, found, rule) if name in _ONLY_IN_C else found

    def writer(self, function: Kernel) -> Kernel | None:
        """Return ufuncs of one result, and the kernels that are like them, as functions that take ``out=``."""
        return writer(function)

    def into(self, function: Kernel) -> Kernel | None:
        """Return a version that writes to memory for elementwise functions and some kernels along axes, else None."""
        return into(function)

    def is_elementwise(self, function: Kernel) -> bool:
        """Return whether a function is a ufunc with one result, or an elementwise kernel."""
        return writer(function) is not None or is_elementwise(function)

    def blockwise(self, names: Sequence[str | None], rules: Sequence[Kernel]) -> Kernel:
        """Return the vjps of an elementwise function of large arrays, in blocks."""
        return elementwise.vjps(names, rules)

    def in_blocks(self, function: Kernel, arrays: Sequence[Array], specs: Sequence[Spec]) -> Sequence[Array]:
        """Return the results of a function, computed in blocks that fit the cache."""
        return elementwise.in_blocks(function, arrays, specs)

    def in_threads(self, function: Kernel, arrays: Sequence[Any], holders: Sequence[Any] = ()) -> Any:
        """Return the result of a function; threads share the arrays if it is a loop over elements of one dtype."""
        return elementwise.in_threads(function, arrays, holders)

    def in_cache(self, function: Kernel, arrays: Sequence[Array]) -> None:
        """Call a function that writes into arrays with their parts, if they are large."""
        elementwise.write_in_blocks(function, arrays)

    def joint(self, kernel: RowKernel, groups: Sequence[Sequence[Array]]) -> Joint | None:
        """Return a function that replaces the arrays of all groups by the results of a kernel in C."""
        return joint(kernel, groups)

    def scratch(self, spec: Spec) -> Array:
        """Return new memory where loops write fast; its elements are not initialised."""
        return aligned(spec.shape, spec.dtype)

    def on_scalars(
        self, function: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any], dtype: Dtype
    ) -> tuple[str, tuple[Any, ...]] | None:
        """Return the expression of scalars for sums, differences, products, squares, and elements of an array."""
        return on_scalars(function, args, kwargs, dtype)

    def number(self, array: Array) -> bool | int | float | None:
        """Return the value of a read-only 0-d array that owns its memory; None for other arrays."""
        constant = not array.ndim and array.dtype.kind in "biuf" and not array.flags.writeable and array.base is None
        return array.item() if constant else None

    def takes_scalars(self, function: Kernel) -> bool:
        """Return whether a function may be called with NumPy's scalars instead of 0-d arrays."""
        return takes_scalars(function)

    def address(self, array: Array) -> int:
        """Return the address of the first element if the array is aligned and in C order, else 0."""
        flags = array.flags
        return int(array.ctypes.data) if flags.c_contiguous and flags.aligned and array.dtype.isnative else 0

    def contiguous(self, array: Array) -> Array:
        """Return an aligned copy in C order."""
        return array.copy()

    def allocator(self, spec: Spec) -> Callable[[], Array]:
        """Return a function that allocates like `empty`, without the overhead of a Python function."""
        return functools.partial(np.empty, spec.shape, spec.dtype)

    def array_layout(self) -> Mapping[str, Any]:
        """Return the offsets of the fields of ``PyArrayObject``, which programs in C are compiled with."""
        start = object.__basicsize__
        fields = {"data": start, "rank": start + 8, "shape": start + 16, "dtype": start + 40, "flags": start + 48}
        return fields | {"contiguous": 0x0001 | 0x0100}  # NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_ALIGNED
