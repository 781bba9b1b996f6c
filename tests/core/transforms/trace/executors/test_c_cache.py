"""The folder of compiled code: what is kept, what is never loaded, what is removed."""

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from tests.core.transforms.trace.executors.c_programs import (
    BACKEND,
    arrays_for,
    multiply_add,
    needs_compiler,
    program_of,
)

from xpgrad.transforms.trace.executors.c import background, cache, compiler, groups, index, toolchain
from xpgrad.transforms.trace.executors.c.cache import Cache, CacheError, default_folder
from xpgrad.transforms.trace.executors.c.executor import c_executor, state, wait
from xpgrad.transforms.trace.executors.c.groups import CompiledGroups, Group


def stored(path: Path, name: str = "x", content: bytes = b"content") -> Cache:
    made = Cache(str(path))
    made.create()
    temporary = made.temporary()
    made.write(name, content, temporary)
    shutil.rmtree(temporary)
    return made


@pytest.fixture
def anew(monkeypatch):
    """A function after which this process has loaded nothing, as a new one."""
    monkeypatch.setattr(toolchain, "_toolchains", {})
    return toolchain._toolchains.clear


def is_compiled(run) -> bool:
    return not any(isinstance(item, Group) for item in run.__globals__.values())


def run_once(run, group) -> None:
    arrays = arrays_for(group)
    np.testing.assert_array_equal(run(*arrays)[0], group(*arrays)[0])


def test_the_folder_is_that_of_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XPGRAD_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == str(tmp_path / "own")
    monkeypatch.delenv("XPGRAD_CACHE_DIR")
    assert default_folder() == str(tmp_path / "xdg/xpgrad")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which its specification says to ignore
    assert default_folder() == str(tmp_path / ".cache/xpgrad")


def test_the_folder_and_its_files_are_for_the_user_alone(tmp_path):
    made = stored(tmp_path / "a" / "cache")
    assert made.read("x") == b"content"
    assert Path(made.path).stat().st_mode & 0o777 == 0o700
    assert (Path(made.path) / "x").stat().st_mode & 0o777 == 0o600
    assert made.read("y") is None


