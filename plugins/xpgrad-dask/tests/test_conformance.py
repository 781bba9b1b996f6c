"""xpgrad's suite for backends, on arrays of several chunks."""

from xpgrad_conformance import suite
from xpgrad_conformance.generated.operations import OPERATIONS

SOME = [operation.name for operation in OPERATIONS[::24]]
"""dask builds a graph for every block; the others run by turns, with `plugins/certify.py`."""

globals().update(suite("dask", operations=SOME))
