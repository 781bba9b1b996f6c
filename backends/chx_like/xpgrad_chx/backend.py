"""What the chx backend needs, and what of it is missing here."""


def why_unavailable() -> str:
    """One sentence: what keeps the chx backend from working here."""
    return "chx: the chx arrays (native:N, cuda:N) are not in this release; use @numpy"
