"""Arrays in every layout that a kernel can meet, and an assertion that they are unchanged."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from xpgrad.types import Array
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_same_bits


def assert_untouched(s: Subject, array: Any, before: Any, what: str) -> None:
    """Raise AssertionError unless an array is equal, bit by bit, to the host array `before`."""
    assert_same_bits(s.host(array), s.supported(np.asarray(before)), f"{what} now and before")


def layouts(s: Subject) -> Iterator[tuple[str, Array, Any]]:
    """Yield arrays in every layout that a kernel can meet, each with a description and its values on the host."""
    xp, wide = s.kernels, s.wide
    for shape in ((3, 4), (2, 3, 5), (), (1,), (0, 3)):
        if s.has("empty_arrays") or 0 not in shape:
            host = s.values(shape, 0.1, 0.9, wide)
            yield f"a contiguous array of shape {shape}", s.array(host, wide), host
    host = s.values((3, 4), 0.1, 0.9, wide)
    yield "a transposed (3, 4)", xp.permute_dims(s.array(np.ascontiguousarray(host.T), wide), axes=(1, 0)), host
    host = s.values((3, 8), 0.1, 0.9, wide)
    yield "every second column of a (3, 8)", s.array(host, wide)[:, ::2], np.ascontiguousarray(host[:, ::2])
    host = s.values((4,), 0.1, 0.9, wide)
    spread = np.ascontiguousarray(np.broadcast_to(host, (3, 4)))
    yield "a row broadcast to (3, 4)", xp.broadcast_to(s.array(host, wide), shape=(3, 4)), spread
