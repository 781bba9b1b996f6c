"""The seeded faults, by what is wrong, and the freedoms that are not."""

from xpgrad.testing.conformance.faults.fault import Fault, Freedom
from xpgrad.testing.conformance.faults.freedoms import FREEDOMS
from xpgrad.testing.conformance.faults.hoarding import FAULTS as HOARDING
from xpgrad.testing.conformance.faults.lateness import FAULTS as LATENESS
from xpgrad.testing.conformance.faults.races import FAULTS as RACES
from xpgrad.testing.conformance.faults.reductions import FAULTS as REDUCTIONS
from xpgrad.testing.conformance.faults.writes import FAULTS as WRITES

FAULTS: tuple[Fault, ...] = (*REDUCTIONS, *WRITES, *HOARDING, *LATENESS, *RACES)

__all__ = ["FAULTS", "FREEDOMS", "Fault", "Freedom"]
