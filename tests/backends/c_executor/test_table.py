"""Cases of the table by `c`; `python -m tests.backends.c_executor.table` runs all."""

import pytest
from tests.backends.c_executor import table
from tests.backends.c_executor.groups_to_compile import needs_compiler

SHARE = 7
"""One of so many cases that are not elementwise has its groups compared."""
GROUPS = 70
"""Number of C groups, with one loop each, that are compiled and compared."""
ROWS = """add subtract multiply divide pow maximum minimum where negative abs sqrt exp log log1p expm1 sin cos tanh sign
floor square cast isnan hypot atan2 sum max min prod equal less greater logical_and logical_not copysign"""
"""Operations that must be among the statements of these groups."""


@pytest.mark.exhaustive(2)
@needs_compiler
def test_groups_of_cases_by_c_are_near_their_calls(shared_folder):
    some = {case.name for case in table.chosen_cases(0, SHARE)}
    cases = [
        (case, table.real(case)[-1:]) for case in table.chosen_cases(0, 1) if case.elementwise or case.name in some
    ]
    used = table.compare_with_c(table.collected(cases, every=False), GROUPS)
    assert not set(ROWS.split()) - used.keys()
