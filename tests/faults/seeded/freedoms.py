"""Freedoms of a correct backend: every check must pass."""

from typing import Any

import numpy as np
from tests.faults.fault import freedom
from tests.faults.seeded.hoarding import counting
from tests.faults.seeded.lacking import BY_FLOAT32, default_to
from tests.faults.testbed import Testbed

from xpgrad.plugin import Capabilities

POSITIONS = "argmax", "argmin", "argsort", "count_nonzero", "nonzero", "searchsorted"
VIEWING = "reshape", "permute_dims", "flip", "squeeze", "expand_dims", "broadcast_to", "astype"
COMPUTING = "add", "multiply", "exp", "tanh", "sqrt", "sum", "matmul", "concat", "stack", "where", "sort"


@freedom("nothing special")
def plain(bed: Testbed) -> None:
    pass


@freedom("results reach the host only when it waits", lazy=True)
def late_results(bed: Testbed) -> None:
    pass


@freedom("positions and counts are int32")
def narrow_positions(bed: Testbed) -> None:
    def narrow(original: Any, *args: Any, **kwargs: Any) -> Any:
        found = original(*args, **kwargs)
        return tuple(f.astype(np.int32) for f in found) if isinstance(found, tuple) else np.asarray(found, np.int32)

    for name in POSITIONS:
        bed.replace(name, narrow)


@freedom("what only moves elements gives views of its input, of the whole of it where nothing changes")
def views_where_legal(bed: Testbed) -> None:
    for name in VIEWING:
        bed.replace(name, lambda original, x, *args, **kwargs: np.asarray(original(x, *args, **kwargs))[...])
    bed.operator("__pos__", lambda x: x[...])
    bed.replace("positive", lambda original, x, /: x[...])


@freedom("results are laid out in Fortran order")
def fortran_results(bed: Testbed) -> None:
    for name in COMPUTING:
        bed.replace(name, lambda original, *args, **kwargs: np.asarray(original(*args, **kwargs), order="F"))
    bed.operator("__mul__", lambda x1, x2: np.asarray(np.multiply(x1, x2), order="F"))
    bed.operator("__add__", lambda x1, x2: np.asarray(np.add(x1, x2), order="F"))


@freedom("full arrays and broadcasts are views of one element")
def broadcast_results(bed: Testbed) -> None:
    def one(original: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        return np.broadcast_to(made.reshape(-1)[:1].reshape(()), made.shape) if made.size else made

    for name in ("zeros_like", "ones_like"):
        bed.replace(name, one)
    bed.replace("broadcast_to", lambda original, x, /, shape: np.broadcast_to(x, shape))


@freedom("results are read-only, and the backend says that arrays are immutable")
def read_only_results(bed: Testbed) -> None:
    bed.backend.immutable = True
    writes = "in_place_update", "index_assignment", "index_assignment_arrays"
    refused = dict.fromkeys(writes, "arrays are immutable")
    bed.backend.declared = Capabilities({**bed.backend.capabilities.missing, **refused})

    def refused_write(this: Any, *_: Any) -> None:
        raise TypeError("arrays are immutable")

    bed.operator("__setitem__", refused_write)
    for name in (*COMPUTING, *VIEWING):

        def frozen(original: Any, *args: Any, **kwargs: Any) -> Any:
            made = np.array(original(*args, **kwargs))
            made.flags.writeable = False
            return made

        bed.replace(name, frozen)


@freedom("cotangents are added in place from the first element on")
def adds_in_place(bed: Testbed) -> None:
    def accumulate(total: Any, g: Any) -> Any:
        if total.ndim and total.shape == g.shape and total.dtype == g.dtype:
            total += g
            return total
        return total + g

    bed.backend.in_place_from = 1
    bed.kernel("accumulate", accumulate)


@freedom("sums of everything are scalars of the library, which the backend makes arrays again")
def scalars_for_0d(bed: Testbed) -> None:
    class Scalar:
        def __init__(self, array: Any) -> None:
            self.array = array

        def __getattr__(self, name: str) -> Any:
            return getattr(self.array, name)

        def __rsub__(self, other: Any) -> Any:
            return other - self.array

    right = bed.library.find("max")

    def maximum(*args: Any, **kwargs: Any) -> Any:
        out = right(*args, **kwargs)
        return Scalar(out) if out.ndim == 0 else out

    bed.library.names["max"] = maximum
    bed.backend.scalar_types = (Scalar,)
    bed.backend.restore = lambda result: result.array if type(result) is Scalar else result


@freedom("provided kernels decline all but what suits them")
def kernels_that_decline(bed: Testbed) -> None:
    def picky(name: str) -> Any:
        def kernel(x: Any, *others: Any, **parameters: Any) -> Any:
            if type(x) is not bed.library.Array or x.dtype != np.float64 or x.ndim != 2:
                return NotImplemented
            return right[name](x, *others, **parameters)

        return kernel

    right = {name: bed.library.find(name) for name in ("exp", "tanh", "sqrt")}
    bed.devices()
    bed.backend.xp.set_providers([("picky", {name: picky(name) for name in right})])


@freedom("the library lacks some functions of the standard, and its backend says so")
def functions_declared_missing(bed: Testbed) -> None:
    names = "hypot", "logaddexp", "cumulative_prod", "vecdot", "tensordot", "unstack", "unique_counts", "linalg.pinv"
    bed.library.absent |= set(names)
    missing = dict.fromkeys(names, "left out to see that nothing asks for it")
    bed.backend.declared = Capabilities({**bed.backend.capabilities.missing, **missing})


@freedom("the default floating-point dtype is float32")
def default_is_float32(bed: Testbed) -> None:
    default_to(bed, BY_FLOAT32)


@freedom("accumulate writes to its total, from the first element on")
def in_place_sums(bed: Testbed) -> None:
    bed.kernel("accumulate", lambda total, g: np.add(total, g, out=total))
    bed.backend.in_place_from = 0


@freedom("sums are made from the back, so that they round differently")
def sums_in_another_order(bed: Testbed) -> None:
    def backwards(original: Any, x: Any, /, **options: Any) -> Any:
        return original(np.flip(x), **options) if options.get("axis") is None else original(x, **options)

    bed.replace("sum", backwards)


@freedom("the backend says how many bytes its arrays hold")
def counts_memory(bed: Testbed) -> None:
    counting(bed)
