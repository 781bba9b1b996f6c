"""Quantities for readers."""

UNITS = "B", "kB", "MB", "GB"


def bytes_text(count: int) -> str:
    """Return a number of bytes for readers: ``1.5 kB``."""
    if count < 1000:
        return f"{count} B"
    power = min((len(str(count)) - 1) // 3, 3)
    size = count / 1000**power
    return f"{size:.3g} {UNITS[power]}" if size < 1000 else f"{size:,.0f} {UNITS[power]}"