DAMAGES = {
    "empty": lambda data: b"",
    "short": lambda data: data[:20],
    "truncated": lambda data: data[:-1],
    "a bit": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "a bit of the checksum": lambda data: data[:-10] + bytes([data[-10] ^ 1]) + data[-9:],
    "longer": lambda data: data + b"\0",
    "without an end": lambda data: b"content",
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_not_read(name, tmp_path):
    made = stored(tmp_path / "cache")
    file = tmp_path / "cache" / "x"
    file.write_bytes(DAMAGES[name](file.read_bytes()))
    assert made.read("x") is None


def test_a_file_under_another_name_is_not_read(tmp_path):
    made = stored(tmp_path / "cache")
    os.rename(tmp_path / "cache/x", tmp_path / "cache/y")
    assert made.read("y") is None


def test_a_link_or_what_others_can_write_is_not_read(tmp_path):
    made = stored(tmp_path / "cache")
    file = tmp_path / "cache" / "x"
    for mode in (0o620, 0o602):
        file.chmod(mode)
        assert made.read("x") is None
    file.chmod(0o644)
    assert made.read("x") == b"content"
    os.rename(file, tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert made.read("x") is None
    file.unlink()
    file.mkdir()
    assert made.read("x") is None
    file.rmdir()
    os.mkfifo(file)
    assert made.read("x") is None


def test_a_folder_of_another_user_or_that_others_can_write_to_is_not_used(tmp_path, monkeypatch):
    made = stored(tmp_path / "cache")
    for mode in (0o770, 0o707, 0o722):
        (tmp_path / "cache").chmod(mode)
        assert made.read("x") is None
        with pytest.raises(CacheError, match=rf"can be written by others .mode {mode:o}; expected 700"):
            made.create()
    (tmp_path / "cache").chmod(0o755)
    assert made.read("x") == b"content"
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert made.read("x") is None
    with pytest.raises(CacheError, match=f"belongs to another user .number {user}"):
        made.create()


def test_a_folder_that_anybody_could_replace_is_not_used(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(CacheError, match=r"everybody can write to .*open, and so put another folder there"):
        Cache(str(tmp_path / "open" / "cache")).create()
    (tmp_path / "open").chmod(0o1777)
    Cache(str(tmp_path / "open" / "cache")).create()


@pytest.mark.parametrize("path", ["/proc/self/xpgrad", "/dev/null/xpgrad", "/dev/null"])
def test_where_no_folder_can_be_made_the_reason_is_named(path):
    with pytest.raises(CacheError, match=path):
        Cache(path).create()
    assert Cache(path).read("x") is None
    assert Cache(path).entries() == []


def test_the_least_recently_used_files_are_removed(tmp_path, monkeypatch):
    made = stored(tmp_path / "cache", "a", bytes(1000))
    for name in "bcd":
        stored(tmp_path / "cache", name, bytes(1000))
    now = time.time()
    for age, name in enumerate("abcd"):
        os.utime(tmp_path / "cache" / name, (now - 1000 * (4 - age),) * 2)
    assert made.read("a") is not None  # now it is the last one used
    monkeypatch.setattr(cache, "LIMIT", 3500)
    stored(tmp_path / "cache", "e", bytes(1000))
    assert sorted(os.listdir(tmp_path / "cache")) == ["a", "d", "e"]
    monkeypatch.setattr(cache, "LIMIT", 10)
    stored(tmp_path / "cache", "f", bytes(1000))
    assert os.listdir(tmp_path / "cache") == ["f"]  # what was written just now stays in any case


def test_temporary_folders_of_processes_long_gone_are_removed(tmp_path):
    made = stored(tmp_path / "cache")
    old, new = Path(made.temporary()), Path(made.temporary())
    (old / "source.c").write_text("")
    os.utime(old, (time.time() - 10_000,) * 2)
    made.prune()
    assert not old.exists()
    assert new.exists()


@needs_compiler
def test_a_program_that_was_compiled_before_runs_in_c_at_once(folder, anew, monkeypatch):
    group = multiply_add()
    run_once(c_executor(program_of(group)), group)
    assert wait(60)
    anew()
    monkeypatch.setattr(background.background, "submit", None)
    run = c_executor(program_of(multiply_add()))
    assert is_compiled(run)
    run_once(run, group)


@needs_compiler
def test_a_program_that_was_compiled_before_needs_no_source(folder, anew, monkeypatch):
    group = multiply_add()
    c_executor(program_of(group))
    assert wait(60)
    anew()
    monkeypatch.setattr(groups, "generate", None)
    run = c_executor(program_of(multiply_add()))
    assert is_compiled(run)
    run_once(run, group)
    assert not is_compiled(c_executor(program_of(multiply_add(constant=2.0))))


@needs_compiler
@pytest.mark.parametrize("name", [*DAMAGES, "another program", "no index", "other facts", "no list"])
def test_without_a_good_index_libraries_are_found_by_their_source(name, folder, anew, monkeypatch):
    group = multiply_add()
    c_executor(program_of(group))
    assert wait(60)
    (file,) = folder.glob("program-*.json")
    good = file.read_bytes()
    if name == "another program":
        c_executor(program_of(multiply_add(constant=2.0)))
        assert wait(60)
        (other,) = (path for path in folder.glob("program-*.json") if path != file)
        os.replace(other, file)
    elif name == "no index":
        file.unlink()
    elif name in DAMAGES:
        file.write_bytes(DAMAGES[name](good))
    else:
        stored(folder, file.name, b"[[]]" if name == "other facts" else b"1")
    anew()
    monkeypatch.setattr(compiler.Compiler, "compile", None)
    run = c_executor(program_of(multiply_add()))
    run_once(run, group)
    assert wait(60)
    assert is_compiled(run)
    run_once(run, group)
    assert file.read_bytes() == good


@needs_compiler
def test_an_index_of_another_version_is_not_used(folder, anew, monkeypatch):
    c_executor(program_of(multiply_add()))
    assert wait(60)
    anew()
    monkeypatch.setattr(index, "generator_key", lambda: "another version")
    c_executor(program_of(multiply_add()))
    assert wait(60)
    assert len(list(folder.glob("program-*.json"))) == 2
    assert len(list(folder.glob("*.so"))) == 1


@needs_compiler
@pytest.mark.parametrize("name", [*DAMAGES, "another library", "link"])
def test_a_damaged_library_is_made_anew(name, folder, anew):
    group = multiply_add()
    c_executor(program_of(group))
    assert wait(60)
    (file,) = folder.glob("*.so")
    good = file.read_bytes()
    if name == "another library":
        c_executor(program_of(multiply_add(constant=2.0)))
        assert wait(60)
        (other,) = (path for path in folder.glob("*.so") if path != file)
        os.replace(other, file)
    elif name == "link":
        os.rename(file, folder / "elsewhere")
        file.symlink_to(folder / "elsewhere")
    else:
        file.unlink()  # and not written to, as this process has mapped it
        file.write_bytes(DAMAGES[name](good))
        file.chmod(0o600)
    anew()
    run = c_executor(program_of(multiply_add()))
    assert not is_compiled(run)
    run_once(run, group)
    assert wait(60)
    assert is_compiled(run)
    run_once(run, group)
    assert file.read_bytes() == good
    assert not file.is_symlink()


CHANGES = {
    "processor": lambda patch: patch.setattr(compiler, "machine_key", lambda: "another processor"),
    "compiler": lambda patch: patch.setattr(compiler, "identity", lambda command: "another compiler"),
    "format": lambda patch: patch.setattr(compiler, "FORMAT", "another format"),
    "flags": lambda patch: patch.setattr(compiler, "FLAGS", (*compiler.FLAGS, "-DANOTHER")),
}


@needs_compiler
@pytest.mark.parametrize("name", CHANGES)
def test_code_for_another_machine_or_compiler_is_not_loaded(name, folder, anew, monkeypatch):
    group = multiply_add()
    c_executor(program_of(group))
    assert wait(60)
    assert len(list(folder.glob("*.so"))) == 1
    anew()
    CHANGES[name](monkeypatch)
    run = c_executor(program_of(group))
    assert not is_compiled(run)
    assert wait(60)
    assert len(list(folder.glob("*.so"))) == 2
    run_once(run, group)


@needs_compiler
def test_codegen_off_compiles_and_loads_nothing(folder, monkeypatch):
    group = multiply_add()
    monkeypatch.setenv("XPGRAD_CODEGEN", "0")
    assert c_executor(program_of(group)) is NotImplemented
    groups = CompiledGroups(BACKEND)
    made = groups(group, group)
    groups.start()
    assert wait(60)
    assert made.state == "XPGRAD_CODEGEN=0 turns it off"
    assert not list(folder.glob("*.so"))
    assert state().loaded == 0
