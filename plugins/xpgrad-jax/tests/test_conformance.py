"""xpgrad's suite for backends, on both devices."""

from xpgrad_conformance import suite

globals().update(suite("jax"))
