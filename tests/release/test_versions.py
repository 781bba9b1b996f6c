"""All places that say the version agree, and are set together."""

import shutil
from pathlib import Path

import pytest
from release import versions
from release.distributions import ROOT

import xpgrad


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the files that say the version."""
    for file in {file for file, _ in versions.places()}:
        (tmp_path / file.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, tmp_path / file.relative_to(ROOT))
    return tmp_path


def test_all_places_say_the_version_of_the_package() -> None:
    assert versions.version() == xpgrad.__version__


@pytest.mark.parametrize("new", ["2.0.0", "2.1.0rc1"])
def test_a_bump_sets_all_places(tree: Path, new: str) -> None:
    assert len(versions.bump(new, tree)) == len({file for file, _ in versions.places()})
    assert versions.version(tree) == new
    versions.check_tag(f"v{new}", tree)


def test_places_that_disagree_are_named(tree: Path) -> None:
    file = tree / "conformance" / "pyproject.toml"
    file.write_text(file.read_text().replace(f'version = "{xpgrad.__version__}"', 'version = "9.9.9"'))
    with pytest.raises(versions.VersionError, match=r"9\.9\.9 in conformance.*make bump"):
        versions.version(tree)


def test_invalid_version_raises(tree: Path) -> None:
    with pytest.raises(versions.VersionError, match=r"expected a version as 1\.2\.3"):
        versions.bump("2.0", tree)
    assert versions.version(tree) == xpgrad.__version__


def test_a_tag_of_another_version_raises() -> None:
    with pytest.raises(versions.VersionError, match=r"tag: expected v.*got 'v9\.9\.9'"):
        versions.check_tag("v9.9.9")
