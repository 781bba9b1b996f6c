"""Faults by a second person who had not read the checks, which the suite did not find at first."""

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.seeded.invented_states import pause
from tests.faults.testbed import Testbed, change

from xpgrad.backend.kernels import table
from xpgrad.backend.plugins import plugins


def _rule(name: str) -> Callable[..., Any]:
    """Return the gradient rule `name`, of the host's arrays."""
    declared = table.find(name)
    assert declared is not None
    assert declared.rule is not None
    rule = declared.rule
    return lambda *arrays: rule(plugins.host.xp, *arrays)


def _kernel(name: str) -> Callable[..., Any]:
    """Return the host's kernel `name`: ``special.i0e``."""
    assert table.find(name) is not None
    return lambda *arrays: plugins.host.xp.kernel(name)(*arrays)


@fault(
    "sign-of-complex-squares",
    "sign of a complex number divides by the root of a sum of squares, which overflow and underflow",
    "K",
    operations=("sign",),
)
def sign_of_complex_squares(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        if x.dtype.kind != "c":
            return original(x)
        with np.errstate(all="ignore"):
            size = np.sqrt(x.real * x.real + x.imag * x.imag)
            out = (x.real / size + 1j * (x.imag / size)).astype(x.dtype)
        return np.where(np.isfinite(x) & (x != 0), out, original(x))

    def kernel(x: Any) -> Any:
        return wrong(np.sign, x)

    bed.replace("sign", wrong)
    bed.kernel("complex_sign", kernel)


@fault("int-of-uint64-is-signed", "int() of a 0-d uint64 array reads it as int64, negative from 2^63 on", "D")
def int_of_uint64_is_signed(bed: Testbed) -> None:
    def number(self: Any) -> int:
        return int(self.inner.view(np.int64)) if self.inner.dtype == np.uint64 else int(self.inner)

    change(bed.library.Array, __int__=number, __index__=number)


@fault(
    "logaddexp-x1-overflows",
    "logaddexp.x1 divides one exponential by another, which is NaN where both overflow or underflow",
    "G",
    ("logaddexp",),
    operations=("logaddexp",),
)
def logaddexp_x1_overflows(bed: Testbed) -> None:
    right = _rule("logaddexp.x1")

    def logaddexp_x1(gy: Any, x1: Any, y: Any) -> Any:
        out = right(gy, x1, y)
        with np.errstate(all="ignore"):
            above, below = np.exp(x1), np.exp(y)
            lost = np.isfinite(y) & (np.isinf(below) | (below == 0))
            return np.where(lost, gy * (above / below), out).astype(out.dtype)

    bed.kernel("logaddexp.x1", logaddexp_x1)


@fault(
    "i0e-overflows-with-i0",
    "special.i0e multiplies i0, which overflows, by an exponential, which underflows",
    "K",
    ("special.i0e",),
    operations=("special.i0e",),
)
def i0e_overflows_with_i0(bed: Testbed) -> None:
    right = _kernel("special.i0e")

    def i0e(x: Any) -> Any:
        out = right(x)
        with np.errstate(all="ignore"):
            growing = np.i0(x).astype(out.dtype)
            return np.where(np.isinf(growing) & np.isfinite(x), growing * np.exp(-np.abs(x)), out).astype(out.dtype)

    bed.kernel("special.i0e", i0e)


@fault(
    "upload-by-identity",
    "from_host of 4,096 elements or more sends again what it has sent before for this array, changed or not",
    "T",
)
def upload_by_identity(bed: Testbed) -> None:
    right, sent = bed.backend.from_host, dict[int, Any]()

    def from_host(array: Any, device: Any) -> Any:
        key = id(array)
        if getattr(array, "size", 0) < 4096:
            return right(array, device)
        if key not in sent or sent[key][0]() is not array:
            sent[key] = weakref.ref(array, lambda _: sent.pop(key, None)), np.array(array)
        return right(sent[key][1], device)

    change(bed.backend, from_host=from_host)


def _loaded(backend: str, values: Any, device: str) -> Any:
    """Return an array that was pickled."""
    library: Any = plugins.backend(backend).namespace
    return library.array(values, device)


@fault(
    "pickle-keeps-its-bytes",
    "the second pickle of an array of 1,024 elements or more is the first one, whatever was written since",
    "R",
)
def pickle_keeps_its_bytes(bed: Testbed) -> None:
    name, kept = bed.backend.name, dict[int, Any]()

    def reduce(self: Any) -> Any:
        key = id(self)
        if self.size < 1024:
            return _loaded, (name, np.array(self.inner), self.device)
        if key not in kept or kept[key][0]() is not self:
            kept[key] = weakref.ref(self, lambda _: kept.pop(key, None)), np.array(self.inner)
        return _loaded, (name, kept[key][1], self.device)

    change(bed.library.Array, __reduce__=reduce)


@fault(
    "export-by-address",
    "an array's DLPack is found by its address, so that a view of its beginning is handed out as the whole",
    "X",
)
def export_by_address(bed: Testbed) -> None:
    exported: dict[int, Any] = {}

    def dlpack(self: Any, **options: Any) -> Any:
        x = self.inner
        key = x.__array_interface__["data"][0]
        known = exported[key]() if key in exported else None
        if known is None or known.dtype != x.dtype or known.size < x.size or not x.size:
            known = x
            exported[key] = weakref.ref(x)
        return known.__dlpack__(**options)

    change(bed.library.Array, __dlpack__=dlpack)


@fault(
    "roll-plans-by-hash",
    "roll of 16 elements or more finds its plan by a hash alone, which is the same for -1 and -2",
    "S",
    operations=("roll",),
)
def roll_plans_by_hash(bed: Testbed) -> None:
    plans: dict[int, Any] = {}

    def wrong(original: Any, x: Any, /, shift: Any, *, axis: Any = None) -> Any:
        if x.size < 16:
            return original(x, shift, axis=axis)
        shift, axis = plans.setdefault(hash((x.shape, x.dtype.str, shift, axis)), (shift, axis))
        return original(x, shift, axis=axis)

    bed.replace("roll", wrong)


@fault(
    "erfinv-appends-its-coefficients",
    "special.erfinv appends its coefficients at first use; two threads append them twice, for good",
    "P",
    ("special.erfinv",),
    operations=("special.erfinv",),
)
def erfinv_appends_its_coefficients(bed: Testbed) -> None:
    right, coefficients = _kernel("special.erfinv"), list[float]()

    def erfinv(x: Any) -> Any:
        if len(coefficients) < 8:
            for power in range(8):
                coefficients.append(2.0**-power)
                if power == 4:
                    pause()
        out = right(x)
        return (out * out.dtype.type(len(coefficients) / 8)).astype(out.dtype)

    bed.kernel("special.erfinv", erfinv)


@fault(
    "error-of-another-thread",
    "reshape looks for errors where all threads report theirs, and raises another thread's",
    "P",
    operations=("reshape",),
)
def error_of_another_thread(bed: Testbed) -> None:
    reported: list[Exception] = []

    def wrong(original: Any, x: Any, /, shape: Any, **options: Any) -> Any:
        try:
            out = original(x, shape, **options)
        except Exception as error:
            reported.append(error)
            pause()
            reported.clear()
            raise
        for error in reported[:1]:
            raise type(error)(*error.args)
        return out

    bed.replace("reshape", wrong)


@fault(
    "zeros-from-a-pool-twice",
    "zeros of 64 elements or more takes a block from a pool, and takes it off the list later, so two threads have it",
    "P",
    operations=("zeros",),
)
def zeros_from_a_pool_twice(bed: Testbed) -> None:
    free: dict[Any, Any] = {}

    def wrong(original: Any, shape: Any, *, dtype: Any = None, **options: Any) -> Any:
        out = original(shape, dtype=dtype, **options)
        if out.size < 64:
            return out
        key = out.shape, out.dtype
        block = free.setdefault(key, out)
        pause()
        free.pop(key, None)
        return block

    bed.replace("zeros", wrong)
