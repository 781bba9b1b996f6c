"""The case table: the rows of each chapter; any file that defines `CASES` is included."""

from xpgrad_conformance.modules import modules_of
from xpgrad_conformance.table.case import Case

CASES: tuple[Case, ...] = tuple(case for module in modules_of(__name__) for case in module.CASES)
