"""The RuntimeError of some libraries for conditions that other libraries report by ValueError."""

from typing import Any

import numpy as np
import pytest
from tests.faults.testbed import Testbed

import xpgrad
from xpgrad.testing.arrays import placed


def _raising(kind: type[Exception], text: str) -> xpgrad.Variable:
    """Return a Variable of a library whose `add` and `exp` raise."""

    def wrong(*args: Any, **options: Any) -> Any:
        raise kind(text)

    bed = Testbed()
    bed.replace("exp", wrong)
    bed.operator("__add__", wrong)
    bed.replace("add", wrong)
    return xpgrad.Variable(placed(np.ones((3, 4)), bed.devices()[1]))


@pytest.mark.parametrize("kind", [RuntimeError, NotImplementedError])
def test_error_of_the_library_keeps_its_kind_and_names_the_operation(kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"^exp: out of order; got float64 \(3, 4\) on bed"):
        xpgrad.array_api.exp(_raising(kind, "out of order"))


def test_shapes_that_do_not_broadcast_raise_shape_error_for_every_library() -> None:
    x = _raising(RuntimeError, "sizes must match")
    with pytest.raises(xpgrad.ShapeError, match="add: shapes do not broadcast"):
        x + x[:2, :]


def test_custom_library_error_propagates_unchanged() -> None:
    class OutOfMemory(RuntimeError):
        pass

    with pytest.raises(OutOfMemory, match=r"^full$"):
        xpgrad.array_api.exp(_raising(OutOfMemory, "full"))
