"""xpgrad's suite for backends, on every device that PyTorch sees here."""

from xpgrad.testing.conformance import suite

globals().update(suite("torch"))
