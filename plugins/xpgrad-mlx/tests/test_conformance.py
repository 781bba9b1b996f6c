"""xpgrad's suite for backends, on the only device."""

from xpgrad_conformance import suite

globals().update(suite("mlx"))
