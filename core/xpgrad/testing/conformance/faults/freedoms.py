"""What a correct backend may do: every check must let it pass."""

from typing import Any

import numpy as np

from xpgrad.testing.conformance.faults.bed import Bed
from xpgrad.testing.conformance.faults.fault import Freedom, freedom
from xpgrad.testing.conformance.faults.hoarding import counting


@freedom("plain", "nothing special")
def plain(bed: Bed) -> None:
    pass


@freedom("late-results", "results reach the host only when it waits", lazy=True)
def late_results(bed: Bed) -> None:
    pass


@freedom("narrow-positions", "positions and counts are int32")
def narrow_positions(bed: Bed) -> None:
    def narrow(original: Any, *args: Any, **kwargs: Any) -> Any:
        found = original(*args, **kwargs)
        return tuple(f.astype(np.int32) for f in found) if isinstance(found, tuple) else np.asarray(found, np.int32)

    for name in ("argmax", "argmin", "argsort", "count_nonzero", "nonzero", "searchsorted"):
        bed.replace(name, narrow)


@freedom("counts-memory", "the backend says how many bytes its arrays hold")
def counts_memory(bed: Bed) -> None:
    counting(bed)


@freedom("in-place-sums", "accumulate writes to its total, from the first element on")
def in_place_sums(bed: Bed) -> None:
    bed.kernel("accumulate", lambda total, g: np.add(total, g, out=total))
    bed.backend.in_place_from = 0


FREEDOMS: tuple[Freedom, ...] = tuple(value for value in globals().values() if isinstance(value, Freedom))
