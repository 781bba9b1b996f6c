"""The journal of a run: a file with one outcome per line, from which an interrupted run continues."""

import dataclasses
import hashlib
import itertools
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.plugin import Backend, Capabilities
from xpgrad_conformance.outcome import Outcome

FILE = "journal.jsonl"


class Journal:
    """The outcomes of a run in a file.

    Attributes
    ----------
    file : Path
    seed : int
        Seed of the run that began the journal.
    earlier : list of Outcome
        Outcomes of earlier runs. Checks that failed are not among them: they run again.

    Parameters
    ----------
    folder : Path
        It is made if it does not exist.
    of : dict from str to str
        Conditions under which outcomes may be combined; see `subject_of`.
    seed : int
        Seed of a new journal.

    Raises
    ------
    ValueError
        The folder has the journal of something else, or it cannot be read or written.
    """

    def __init__(self, folder: Path, of: dict[str, str], seed: int) -> None:
        self.file, self.seed = folder / FILE, seed
        self.earlier: list[Outcome] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
            heading: dict[str, Any] = json.loads(lines[0]) if lines else {}
            if lines:
                self._compare(heading["of"], of)
                self.seed = int(heading["seed"])
                self.earlier = [each for each in _outcomes(lines[1:]) if each.state != "failed"]
            # Rewrite the file without outcomes that run again and without an incomplete last line.
            whole = [json.dumps({"of": of, "seed": self.seed}), *map(_line, self.earlier)]
            self.file.write_text("".join(f"{line}\n" for line in whole), encoding="utf-8")
        except (OSError, KeyError, TypeError, json.JSONDecodeError) as error:
            text = f"{type(error).__name__}: {error}"
            raise ValueError(f"conform: {self.file} is no journal of the suite ({text}); give another folder") from None

    def _compare(self, before: dict[str, str], now: dict[str, str]) -> None:
        changed = [name for name in now if before.get(name) != now[name]]
        if changed:
            what = ", ".join(f"{name} {before.get(name)} (now {now[name]})" for name in changed)
            raise ValueError(f"conform: {self.file} was begun with {what}; delete it to begin anew")

    def add(self, outcome: Outcome) -> None:
        """Write an outcome to the file."""
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(f"{_line(outcome)}\n")

    def note(self, planned: int) -> str:
        """Return the part of a plan that earlier runs completed, as a note; empty for a new journal."""
        return f"{len(self.earlier):,} of {planned:,} checks ran earlier, by the journal" if self.earlier else ""


def subject_of(backend: Backend, capabilities: Capabilities, about: Mapping[str, Any]) -> dict[str, str]:
    """Return the conditions under which outcomes of several runs may be combined, each as a short text.

    The conditions are the declaration, the source code, and `about`: versions and requested options.
    """
    declared = json.dumps(capabilities.as_dict(), sort_keys=True)
    return {
        **{name: str(value) for name, value in about.items()},
        "declaration": hashlib.sha256(declared.encode()).hexdigest()[:12],
        "source code": _sources(backend),
    }


def _sources(backend: Backend) -> str:
    """Return a checksum of the source code of the backend, xpgrad and the suite."""
    names = {"xpgrad", "xpgrad_conformance"}
    inner: Any = backend
    while inner is not None:  # also a backend that wraps another backend
        modules = [type(inner).__module__, *(entry.module for entry in plugins.installed.backends.get(inner.name, ()))]
        names |= {module.partition(".")[0] for module in modules}
        inner = getattr(inner, "base", None)
    made = hashlib.sha256()
    for file in itertools.chain.from_iterable(map(_files, sorted(names))):
        made.update(file.read_bytes())
    return made.hexdigest()[:12]


def _files(name: str) -> list[Path]:
    """Return the Python files of an imported module or package."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        return []
    path = Path(file)
    return sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]


def _line(outcome: Outcome) -> str:
    return json.dumps(dataclasses.asdict(outcome))


def _outcomes(lines: list[str]) -> Iterator[Outcome]:
    for number, line in enumerate(lines, 1):
        try:
            yield Outcome(**json.loads(line))
        except json.JSONDecodeError:
            if number < len(lines):
                raise
