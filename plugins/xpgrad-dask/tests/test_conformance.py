"""xpgrad's suite for backends, on arrays of several chunks."""

from xpgrad_conformance import suite

globals().update(suite("dask"))
