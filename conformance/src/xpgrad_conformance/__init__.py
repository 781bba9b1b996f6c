"""The conformance suite for backends: checks in families, on every device, tested itself by seeded faults."""

from xpgrad.plugin import FACTS, Capabilities
from xpgrad_conformance.pytest_suite import suite
from xpgrad_conformance.report import Report
from xpgrad_conformance.run import conform, reproduce

__all__ = ["FACTS", "Capabilities", "Report", "conform", "reproduce", "suite"]
