"""The case table, by chapter."""

from xpgrad.testing.case import Case
from xpgrad.testing.cases.arithmetic import CASES as ARITHMETIC

CASES: tuple[Case, ...] = ARITHMETIC
