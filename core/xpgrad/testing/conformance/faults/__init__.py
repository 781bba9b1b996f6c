"""The seeded faults, by what is wrong, and the freedoms that are not."""

from xpgrad.testing.conformance.faults.creating import FAULTS as CREATING
from xpgrad.testing.conformance.faults.dtypes import FAULTS as DTYPES
from xpgrad.testing.conformance.faults.fault import Fault, Freedom
from xpgrad.testing.conformance.faults.freedoms import FREEDOMS
from xpgrad.testing.conformance.faults.loading import FAULTS as LOADING
from xpgrad.testing.conformance.faults.reductions import FAULTS as REDUCTIONS
from xpgrad.testing.conformance.faults.refusing import FAULTS as REFUSING

FAULTS: tuple[Fault, ...] = (*LOADING, *CREATING, *DTYPES, *REFUSING, *REDUCTIONS)

__all__ = ["FAULTS", "FREEDOMS", "Fault", "Freedom"]
