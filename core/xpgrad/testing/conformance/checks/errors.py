"""x"""
from xpgrad.testing.conformance.check import Check, checks_in
CHECKS: tuple[Check, ...] = checks_in(globals())
