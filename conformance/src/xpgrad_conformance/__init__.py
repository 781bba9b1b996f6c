"""The conformance suite for backends: families of checks that run on every device of a backend."""

from xpgrad.plugin import FACTS, Capabilities
from xpgrad_conformance.pytest_suite import suite
from xpgrad_conformance.report import Report
from xpgrad_conformance.run import conform, reproduce

__all__ = ["FACTS", "Capabilities", "Report", "conform", "reproduce", "suite"]
