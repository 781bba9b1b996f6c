"""The checks of the suite, one file for each subject; a check in any file of this package is part of the suite."""

from xpgrad_conformance.check import Check
from xpgrad_conformance.modules import members

CHECKS = tuple(sorted(members(__name__, Check), key=lambda check: check.id))
