"""`Programs`: properties of a library's functions and arrays that compiled functions, blocks and C code use."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xpgrad.types import Array, Dtype, Kernel

if TYPE_CHECKING:
    from xpgrad.backend.backend import Backend
    from xpgrad.backend.executors import RowKernel
    from xpgrad.backend.spec import Spec

METHODS = (".fill", ".sort", ".partition", ".put", ".itemset")
WRITERS = {*METHODS, "copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "shuffle"}
"""NumPy's names of functions and methods that write to their first argument."""


class Programs:
    """Properties of a library's functions and arrays; a backend assigns an object of a subclass to `programs`.

    Every method has a default that is right for every library, and makes programs slower at most.

    Parameters
    ----------
    backend : Backend
    """

    def __init__(self, backend: "Backend") -> None:
        self.backend = backend

    # Functions

    def is_fresh(self, function: Callable[..., Any]) -> bool:
        """Return whether every result of a function of the library is in new memory without other references.

        When in doubt, return False: a possible view is copied where it leaves a compiled function.
        """
        return False

    def writes(self, name: str) -> bool:
        """Return whether a function of this name writes to its first argument; method names begin with a period.

        The default covers functions of libraries with NumPy's protocols.
        """
        return name in WRITERS and any(hasattr(kind, "__array_function__") for kind in self.backend.array_types)

    def traced_kernel(self, name: str, rule: Kernel | None) -> Kernel | None:
        """Return what programs call for a default body or rule, or None: the same before and after it is compiled."""
        return self.backend.xp.find(name)

    def writer(self, function: Callable[..., Any]) -> Callable[..., Any] | None:
        """Return a variant of an elementwise function that accepts ``out=``, an array for its result, or None.

        That array has the result's shape and dtype, and may be an argument. The bits are the same at every address.
        """
        return None

    def into(self, function: Callable[..., Any]) -> Callable[..., Any] | None:
        """Return a variant of a function that accepts ``out=``, an array for its result; None if none exists.

        That array has the result's shape and dtype, and shares no memory with the arguments.
        """
        return self.writer(function)

    def is_elementwise(self, function: Callable[..., Any]) -> bool:
        """Return whether a function computes each element of one new array from elements at its position, bit for bit.

        Then a compiled function may call it on parts of its arrays, through `in_blocks`.
        """
        return False

    def blockwise(self, names: Sequence[str | None], rules: Sequence[Kernel]) -> Kernel | None:
        """Return a function that computes the vjps of an elementwise function of large arrays, or None.

        It is called as ``vjps(gy, values, totals, owned)``, and returns for each rule a new gradient, or None if it has
        added that to the total. It may return `NotImplemented` before it has any effect: then the rules run on whole
        arrays. Each element must get the very operations of the rule.

        Parameters
        ----------
        names : sequence of str or None
            Names of the vjps' kernels; None for a kernel that another package has replaced.
        rules : sequence of callable
            ``rule(gy, *values)``, elementwise, for one input each.
        gy : array
        values : sequence of sequence
            Arguments of each rule: arrays, scalars or other parameters.
        totals : sequence of array or None
            An array per rule to which the gradient may be added in place if shape and dtype are equal.
        owned : bool
            Whether `gy` may be overwritten: it is not a view, and no other reference exists.
        """
        return None

    # Blocks

    def in_blocks(
        self, function: Callable[..., Any], arrays: Sequence[Array], specs: "Sequence[Spec]"
    ) -> Sequence[Array]:
        """Return new arrays of `specs`, which `function` computes from blocks of `arrays`.

        `function` takes arrays, 0-d or with the shape of the results, followed by memory for each result: an array or
        None. It returns the results, in that memory or in new arrays.
        """
        return function(*arrays, *(None for _ in specs))  # type: ignore[no-any-return]  # a tuple of arrays

    def in_threads(self, function: Callable[..., Any], arrays: Sequence[Any], holders: Sequence[Any] = ()) -> Any:
        """Return ``function(*arrays)`` for an elementwise function of large arrays, which threads may share.

        A result may take the memory of an array if only its holder, a Variable or None, has it, and only the call that.
        """
        return function(*arrays)

    def in_cache(self, function: Callable[..., Any], arrays: Sequence[Array]) -> None:
        """Call a function that computes elementwise and writes into `arrays`, all of one shape.

        It may be called with corresponding parts of the arrays, one after the other, which stay in the cache.
        """
        function(*arrays)

    def joint(
        self, kernel: "RowKernel", groups: Sequence[Sequence[Array]]
    ) -> Callable[[Sequence[Array], Sequence[Any]], bool] | None:
        """Return a function that replaces the arrays of all groups by the results of an elementwise kernel.

        A group has the first arrays of the kernel, all of one shape. The function takes the next array of each group,
        and the numbers that are the kernel's last arguments. It returns False, and has changed nothing, if it cannot
        take these arrays. None if the kernel is not compiled.
        """
        return None

    def apart(self, arrays: Sequence[Array]) -> bool:
        """Return whether no two of the arrays are views of one, by default as the attribute `base` says."""
        owners = set[int]()
        for array in arrays:
            while (base := getattr(array, "base", None)) is not None:
                array = base
            owners.add(id(array))
        return len(owners) == len(arrays)

    def scratch(self, spec: "Spec") -> Array:
        """Return a new uninitialised array for intermediate results."""
        return self.backend.namespace.empty(spec.shape, dtype=spec.dtype, device=spec.device)

    # Scalars

    def on_scalars(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], dtype: Dtype
    ) -> tuple[str, tuple[Any, ...]] | None:
        """Return how a 0-d result is computed with the library's scalars, to the same bits, or None.

        The result is an expression, ``"{} + {}"``, and its operands. `args` are the arguments of `function`. Array
        arguments have the `dtype` of the result; 0-d arguments may be scalars in the expression.
        """
        return None

    def number(self, array: Array) -> bool | int | float | None:
        """Return the value of a 0-d read-only array of real numbers; None for other arrays."""
        return None

    def takes_scalars(self, function: Callable[..., Any]) -> bool:
        """Return whether a function may be called with the library's scalars instead of 0-d arrays."""
        return False

    # Memory

    def address(self, array: Array) -> int:
        """Return the address of the first element of an array that compiled code can use, and 0 for other arrays.

        Such an array is in host memory, its elements are aligned, in native byte order, and in C order without gaps.
        """
        return 0

    def contiguous(self, array: Array) -> Array:
        """Return a copy with nonzero `address` of an array without an address, if possible."""
        return self.backend.copy(array)

    def allocator(self, spec: "Spec") -> Callable[[], Array]:
        """Return a function that allocates as `empty` does, with the least overhead."""
        return functools.partial(self.backend.empty, spec)

    def array_layout(self) -> Mapping[str, Any] | None:
        """Return the memory layout of the objects of the first of the `array_types` for compiled code, or None.

        The layout contains offsets in bytes: of the pointers to the first element ("data"), to the lengths of the axes
        ("shape", C type ``intptr_t``) and to the dtype ("dtype"), and of the number of axes ("rank") and of flags
        ("flags"), of the type ``int``; and the flags of arrays whose `address` is not 0 ("contiguous"). If these fields
        are in another object within the array: its type ("inner_kind"), and the offsets of the pointers to it ("inner")
        and to the field that must be None ("none"). All values are compared with the results of the other methods
        before they are used.
        """
        return None


def programs_of(backend: "Backend") -> Programs:
    """Return the `programs` of a backend, or the defaults."""
    found = backend.programs
    return Programs(backend) if found is None else found
