"""The functions with generated inputs; an `Operation` in any file of this package takes part by being there."""

from xpgrad_conformance.generated.operation import Operation
from xpgrad_conformance.modules import members

OPERATIONS = tuple(sorted(members(__name__, Operation), key=lambda operation: operation.name))
