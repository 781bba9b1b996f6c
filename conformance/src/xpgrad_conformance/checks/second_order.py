"""Family H beyond the table: kernels in recorded sweeps."""

from typing import Any

import numpy as np

from xpgrad_conformance.check import check
from xpgrad_conformance.checks.kernels_calls import provided
from xpgrad_conformance.oracle import near_gradient, pulled, wide
from xpgrad_conformance.subject import Subject


@check("H06")
def formulas_in_recorded_sweeps(s: Subject) -> None:
    """A recorded sweep uses the formulas, and a raw sweep fused kernels, so derivatives of every order exist."""
    x, gy = s.values((3, 4)), s.values((3, 4))
    asked: list[str] = []

    def fused(g: Any, x: Any, y: Any) -> Any:
        asked.append("tanh.x")
        return s.kernels.multiply(g, s.kernels.subtract(1.0, s.kernels.multiply(y, y)))

    with provided(s, {"tanh.x": fused}):
        placed, seed = s.variable(x), s.variable(gy)
        y = s.xp.tanh(placed)
        (raw,) = pulled([y], [placed], [seed])
        assert asked, "a raw sweep did not ask the kernel tanh.x that was provided"
        asked.clear()
        (recorded,) = pulled([y], [placed], [seed], enable_double_backprop=True)
        assert not asked, "a recorded sweep used the kernel tanh.x, which no further derivative can see through"
        assert raw is not None
        assert recorded is not None
        (second,) = pulled([recorded], [placed], [s.variable(np.ones((3, 4)))])
    t = np.tanh(wide(x))
    near_gradient(s, raw, placed, gy * (1 - t * t), "the gradient of tanh by a fused kernel")
    near_gradient(s, second, placed, gy * -2 * t * (1 - t * t), "the second derivative of tanh beside a fused kernel")
