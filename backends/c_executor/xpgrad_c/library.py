"""`SharedLibrary`: a compiled shared library, and the functions of Python that call its groups."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.errors import XpgradError
from xpgrad.plugin import Backend, Spec, programs_of, run_all
from xpgrad.types import Array
from xpgrad_c.generator import GroupSource
from xpgrad_c.glue import PLACES, Record, new_function, python_api
from xpgrad_c.layout import ArrayLayout, has_any_order, key_of
from xpgrad_c.worth import work
from xpgrad_fusion.group import Fused

SHARED_FROM = 2**20
"""The work of a group, see `work`, from which on its chunks are shared among threads: some 80 microseconds, twice what
it takes to wake a thread."""

Function = Callable[..., Sequence[Array]]


class NoMemory(Exception):
    """There was no memory for the scratch of some chunks."""


class SharedLibrary:
    """A shared library, which stays loaded.

    Parameters
    ----------
    path : str

    Raises
    ------
    OSError
        It cannot be loaded.
    """

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)
        self._chunks, self._all = self._library.xp_chunks, self._library.xp_all
        self._chunks.argtypes = (ctypes.c_void_p, ctypes.c_long, ctypes.c_long)
        self._all.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        api = python_api()
        self._method = 0
        if api is not None:
            self._library.xp_set_api((ctypes.c_void_p * len(api))(*api))
            self._method = ctypes.addressof(ctypes.c_char.in_dll(self._library, "xp_method"))

    def address(self, name: str) -> int:
        """Return the address of a function.

        Raises
        ------
        AttributeError
            It has no function of this name.
        """
        return ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value or 0

    def function(
        self,
        name: str,
        source: GroupSource,
        fused: Fused,
        fallback: Function,
        backend: Backend,
        layout: ArrayLayout | None,
    ) -> Function:
        """Return the function that computes a group: it takes and returns arrays.

        Parameters
        ----------
        name : str
            Of the group in this library.
        source : GroupSource
        fused : Fused
        fallback : callable
            Computes the same for arrays with gaps or in another order, and without memory for scratch.
        backend : Backend
        layout : ArrayLayout or None
            If None, methods of the backend return the addresses.
        """
        record = Record()
        record.run, record.end = self.address(name), self.address(f"{name}_end") if source.ends else None
        record.inputs, record.outputs = len(fused.inputs), len(fused.outputs)
        record.chunks, record.scratch, record.partials = source.chunks, source.scratch, source.partials
        record.points, record.any_order = fused.rows * fused.columns, has_any_order(fused)
        record.shared = source.chunks > 1 and work(fused) >= SHARED_FROM
        called = Called(self._chunks, self._all, record, fused, fallback, backend)
        if layout is None or not self._method:
            return called
        for field in PLACES:
            setattr(record, f"{field}_at", getattr(layout, field))
        record.flags, record.type = layout.contiguous, id(layout.kind)
        record.inner_type, record.none = id(layout.inner_kind), id(None)
        words = [word for value in fused.inputs for word in key_of(value.spec)]
        data = bytes(record) + bytes((ctypes.c_long * len(words))(*words))
        specs = [value.spec for value in fused.inputs]  # whose dtypes must stay, as their addresses are compared
        programs = programs_of(backend)
        made = [programs.allocator(value.spec) for value in fused.outputs]
        return new_function(self._method, (data, called, called.share, programs.contiguous, *made, layout, specs, self))


class Called:
    """Calls a group by addresses that the backend gives, also of arrays that must be copied first."""

    __slots__ = ("_all", "_backend", "_chunks", "_fallback", "_record", "_results", "_reversed", "_specs")

    def __init__(
        self, chunks: Any, whole: Any, record: Record, fused: Fused, fallback: Function, backend: Backend
    ) -> None:
        self._chunks, self._all, self._record = chunks, whole, record
        self._fallback, self._backend = fallback, backend
        self._specs = tuple(value.spec for value in fused.inputs)
        self._results = tuple(value.spec for value in fused.outputs)
        turned = [(spec.shape[::-1], spec.dtype, spec.device) for spec in self._results]
        self._reversed = tuple(backend.spec_for(*each) for each in turned)

    def __call__(self, *arrays: Array) -> Sequence[Array]:
        """Return new arrays, of elements in Fortran order if those of all arguments are."""
        views = self._in_fortran_order(arrays) if self._record.any_order else None
        used = views or [self._in_order(array, spec) for array, spec in zip(arrays, self._specs, strict=True)]
        if any(array is None for array in used):
            return self._fallback(*arrays)
        made = [self._backend.empty(spec) for spec in (self._reversed if views else self._results)]
        places = (ctypes.c_void_p * (len(used) + len(made)))(*map(programs_of(self._backend).address, (*used, *made)))
        if all(places) and self._run(places, (used, made)):
            return tuple(map(self._turned, made) if views else made)
        return self._fallback(*arrays)

    def _turned(self, array: Array) -> Array:
        """Return a view of an array with its axes reversed."""
        return self._backend.xp.permute_dims(array, axes=tuple(range(array.ndim))[::-1])

    def _in_fortran_order(self, arrays: Sequence[Array]) -> list[Array] | None:
        """Return views in C order with reversed axes; None for other arrays."""
        backend, programs = self._backend, programs_of(self._backend)
        try:
            views = [self._turned(backend.restore(array)) for array in arrays]
            known = zip(arrays, self._specs, strict=True)
            same = all(same_spec(backend.spec(array), spec) for array, spec in known)
            return views if same and all(map(programs.address, views)) else None
        except (AttributeError, TypeError, XpgradError):  # not an array of the library
            return None

    def _in_order(self, array: Array, spec: Spec) -> Array | None:
        """Return the array, or a copy of it with its elements in order; None if it is not as expected, or large."""
        backend, programs = self._backend, programs_of(self._backend)
        try:
            array = backend.restore(array)
            if not same_spec(backend.spec(array), spec):
                return None
            if programs.address(array):
                return array
            if spec.size > self._record.points:  # only few of its elements are used
                return None
            array = programs.contiguous(array)
            return array if programs.address(array) else None
        except (AttributeError, TypeError, XpgradError):  # not an array of the library
            return None

    def _run(self, places: "ctypes.Array[ctypes.c_void_p]", arrays: object) -> bool:
        record = self._record
        if not record.shared:
            return bool(self._all(ctypes.byref(record), places))
        try:
            partials = ctypes.create_string_buffer(record.partials + 64)
        except MemoryError:
            return False
        start = -(-ctypes.addressof(partials) // 64) * 64
        job = (ctypes.c_void_p * 5)(ctypes.addressof(record), ctypes.addressof(places), start)
        if not self.share(ctypes.addressof(job), (job, record, places, partials, arrays)):
            return False
        if record.end:
            ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(record.end)(places, start)
        return True

    def share(self, job: int, memory: object = None) -> bool:
        """Compute the chunks of a job, given by its address, in several threads; return whether there was memory.

        After an interrupt threads may still compute, so that they keep `memory`: the job and its arrays.
        """
        chunks = self._chunks

        def task(first: int, last: int, memory: object = memory) -> None:
            if not chunks(job, first, last):
                raise NoMemory

        try:
            run_all(task, self._record.chunks)
        except NoMemory:
            return False
        return True


def same_spec(spec: Spec, other: Spec) -> bool:
    """Return whether two specs have equal shape, dtype and device."""
    return spec is other or (spec.shape == other.shape and spec.dtype == other.dtype and spec.device == other.device)
