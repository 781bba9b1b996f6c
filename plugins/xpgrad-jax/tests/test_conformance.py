"""xpgrad's suite for backends, on both devices."""

from xpgrad.testing.conformance import suite

globals().update(suite("jax"))
