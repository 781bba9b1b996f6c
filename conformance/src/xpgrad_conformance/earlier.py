"""Failed checks of an earlier run, read from its `conformance.json`."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

FILE = "conformance.json"


def failed_in(report: Path, backend: str) -> list[str]:
    """Return the ids of the checks that failed in an earlier run.

    Parameters
    ----------
    report : Path
        The folder of a report, or its `conformance.json`.
    backend : str

    Raises
    ------
    ValueError
        The report does not exist, cannot be read, or belongs to another backend.
    """
    file = report / FILE if report.is_dir() else report
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        found, of = [each for row in data["checks"] for each in _failed(row)], data["backend"]
    except FileNotFoundError:
        raise ValueError(f"conform: no report at {file}; --report {report} writes one") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"conform: {file} is no report of the suite ({type(error).__name__}: {error})") from None
    if of != backend:
        raise ValueError(f"conform: {file} is the report of {of}; expected one of {backend}")
    return found


def _failed(row: dict[str, Any]) -> list[str]:
    return [id for other in row["others"] if other["state"] == "failed" for id in other["ids"]]


def unknown_note(failed: Collection[str], planned: Collection[str]) -> str:
    """Return a note on checks that failed before and are not planned now, or an empty text."""
    gone = sorted(set(failed) - set(planned))
    if not gone:
        return ""
    names = ", ".join(gone[:3]) + (", ..." if len(gone) > 3 else "")
    return f"{len(gone)} of {len(failed)} checks that failed before are not in this run: {names}"
