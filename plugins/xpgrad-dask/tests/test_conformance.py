"""xpgrad's suite for backends, on arrays of several chunks."""

from tests.turn import commit

from xpgrad_conformance import suite
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.generated.operations import OPERATIONS

SOME = [operation.name for operation in OPERATIONS[::24]]
"""dask builds a graph for every block; the others run by turns, with `plugins/certify.py`."""
QUICK = [case.name for case in CASES if not case.name.startswith("special.")]  # these take minutes
WHOLE = [QUICK[commit() % len(QUICK)]]
"""The case with all small inputs, special points and modes, another one for each commit."""

globals().update(suite("dask", operations=SOME, whole=WHOLE))
