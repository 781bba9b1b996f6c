"""`check_dependencies`: check the libraries and search paths that a shared library would load, before loading it."""

import re
import struct

EXPECTED = re.compile(r"(libm|libmvec|libc|ld-linux[-\w]*|libc\.musl-\w+|ld-musl-\w+)\.so(\.\d+)?")
"""Names of the libraries that generated code needs."""
DYNAMIC, LOADED = 2, 1  # types of segments
NEEDED, STRINGS, RPATH, RUNPATH, AUDIT, FILTERS = 1, 5, 15, 29, (0x6FFFFEFC, 0x6FFFFEFB), (0x7FFFFFFD, 0x7FFFFFFF)
REFUSED = {RPATH: "RPATH", RUNPATH: "RUNPATH", **dict.fromkeys(AUDIT, "AUDIT"), **dict.fromkeys(FILTERS, "FILTER")}


def check_dependencies(library: bytes) -> None:
    """Raise ValueError if a shared library names search directories or needs libraries beyond the C library.

    Files in formats other than ELF are not checked: compilers of other systems record a search path only if an option
    requests one.

    Raises
    ------
    ValueError
        The library is damaged, or has an unexpected entry, which the text names.
    """
    if library[:4] != b"\x7fELF":
        return
    try:
        entries = _entries(library)
    except (struct.error, IndexError, UnicodeDecodeError):
        raise ValueError("it is a damaged ELF file") from None
    for tag, text in entries:
        if tag in REFUSED:
            raise ValueError(f"it has the entry {REFUSED[tag]} {text!r}, expected none")
        if not EXPECTED.fullmatch(text):
            raise ValueError(f"it needs the library {text!r}, expected only libm, libmvec and libc")


def _entries(library: bytes) -> list[tuple[int, str]]:
    """Return tag and text of those entries of the dynamic section that name libraries or directories."""
    if library[4] != 2:
        raise ValueError("it is an ELF file of 32 bits, expected 64")
    order = "<" if library[5] == 1 else ">"
    (start,) = struct.unpack_from(f"{order}Q", library, 32)
    size, count = struct.unpack_from(f"{order}HH", library, 54)
    segments = [struct.unpack_from(f"{order}IIQQQQ", library, start + i * size) for i in range(count)]
    entries: list[tuple[int, int]] = []
    for kind, _, offset, _, _, length in segments:
        if kind == DYNAMIC:
            entries += [struct.unpack_from(f"{order}qQ", library, offset + i) for i in range(0, length, 16)]
    entries = entries[: [*(tag for tag, _ in entries), 0].index(0)]
    tables = [value for tag, value in entries if tag == STRINGS]
    loaded = [segment for segment in segments if segment[0] == LOADED]
    places = [
        table - memory + offset
        for table in tables
        for _, _, offset, memory, _, length in loaded
        if memory <= table < memory + length
    ]
    return [(tag, _text(library, places[0] + at)) for tag, at in entries if tag == NEEDED or tag in REFUSED]


def _text(library: bytes, start: int) -> str:
    return library[start : library.find(b"\0", start)].decode()
