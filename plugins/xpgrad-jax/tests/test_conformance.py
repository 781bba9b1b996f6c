"""xpgrad's suite for backends, on both devices."""

from xpgrad_conformance import suite
from xpgrad_conformance.generated.operations import OPERATIONS

SOME = [operation.name for operation in OPERATIONS[::40]]
"""jax compiles every function for every shape; the others run by turns, with `plugins/certify.py`."""

globals().update(suite("jax", operations=SOME))
