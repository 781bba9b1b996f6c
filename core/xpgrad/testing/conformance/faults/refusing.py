"""x"""
from xpgrad.testing.conformance.faults.fault import Fault, faults_in
FAULTS: tuple[Fault, ...] = faults_in(globals())
