"""Cases of comparisons."""

from xpgrad_conformance.table.case import Case, Input

TWO = (Input(), Input())
SOME_EQUAL = (Input(values=((1.5, -2.0), (0.25, 3.0))), Input(values=((1.5, 2.0), (0.25, -3.0))))

CASES = tuple(
    case
    for suffix, inputs in (("", TWO), ("-some-equal", SOME_EQUAL))
    for case in (
        Case(f"less{suffix}", lambda xp, a, b: xp.less(a, b), lambda a, b: b > a, inputs, (), 0, True, dtype="bool"),
        Case(
            f"less_equal{suffix}",
            lambda xp, a, b: xp.less_equal(a, b),
            lambda a, b: ~(a > b),
            inputs,
            (),
            order=0,
            elementwise=True,
            dtype="bool",
        ),
        Case(f"greater{suffix}", lambda xp, a, b: a > b, lambda a, b: b < a, inputs, (), 0, True, dtype="bool"),
        Case(
            f"greater_equal{suffix}",
            lambda xp, a, b: a >= b,
            lambda a, b: ~(a < b),
            inputs,
            (),
            order=0,
            elementwise=True,
            dtype="bool",
        ),
        Case(
            f"equal{suffix}",
            lambda xp, a, b: xp.equal(a, b),
            lambda a, b: abs(a - b) == 0,
            inputs,
            (),
            order=0,
            elementwise=True,
            complex=True,
            dtype="bool",
        ),
        Case(
            f"not_equal{suffix}",
            lambda xp, a, b: a != b,
            lambda a, b: abs(a - b) > 0,
            inputs,
            (),
            order=0,
            elementwise=True,
            complex=True,
            dtype="bool",
        ),
    )
)
