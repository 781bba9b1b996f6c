"""The console of the commands."""

import os

from rich.console import Console

UNBOUNDED = 10_000


def plain_console() -> Console:
    """Return a console without markup; what goes to a pipe or a file has whole lines, unless ``COLUMNS`` is set."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = UNBOUNDED
    return console
