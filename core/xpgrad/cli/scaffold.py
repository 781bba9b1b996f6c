"""A new backend's distribution: the names of its files, their contents, and how they are written."""

import json
import re
import shutil
import string
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import packages_distributions
from importlib.resources import files
from pathlib import Path

import xpgrad
from xpgrad.backend.contract import API_VERSION

STAND_IN = "array_api_strict"
"""The library that is copied into the distribution, because its own arrays have a backend already."""
FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "LICENSE": "LICENSE",
    "src/%package/__init__.py": "__init__.py",
    "src/%package/plugin.py": "plugin.py",
    "src/%package/library/__init__.py": "library.py",
    "src/%package/py.typed": None,
    "tests/test_conformance.py": "test_conformance.py",
    ".github/workflows/ci.yml": "ci.yml",
}
"""Paths in the distribution, and their templates."""

MISSING = """
    missing={
        "index_arrays_with_slices": "the standard has no index arrays mixed with slices",
        "index_assignment_arrays": "the standard has no assignment to an index array",
        "asynchronous": "array-api-strict computes at once",
        "memory_used": "array-api-strict does not count what its arrays hold",
    }
"""
DEVICES = '{"cpu": library.Device("CPU_DEVICE"), "other": library.Device("device1")},  # the default one first'
NOTE = """
The library is a stand-in, `src/%package/library`: a copy of array-api-strict whose arrays have a type of their own.
Name yours in `plugin.py`, and in `pyproject.toml` under `dependencies` and `xpgrad.array_modules`.
"""


class Page(string.Template):
    """A template with ``%name``, because GitHub's workflows use the dollar."""

    delimiter = "%"


@dataclass(frozen=True)
class Scaffold:
    """A distribution to write.

    Attributes
    ----------
    name : str
        Name of the backend.
    library : str
        The array library's Array API namespace: a module, or a name in a module.
    arrays : str
        The first part of the name of the module where the type of its arrays is made.
    author, email : str
        The latter may be empty.
    """

    name: str
    library: str
    arrays: str
    author: str
    email: str

    @property
    def distribution(self) -> str:
        """Name of the distribution, normalised by PEP 503."""
        return "xpgrad-" + re.sub(r"[-_.]+", "-", self.name)

    @property
    def package(self) -> str:
        """Name of the package."""
        return self.distribution.replace("-", "_")

    def requirements(self) -> list[str]:
        """Return the requirements of the distribution in addition to xpgrad: the library and, if any, its wrapper."""
        if self.library == STAND_IN:
            return ["array-api-strict>=2.6"]
        return [_distribution_of(root) for root in dict.fromkeys((self.library.partition(".")[0], self.arrays))]

    def texts(self) -> dict[str, str]:
        """Return the text of every file by its path in the distribution."""
        values, folder = self._values(), files("xpgrad.cli") / "templates" / "backend"
        texts = {}
        for path, template in FILES.items():
            if template == "library.py" and self.library != STAND_IN:
                continue
            text = "" if template is None else (folder / f"{template}.template").read_text(encoding="utf-8")
            texts[Page(path).substitute(values)] = Page(text).substitute(values)
        return texts

    def _values(self) -> Mapping[str, str]:
        own = self.library == STAND_IN
        of = re.sub(r"import (.*)\.", r"from \1 import ", f"import {self.library} as library")
        author = {"name": self.author} | ({"email": self.email} if self.email else {})
        return {
            "name": self.name,
            "distribution": self.distribution,
            "package": self.package,
            "version": ".".join(xpgrad.__version__.split(".")[:2]),
            "contract": str(API_VERSION),
            "author": self.author,
            "author_toml": "{ " + ", ".join(f"{key} = {_quoted(value)}" for key, value in author.items()) + " }",
            "year": str(datetime.now(UTC).year),
            "subject": self.name if own else self.library,
            "requirements": ", ".join(map(_quoted, self.requirements())),
            "root": self.package if own else self.arrays,
            "import_library": f"from {self.package} import library" if own else of,
            "missing": MISSING if own else "",
            "devices": DEVICES if own else "None,  # what library.__array_namespace_info__() lists",
            "note": Page(NOTE).substitute(package=self.package) if own else "",
        }

    def write(self, target: Path) -> None:
        """Write the distribution to the directory `target`, which must be new or empty; on an error, leave no files.

        Raises
        ------
        OSError
            It cannot be written; files that were written are removed.
        """
        texts = self.texts()
        new_folders = [folder for folder in (target, *target.parents) if not folder.exists()]
        stage = target / f".{uuid.uuid4().hex}"  # short, so that its path can also be removed
        moved: list[Path] = []
        try:
            target.mkdir(parents=True, exist_ok=True)
            for path, text in texts.items():
                (stage / path).parent.mkdir(parents=True, exist_ok=True)
                (stage / path).write_text(text, encoding="utf-8")
            for item in sorted(stage.iterdir()):
                item.rename(target / item.name)
                moved.append(target / item.name)
            stage.rmdir()
        except BaseException:
            for item in (stage, *moved):
                shutil.rmtree(item) if item.is_dir() else item.unlink(missing_ok=True)
            for folder in new_folders:
                if folder.is_dir():
                    folder.rmdir()
            raise


def _quoted(text: str) -> str:
    """Return a string of TOML."""
    return json.dumps(text, ensure_ascii=False)


def _distribution_of(root: str) -> str:
    """Return the name of the distribution that installed a module; the module's own name if that is not known.

    Of several distributions with parts of one package, that with the package's name is preferred.
    """
    usual, found = root.replace("_", "-"), packages_distributions().get(root, [])
    return usual if usual in found or not found else found[0]
