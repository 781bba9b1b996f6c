"""Cases of comparisons."""

from xpgrad_conformance.table.case import Case, Input

TWO = (Input(), Input())
SOME_EQUAL = (Input(values=((1.5, -2.0), (0.25, 3.0))), Input(values=((1.5, 2.0), (0.25, -3.0))))

CASES = tuple(
    Case(f"{name}{suffix}", call, reference, inputs, (), 0, elementwise=True, complex=complex, dtype="bool")
    for suffix, inputs in (("", TWO), ("-some-equal", SOME_EQUAL))
    for name, call, reference, complex in (
        ("less", lambda xp, a, b: xp.less(a, b), lambda a, b: b > a, False),
        ("less_equal", lambda xp, a, b: xp.less_equal(a, b), lambda a, b: ~(a > b), False),
        ("greater", lambda xp, a, b: a > b, lambda a, b: b < a, False),
        ("greater_equal", lambda xp, a, b: a >= b, lambda a, b: ~(a < b), False),
        ("equal", lambda xp, a, b: xp.equal(a, b), lambda a, b: abs(a - b) == 0, True),
        ("not_equal", lambda xp, a, b: a != b, lambda a, b: abs(a - b) > 0, True),
    )
)
