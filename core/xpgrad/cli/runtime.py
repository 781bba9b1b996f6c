"""The head of a problem report: versions of Python, of xpgrad and of the installed libraries."""

import platform
import sys
from typing import TextIO

import xpgrad
from xpgrad.backend.plugins import plugins
from xpgrad.errors import XpgradError


def print_runtime_info(out: TextIO | None = None) -> None:
    """Print versions, one a line, to the standard output or to `out`; ``xpgrad doctor`` examines more."""
    rows = {"Platform": platform.platform(), "Python": platform.python_version(), "xpgrad": xpgrad.__version__}
    for name in sorted(plugins.names()):
        try:
            rows[name] = plugins.backend(name).version
        except XpgradError as error:
            rows[name] = f"off ({error})".partition("\n")[0]
    stream = out or sys.stdout
    for name, value in rows.items():
        stream.write(f"{name}: {value}\n")
    stream.flush()
