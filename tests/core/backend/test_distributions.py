"""Entry points of installed distributions: reading directories agrees with `importlib.metadata`."""

import importlib.metadata
import sys
import zipfile
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


Files = dict[str, str | bytes]
NPU = "npu-1.0.dist-info"


def files(folder: str = NPU, entries: str | bytes = ENTRIES, metadata: str | bytes | None = None) -> Files:
    """Return the files of a distribution; its metadata have the name and the version that its folder has."""
    title = folder.rpartition("/")[2].rpartition(".")[0].partition("-")[::2]
    return {
        f"{folder}/entry_points.txt": entries,
        f"{folder}/METADATA": METADATA.format(*title) if metadata is None else metadata,
    }


def write(folder: Path, given: Files) -> None:
    for name, text in given.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


WINDOWS = ENTRIES.replace("\n", "\r\n"), METADATA.format("npu", "1.0").replace("\n", "\r\n")
ACCENTS = "[xpgrad.backends]\nné = modulé\n", "Name: npu\nVersion: 1.0\nAuthor: Zoë\n"
CONTINUED = "License: one\n\tName: two\n three\nName: npu\nVersion: 1.0\n\n"
TREES: dict[str, Files] = {
    "a distribution": files(),
    "several": {name: text for i in range(9) for name, text in files(f"npu{i}-1.0.dist-info").items()},
    "lines that end as in Windows": files(NPU, *WINDOWS),
    "no version": files("npu.dist-info", metadata="Name: npu\n"),
    "fields in other letters, one twice": files(metadata="NAME: npu\nname: other\nversion:   2\n"),
    "a field that goes on": files(metadata=CONTINUED),
    "an egg-info folder": {
        "npu.egg-info/entry_points.txt": ENTRIES,
        "npu.egg-info/PKG-INFO": METADATA.format("npu", "3.0"),
    },
    "an egg-info file": {"npu-1.0.egg-info": METADATA.format("npu", "1.0")},
    "two spellings of a name, the first counts": files("first/Np_u.x-1.0.dist-info", "[xpgrad.backends]\nnpu = first\n")
    | files("second/np__u_X-2.0.dist-info", "[xpgrad.backends]\nnpu = second\n")
    | files("second/npu-1.0.dist-info"),
    "no entry points hide those of the second": files(f"first/{NPU}", "") | files("second/npu-2.0.dist-info"),
    "no metadata": {f"{NPU}/entry_points.txt": ENTRIES},
    "unreadable metadata": files(metadata=b"Name: \xff\xfe\n"),
    "no entry points": {f"{NPU}/METADATA": METADATA.format("npu", "1.0")} | files("other-1.0.dist-info"),
    "letters beyond ASCII": files(NPU, *ACCENTS),
    "a name that only the metadata have": files("-1.0.dist-info", metadata=METADATA.format("npu", "1.0")),
    "another ending": files("npu-1.0.dist-information"),
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
    write(only, TREES[tree])
    assert by_group(points(GROUPS)) == reference()


def test_the_installed_plugins_agree_with_importlib_metadata() -> None:
    assert by_group(points(GROUPS)) == reference()


def test_the_current_folder_counts_where_the_path_has_it(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(only, files())
    monkeypatch.chdir(only)
    monkeypatch.setattr(sys, "path", [""])
    assert [point.name for point in points(["xpgrad.array_modules"])] == ["npu"]


@pytest.mark.parametrize("entries", ["[xpgrad.backends]\nnpu\n", b"[xpgrad.backends]\nnpu = \xff\n"])
def test_a_distribution_with_an_invalid_line_is_left_out(only: Path, entries: str | bytes) -> None:
    write(only, files(NPU, entries) | files("other-1.0.dist-info"))
    assert {point.distribution for point in points(GROUPS)} == {"other"}


def test_a_distribution_in_a_zip_file_is_found(only: Path) -> None:
    write(only, files())
    with zipfile.ZipFile(only / "packed.zip", "w") as packed:
        packed.writestr("zipped-2.0.dist-info/METADATA", METADATA.format("zipped", "2.0"))
        packed.writestr("zipped-2.0.dist-info/entry_points.txt", "[xpgrad.backends]\nzipped = zipped\n")
    sys.path.append(str(only / "packed.zip"))
    assert Point("xpgrad.backends", "zipped", "zipped", "zipped", "2.0") in points(GROUPS)
    assert by_group(points(GROUPS)) == reference()


def test_an_egg_is_found(only: Path) -> None:
    write(only, files("npu-1.0.egg/EGG-INFO", metadata=METADATA.format("npu", "1.0")))
    sys.path.append(str(only / "npu-1.0.egg"))
    assert {point.distribution for point in points(GROUPS)} == {"npu"}
    assert by_group(points(GROUPS)) == reference()


def test_a_distribution_that_an_importer_gives_is_found(only: Path) -> None:
    write(only / "elsewhere", files())
    given = importlib.metadata.Distribution.at(only / "elsewhere" / NPU)
    importer: Any = SimpleNamespace(find_distributions=lambda context: [given], find_spec=lambda *args: None)
    sys.meta_path.append(importer)
    assert {point.name for point in points(GROUPS)} == {"npu", "npu2", "npu3", "npu4"}
    assert by_group(points(GROUPS)) == reference()
