"""xpgrad's conformance suite, on every device of this backend."""

from xpgrad_conformance import suite

globals().update(suite("sparse"))
