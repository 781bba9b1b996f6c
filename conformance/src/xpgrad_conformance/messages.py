"""Failure messages without the parts that vary: numbers, shapes, dtypes, devices, ids."""

import re
from collections.abc import Iterable

from xpgrad.backend.standard import DTYPES, FUNCTIONS

MAX_LENGTH = 160
_NUMBER = r"(?<![\w#])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)j?(?![\w.])"
_DTYPE = rf"\b(?:{'|'.join(sorted(DTYPES, key=len, reverse=True))})\b"
_PATTERNS = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"0x[0-9a-fA-F]+", "ADDRESS"),
        (r"\b[A-Z]\d\d\[[^\]]*\]", "CHECK"),
        (r"^[\w.]+(?:-[\w.-]+)?\[@[^\]]*\]: ", ""),  # the case, its device, dtype and variant
        (r"^(\w+(?:Error|Exception)): [a-z_][\w.]*: ", r"\1: "),  # the function
        (r"(?:/[\w.+-]+)+/([\w.+-]+)", r"\1"),
        (r"[(\[]\s*(?:-?\d+\s*,\s*)*(?:-?\d+)?\s*,?\s*[)\]]", "SHAPE"),
        (_DTYPE, "DTYPE"),
        (_NUMBER, "#"),
        (r"#(?:[\s,]+#)+", "#"),
        (r"\d+", "#"),
        (r"SHAPE(?: ?,? ?SHAPE)+", "SHAPE"),
        (r"(?:DTYPE (?:SHAPE|#|\(\)))(?:, DTYPE (?:SHAPE|#|\(\)))+", "DTYPE SHAPE"),
        (r"\s+", " "),
    )
)


def normalized(message: str, devices: Iterable[str] = ()) -> str:
    """Return the first line of a message with numbers, shapes, dtypes, addresses, devices and ids replaced by words.

    The name of a function between an error and its text is left out.

    Parameters
    ----------
    message : str
    devices : iterable of str
        Names of the devices of the run, such as ``@npu:0``.
    """
    line = message.strip().splitlines()[0] if message.strip() else ""
    for pattern, text in _PATTERNS[:3]:
        line = pattern.sub(text, line)
    for name in sorted(devices, key=len, reverse=True):
        line = line.replace(name, "DEVICE")
    for pattern, text in _PATTERNS[3:]:
        line = pattern.sub(text, line)
    return line.strip()[:MAX_LENGTH]


_SUBJECT = re.compile(r"^(?:\w*(?:Error|Exception|Function|Interrupt|Unavailable): )?([a-z_]\w*(?:\.\w+)?)\b")


def named(message: str) -> str:
    """Return the function at the beginning of a message: ``exp`` of "exp of float32 has ..."; empty if unnamed."""
    found = _SUBJECT.match(message)
    return found[1] if found else ""


_MISSING = re.compile(
    r"MissingFunction: .*?has no '([\w.]+)'|AttributeError: ([\w.]+)(?:$|;)"
    r"|AttributeError: .*?(?:no attribute|no|lacks|without) '?([\w.]+)'?$"
)


def missing(message: str) -> str:
    """Return the function of the standard whose absence a message reports; empty if it reports none."""
    for found in _MISSING.finditer(message.partition("\n")[0]):
        name = next(group for group in found.groups() if group)
        if name in FUNCTIONS or name in DTYPES or name in ("linalg", "fft"):
            return name
    return ""
