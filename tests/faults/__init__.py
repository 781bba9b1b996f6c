"""The seeded faults, each of which the conformance suite must find, and the freedoms, which it must let pass."""

from tests.faults.fault import Fault, Freedom, collected

FAULTS = collected(Fault)
FREEDOMS = collected(Freedom)

__all__ = ["FAULTS", "FREEDOMS", "Fault", "Freedom"]
