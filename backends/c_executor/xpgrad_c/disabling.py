"""`disabled`: whether the environment turns compilation off."""

import os


def disabled() -> str | None:
    """Return the sentence that says that ``XPGRAD_CODEGEN`` turns compilation off, or None."""
    return "XPGRAD_CODEGEN=0 turns it off" if os.environ.get("XPGRAD_CODEGEN", "").strip() == "0" else None
