"""xpgrad's suite for backends, on sparse arrays."""

from xpgrad_conformance import suite

globals().update(suite("sparse"))
