"""The conformance suite for backends: checks in families, on every device, tested itself by seeded faults."""

from xpgrad.backend.capabilities import FACTS, Capabilities
from xpgrad.testing.conformance.pytest_suite import suite
from xpgrad.testing.conformance.report import Report
from xpgrad.testing.conformance.run import conform, reproduce

__all__ = ["FACTS", "Capabilities", "Report", "conform", "reproduce", "suite"]
