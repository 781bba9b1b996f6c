"""The seeded faults, each of which the conformance suite must find, and the freedoms, which it must let pass."""

from tests.faults.fault import Fault, Freedom

from xpgrad_conformance.modules import members

FAULTS = members("tests.faults.seeded", Fault)
FREEDOMS = members("tests.faults.seeded", Freedom)

__all__ = ["FAULTS", "FREEDOMS", "Fault", "Freedom"]
