"""Write the measured parts of the documentation, between markers, and draw its plots.

    <!-- measured: one core -->
    (results of a run)
    <!-- end -->

`python -m benchmarks.documents [FILE]` does so again from the file of a run.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import plots, tables

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
LATEST = ROOT / "benchmarks/results/latest.json"

PARTS: Mapping[str, Mapping[str, tuple[Callable[[Mapping[str, Any]], str], str]]] = {
    "benchmarks.md": {
        "environment": (tables.environment, "workloads"),
        "one core": (tables.one_core, "workloads"),
        "two cores": (tables.two_cores, "two_cores"),
        "alone": (tables.alone, "workloads"),
        "derivatives": (tables.derivatives, "JACOBIAN"),
        "compile time": (tables.compile_time, "COMPILE"),
        "crossovers": (tables.crossovers, "curves"),
    },
    "scaling.md": {
        "costs": (tables.single_costs, "curves"),
        "depths": (tables.depths, "curves"),
        "sizes": (tables.regimes, "curves"),
        "threads": (tables.threads, "curves"),
        "pays": (tables.pays, "curves"),
    },
}
"""For each document and marker, the function that creates the text, and the required part of a result."""


def replaced(text: str, parts: Mapping[str, str]) -> str:
    """Return a document with new text between its markers.

    Raises
    ------
    ValueError
        The marker does not occur exactly once.
    """
    for name, content in parts.items():
        begin, end = f"<!-- measured: {name} -->", "<!-- end -->"
        pattern = re.compile(f"{re.escape(begin)}\n(?:(?!<!-- measured: ).)*?{re.escape(end)}", re.DOTALL)
        found = pattern.findall(text)
        if len(found) != 1 or text.count(begin) != 1:
            raise ValueError(f"expected one {begin} with {end} behind it, got {text.count(begin)}")
        text = pattern.sub(lambda _, new=f"{begin}\n{content}\n{end}": new, text)  # type: ignore[misc]
    return text


def write(result: Mapping[str, Any], docs: Path = DOCS) -> list[Path]:
    """Write the results of a run into the documents, draw the plots, and return the files."""
    available = {key for key in ("workloads", "two_cores", "curves") if result.get(key)}
    available |= set(result.get("workloads", ()))
    written = []
    for document, parts in PARTS.items():
        path = docs / document
        text = path.read_text(encoding="utf-8")
        contents = {name: make(result) for name, (make, needed) in parts.items() if needed in available}
        path.write_text(replaced(text, contents), encoding="utf-8")
        written.append(path)
    return written + (plots.draw(result["curves"], docs / "img") if "curves" in available else [])


if __name__ == "__main__":
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else LATEST
    for path in write(json.loads(file.read_text(encoding="utf-8"))):
        print(path)
