"""Family A, aliasing: gradients with contributions from several functions."""

import math

from xpgrad_conformance.check import check
from xpgrad_conformance.checks.layouts import assert_untouched
from xpgrad_conformance.subject import Subject

LARGE = 4500  # elements


MAX_SIZE = 2**20  # elements of an array that is large enough for sums in place


def sizes(s: Subject) -> tuple[tuple[int, int], ...]:
    """Return a small shape, and a shape large enough for the sweep to add in place if the backend supports it."""
    start = s.backend.in_place_from
    least = LARGE if math.isinf(start) or start > MAX_SIZE else max(LARGE, int(start))
    return (3, 4), (67, math.ceil(least / 67) + 1)


@check("A10")
def sums_of_gradients(s: Subject) -> None:
    """A Variable that is used many times gets the sum of all contributions; all other arrays are unchanged."""
    for shape in sizes(s):
        a, b, seed, values = (s.values(shape) for _ in range(4))
        x, wa, wb = s.variable(values), s.array(a), s.array(b)
        start = s.array(seed)
        uses = [x * wa, x + wb, s.xp.positive(x), x * wb, s.xp.matrix_transpose(s.xp.matrix_transpose(x)), x - wa]
        y = uses[0]
        for each in uses[1:]:
            y = y + each
        y.grad = start
        y.backward(retain_grad=True)
        wanted = seed.astype(float) * (a.astype(float) + b + 4)
        s.expect(x.grad, wanted, f"the gradient of x, of shape {shape}, which six functions use,")
        for i, each in enumerate(uses):
            assert each.grad is not None, f"use {i} of x has no gradient, although it was to be retained"
            s.expect(each.grad, seed, f"the gradient of use {i} of x")
        for what, array, before in (("a factor", wa, a), ("a factor", wb, b), ("the seed", start, seed)):
            assert_untouched(s, array, before, f"the sweep of a sum of shape {shape}: {what}")
