"""xpgrad's suite for backends, on both devices."""

from tests.turn import commit

from xpgrad_conformance import suite
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.generated.operations import OPERATIONS

SOME = [operation.name for operation in OPERATIONS[::40]]
"""jax compiles every function for every shape; the others run by turns, with `plugins/certify.py`."""
QUICK = [case.name for case in CASES if not case.name.startswith("special.")]  # these take minutes
WHOLE = [QUICK[commit() % len(QUICK)]]
"""The case with all small inputs, special points and modes, another one for each commit."""

globals().update(suite("jax", operations=SOME, whole=WHOLE))
