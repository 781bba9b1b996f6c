"""Entry points of installed distributions: reading directories agrees with `importlib.metadata`."""

import importlib.metadata
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from xpgrad.backend.discovery import GROUPS
from xpgrad.backend.distributions import Point, points

ENTRIES = """\
# a comment
before = any:section

[console_scripts]
npu = npu.cli:main

[ xpgrad.backends ]
hidden = by.blanks
[xpgrad.backends]
  npu = npu.plugin
npu2=npu.plugin:Two [extra1, extra2]
 # another comment
npu3 = a = b
[xpgrad.array_modules]

npu = npu.plugin
[xpgrad.backends]
npu4 = npu.plugin
"""
METADATA = "Metadata-Version: 2.1\nName: {}\nVersion: {}\nSummary: text\n  over two lines\n\nName: of another one\n"


def write(folder: Path, name: str, entries: str | bytes = ENTRIES, metadata: str | bytes | None = None) -> Path:
    """Write a distribution's folder; `name` names the directory."""
    info = folder / name
    info.mkdir(parents=True)
    given = METADATA.format(*name.rpartition(".")[0].partition("-")[::2]) if metadata is None else metadata
    for file, text in (("entry_points.txt", entries), ("METADATA", given)):
        (info / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    return info


def egg_info(folder: Path) -> None:
    info = write(folder, "npu.egg-info", metadata="")
    (info / "METADATA").unlink()
    (info / "PKG-INFO").write_text(METADATA.format("npu", "3.0"))


def one_file(folder: Path) -> None:
    (folder / "npu-1.0.egg-info").write_text(METADATA.format("npu", "1.0"))


def two_spellings(folder: Path) -> None:
    write(folder / "first", "Np_u.x-1.0.dist-info", "[xpgrad.backends]\nnpu = first\n")
    write(folder / "second", "np__u_X-2.0.dist-info", "[xpgrad.backends]\nnpu = second\n")
    write(folder / "second", "npu-1.0.dist-info")


def hidden(folder: Path) -> None:
    write(folder / "first", "npu-1.0.dist-info", "")
    write(folder / "second", "npu-2.0.dist-info")


def without_metadata(folder: Path) -> None:
    (write(folder, "npu-1.0.dist-info") / "METADATA").unlink()


def without_entries(folder: Path) -> None:
    (write(folder, "npu-1.0.dist-info") / "entry_points.txt").unlink()
    write(folder, "other-1.0.dist-info")


TREES: dict[str, Callable[[Path], object]] = {
    "a distribution": lambda folder: write(folder, "npu-1.0.dist-info"),
    "several": lambda folder: [write(folder, f"npu{i}-1.0.dist-info") for i in range(9)],
    "lines that end as in Windows": lambda folder: write(
        folder,
        "npu-1.0.dist-info",
        ENTRIES.replace("\n", "\r\n"),
        METADATA.format("npu", "1.0").replace("\n", "\r\n"),
    ),
    "no version": lambda folder: write(folder, "npu.dist-info", metadata="Name: npu\n"),
    "fields in other letters, one twice": lambda folder: write(
        folder, "npu-1.0.dist-info", metadata="NAME: npu\nname: other\nversion:   2\n"
    ),
    "a field that goes on": lambda folder: write(
        folder, "npu-1.0.dist-info", metadata="License: one\n\tName: two\n three\nName: npu\nVersion: 1.0\n\n"
    ),
    "an egg-info folder": egg_info,
    "an egg-info file": one_file,
    "two spellings of a name, the first counts": two_spellings,
    "no entry points hide those of the second": hidden,
    "no metadata": without_metadata,
    "unreadable metadata": lambda folder: write(folder, "npu-1.0.dist-info", metadata=b"Name: \xff\xfe\n"),
    "no entry points": without_entries,
    "letters beyond ASCII": lambda folder: write(
        folder, "npu-1.0.dist-info", "[xpgrad.backends]\nné = modulé\n", "Name: npu\nVersion: 1.0\nAuthor: Zoë\n"
    ),
    "a name that only the metadata have": lambda folder: write(
        folder, "-1.0.dist-info", metadata=METADATA.format("npu", "1.0")
    ),
    "another ending": lambda folder: write(folder, "npu-1.0.dist-information"),
}


def reference() -> list[Point]:
    """Return the entry points that `importlib.metadata` finds, group by group."""
    found = []
    for group in GROUPS:
        for point in importlib.metadata.entry_points(group=group):
            assert point.dist is not None
            try:
                known: Any = point.dist.metadata
                title = str(known.get("Name", "unknown")), str(known.get("Version", "unknown"))
            except (TypeError, UnicodeDecodeError):
                title = "unknown", "unknown"
            found.append(Point(group, point.name, point.value, *title))
    return found


def by_group(found: list[Point]) -> list[Point]:
    return sorted(found, key=lambda point: GROUPS.index(point.group))


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder which, with its folders ``first`` and ``second``, is all of `sys.path`."""
    reference()  # triggers the late imports of `importlib.metadata`
    paths = [tmp_path / "missing", tmp_path, tmp_path / "first", tmp_path / "second"]
    monkeypatch.setattr(sys, "path", [str(path) for path in paths])
    finder = next(finder for finder in sys.meta_path if getattr(finder, "__name__", "") == "PathFinder")
    monkeypatch.setattr(sys, "meta_path", [finder])
    if not hasattr(finder, "find_distributions"):  # the backport of importlib.metadata has taken it away
        find = importlib.metadata.MetadataPathFinder.find_distributions
        monkeypatch.setattr(finder, "find_distributions", find, raising=False)
    return tmp_path


@pytest.mark.parametrize("tree", TREES)
def test_entry_points_agree_with_importlib_metadata(only: Path, tree: str) -> None:
    TREES[tree](only)
    assert by_group(points(GROUPS)) == reference()


def test_the_installed_plugins_agree_with_importlib_metadata() -> None:
    assert by_group(points(GROUPS)) == reference()


def test_the_current_folder_counts_where_the_path_has_it(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(only, "npu-1.0.dist-info")
    monkeypatch.chdir(only)
    monkeypatch.setattr(sys, "path", [""])
    assert [point.name for point in points(["xpgrad.array_modules"])] == ["npu"]


@pytest.mark.parametrize("entries", ["[xpgrad.backends]\nnpu\n", b"[xpgrad.backends]\nnpu = \xff\n"])
def test_a_distribution_with_an_invalid_line_is_left_out(only: Path, entries: str | bytes) -> None:
    write(only, "npu-1.0.dist-info", entries)
    write(only, "other-1.0.dist-info")
    assert {point.distribution for point in points(GROUPS)} == {"other"}


def test_a_distribution_in_a_zip_file_is_found(only: Path) -> None:
    write(only, "npu-1.0.dist-info")
    with zipfile.ZipFile(only / "packed.zip", "w") as packed:
        packed.writestr("zipped-2.0.dist-info/METADATA", METADATA.format("zipped", "2.0"))
        packed.writestr("zipped-2.0.dist-info/entry_points.txt", "[xpgrad.backends]\nzipped = zipped\n")
    sys.path.append(str(only / "packed.zip"))
    assert Point("xpgrad.backends", "zipped", "zipped", "zipped", "2.0") in points(GROUPS)
    assert by_group(points(GROUPS)) == reference()


def test_an_egg_is_found(only: Path) -> None:
    info = write(only / "npu-1.0.egg", "EGG-INFO", metadata="")
    (info / "METADATA").write_text(METADATA.format("npu", "1.0"))
    sys.path.append(str(only / "npu-1.0.egg"))
    assert {point.distribution for point in points(GROUPS)} == {"npu"}
    assert by_group(points(GROUPS)) == reference()


def test_a_distribution_that_an_importer_gives_is_found(only: Path) -> None:
    path = write(only / "elsewhere", "npu-1.0.dist-info")
    given = importlib.metadata.Distribution.at(path)
    importer: Any = SimpleNamespace(find_distributions=lambda context: [given], find_spec=lambda *args: None)
    sys.meta_path.append(importer)
    assert {point.name for point in points(GROUPS)} == {"npu", "npu2", "npu3", "npu4"}
    assert by_group(points(GROUPS)) == reference()
