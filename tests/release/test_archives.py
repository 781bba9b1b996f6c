"""Archives contain the committed files, and a build that depends on its environment is rejected."""

import subprocess
from pathlib import Path

import pytest
from release import archives
from release.distributions import Distribution


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of one commit, and a file that is not committed."""
    root = tmp_path / "root"
    (root / "plugins").mkdir(parents=True)
    for folder, name in ((root, "xpgrad"), (root / "conformance", "xpgrad-conformance")):
        folder.mkdir(exist_ok=True)
        (folder / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n')
    who = "-c", "user.name=T", "-c", "user.email=t@example.org"
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "Begin")):
        subprocess.run(["git", *command], cwd=root, check=True)
    (root / "secret.txt").write_text("not committed")
    return root


def test_only_committed_files_are_built(repository: Path, tmp_path: Path) -> None:
    archives.export(tmp_path / "export", repository)
    assert sorted(path.name for path in (tmp_path / "export").rglob("*.t*")) == ["pyproject.toml"] * 2
    assert archives.changes(repository)


@pytest.mark.parametrize("depends", [False, True])
def test_builds_that_differ_are_named(
    repository: Path, tmp_path: Path, depends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(what: Distribution, source: Path, to: Path, environment: dict[str, str], mask: int) -> None:
        to.mkdir(parents=True, exist_ok=True)
        place = str(source) if depends and what.name == "xpgrad" else ""
        (to / f"{what.name}.whl").write_text(environment["SOURCE_DATE_EPOCH"] + place)

    monkeypatch.setattr(archives, "build", build)
    if depends:
        with pytest.raises(archives.NotReproducible, match=r"others of xpgrad\.whl$"):
            archives.build_twice(tmp_path / "dist", repository)
    else:
        made = archives.build_twice(tmp_path / "dist", repository)
        assert [path.name for path in made] == ["xpgrad-conformance.whl", "xpgrad.whl"]
