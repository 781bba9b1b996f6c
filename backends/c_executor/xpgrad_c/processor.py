"""The processor and the C library, on which compiled code depends in addition to source and compiler."""

import functools
import os
import platform

LINES = frozenset(
    [
        *("vendor_id", "cpu family", "model", "model name", "stepping", "flags"),
        *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features", "isa", "uarch"),
    ]
)
"""The lines of ``/proc/cpuinfo`` that say what a processor is and can do; others change from second to second."""


@functools.cache
def machine_key() -> str:
    """Return a text that differs where code compiled for this very machine could not run, or not in the same way."""
    libc = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", {}) else None
    return "\n".join([platform.system(), platform.release() if libc is None else libc, platform.machine(), processor()])


def processor() -> str:
    """Return model and features of the first processor, from ``/proc/cpuinfo`` if this file exists."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            lines = []
            for line in file:
                if not line.strip():
                    break
                if line.partition(":")[0].strip() in LINES:
                    lines.append(line.strip())
    except OSError:
        lines = []
    return "\n".join(lines) or platform.processor()
