"""Family K, small arrays: functions of 0-d, one-element and empty arrays."""

from xpgrad_conformance.check import check
from xpgrad_conformance.oracle import same
from xpgrad_conformance.subject import Subject


@check("K09")
def small_arrays(s: Subject) -> None:
    """Functions of 0-d, one-element and empty arrays have the right shape and value."""
    for shape in ((), (1,), (1, 1, 1), (3, 1)):
        x = s.values(shape, 0.3, 1.7)
        for name in ("sum", "prod", "mean", "max", "min"):
            for keepdims in (False, True):
                same(s, name, x, keepdims=keepdims)
        for name in ("exp", "negative", "sqrt", "tanh", "abs"):
            same(s, name, x)
        same(s, "add", x, s.values(shape))
    if s.has("empty_arrays"):
        for shape, axis in (((0,), None), ((0, 3), 0), ((0, 3), 1), ((2, 0), 1), ((2, 0, 3), (0, 1)), ((2, 0, 3), 2)):
            x = s.values(shape)
            for name in ("sum", "prod"):
                same(s, name, x, axis=axis)
            same(s, "exp", x)
            same(s, "multiply", x, x)
