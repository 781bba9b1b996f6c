"""The checks of the suite, in one file for each thing that they are about; a check in any of them takes part."""

from xpgrad_conformance.check import Check
from xpgrad_conformance.modules import members

CHECKS = tuple(sorted(members(__name__, Check), key=lambda check: check.id))
