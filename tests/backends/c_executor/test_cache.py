"""The directory of compiled code: files that are kept, never loaded, or removed."""

import functools
import os
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from tests.backends.c_executor.groups_to_compile import BACKEND, arrays_for, multiply_add, needs_compiler, program_of

from xpgrad_c import background, cache, compiler, groups, index, process, toolchain
from xpgrad_c.cache import Cache, default_directory
from xpgrad_c.directory import CacheError
from xpgrad_c.executor import c_executor, state, wait
from xpgrad_c.groups import CompiledGroup, CompiledGroups

pytestmark = pytest.mark.exhaustive(1)

LIBRARY = f"{'0' * 64}.so"


def stored(path: Path, name: str = LIBRARY, content: bytes = b"content") -> Cache:
    made = Cache(str(path))
    made.create()
    temporary = made.temporary()
    made.write(name, content, temporary)
    shutil.rmtree(temporary)
    return made


@pytest.fixture
def anew(monkeypatch):
    """A function that makes this process forget loaded code, like a new process."""
    monkeypatch.setattr(toolchain, "_toolchains", {})
    return toolchain._toolchains.clear


def is_compiled(run) -> bool:
    return not any(isinstance(item, CompiledGroup) for item in run.__globals__.values())


def compile_alive(program) -> None:
    """Compile a program that exists meanwhile; a deleted program is not compiled."""
    run = c_executor(program)
    assert wait(60)
    del run


def run_once(run, group) -> None:
    arrays = arrays_for(group)
    np.testing.assert_array_equal(run(*arrays)[0], group(*arrays)[0])


def test_the_directory_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XPGRAD_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_directory() == str(tmp_path / "own/xpgrad")
    monkeypatch.delenv("XPGRAD_CACHE_DIR")
    assert default_directory() == str(tmp_path / "xdg/xpgrad/compiled")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # ignored, as its specification requires
    assert default_directory() == str(tmp_path / ".cache/xpgrad/compiled")


def test_the_directory_and_its_files_are_private(tmp_path):
    made = stored(tmp_path / "a" / "cache")
    assert made.read(LIBRARY) == b"content"
    assert Path(made.path).stat().st_mode & 0o777 == 0o700
    assert (Path(made.path) / LIBRARY).stat().st_mode & 0o777 == 0o600
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
    file = tmp_path / "cache" / LIBRARY
    file.write_bytes(DAMAGES[name](file.read_bytes()))
    assert made.read(LIBRARY) is None


def test_a_file_under_another_name_is_not_read(tmp_path):
    made = stored(tmp_path / "cache")
    os.rename(tmp_path / "cache" / LIBRARY, tmp_path / "cache/y")
    assert made.read("y") is None


def test_links_and_world_writable_files_are_not_read(tmp_path):
    made = stored(tmp_path / "cache")
    file = tmp_path / "cache" / LIBRARY
    for mode in (0o620, 0o602):
        file.chmod(mode)
        assert made.read(LIBRARY) is None
    file.chmod(0o644)
    assert made.read(LIBRARY) == b"content"
    os.rename(file, tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert made.read(LIBRARY) is None
    file.unlink()
    file.mkdir()
    assert made.read(LIBRARY) is None
    file.rmdir()
    os.mkfifo(file)
    assert made.read(LIBRARY) is None


def test_a_directory_of_another_user_or_writable_by_others_is_not_used(tmp_path, monkeypatch):
    made = stored(tmp_path / "cache")
    for mode in (0o770, 0o707, 0o722):
        (tmp_path / "cache").chmod(mode)
        assert made.read(LIBRARY) is None
        with pytest.raises(CacheError, match=rf"can be written by others .mode {mode:o}; expected 700"):
            made.create()
    (tmp_path / "cache").chmod(0o755)
    assert made.read(LIBRARY) == b"content"
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert made.read(LIBRARY) is None
    with pytest.raises(CacheError, match=f"belongs to another user .number {user}"):
        made.create()


def test_a_directory_replaceable_by_other_users_is_not_used(tmp_path):
    for name, mode in (("open", 0o777), ("group", 0o770)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
        with pytest.raises(
            CacheError, match=rf"{name} can be written by others .mode {mode:o}.*another directory there"
        ):
            Cache(str(tmp_path / name / "cache")).create()
    (tmp_path / "open").chmod(0o1777)
    Cache(str(tmp_path / "open" / "cache")).create()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to another user")
def test_a_directory_inside_a_directory_of_another_user_is_not_used(tmp_path):
    (tmp_path / "home" / ".cache").mkdir(parents=True)
    os.chown(tmp_path / "home", 12345, -1)
    with pytest.raises(CacheError, match=r"home belongs to another user .number 12345."):
        Cache(str(tmp_path / "home" / ".cache" / "xpgrad")).create()
    assert list((tmp_path / "home" / ".cache").iterdir()) == []


def test_the_path_is_resolved_before_it_is_checked(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "open")
    with pytest.raises(CacheError, match="open can be written by others"):
        Cache(str(tmp_path / "link" / "cache")).create()


def test_directories_are_private_for_any_umask(tmp_path):
    before = os.umask(0)
    try:
        stored(tmp_path / ".cache" / "xpgrad")
    finally:
        os.umask(before)
    for path in (".cache", ".cache/xpgrad"):
        assert (tmp_path / path).stat().st_mode & 0o777 == 0o700


def test_no_files_are_created_in_the_current_directory_without_an_absolute_home(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "relative")
    for own in ("", "~/x"):
        monkeypatch.setenv("XPGRAD_CACHE_DIR", own)
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        assert os.path.isabs(default_directory())
        assert not default_directory().startswith(str(tmp_path))


@pytest.mark.parametrize("path", ["/proc/self/xpgrad", "/dev/null/xpgrad", "/dev/null"])
def test_where_no_directory_can_be_made_the_reason_is_named(path):
    with pytest.raises(CacheError, match=path):
        Cache(path).create()
    assert Cache(path).read(LIBRARY) is None
    assert Cache(path).entries() == []


def test_the_least_recently_used_files_are_removed(tmp_path, monkeypatch):
    a, b, c, d, e, f = (f"{letter * 64}.so" for letter in "abcdef")
    for name in (a, b, c, d):
        made = stored(tmp_path / "cache", name, bytes(1000))
    now = time.time()
    for age, name in enumerate((a, b, c, d)):
        os.utime(tmp_path / "cache" / name, (now - 1000 * (4 - age),) * 2)
    assert made.read(a) is not None  # now the most recently used file
    monkeypatch.setattr(cache, "LIMIT", 3500)
    stored(tmp_path / "cache", e, bytes(1000))
    assert sorted(os.listdir(tmp_path / "cache")) == [cache.TAG, a, d, e]
    monkeypatch.setattr(cache, "LIMIT", 10)
    stored(tmp_path / "cache", f, bytes(1000))
    assert sorted(os.listdir(tmp_path / "cache")) == [cache.TAG, f]  # a file that was just written is always kept


def test_temporary_directories_of_killed_processes_are_removed(tmp_path):
    made = stored(tmp_path / "cache")
    old, new = Path(made.temporary()), Path(made.temporary())
    (old / "source.c").write_text("")
    os.utime(old, (time.time() - 10_000,) * 2)
    made.prune()
    assert not old.exists()
    assert new.exists()


def test_only_files_of_the_cache_are_removed(tmp_path, monkeypatch):
    """Neither other names, nor other content under our names, nor directories without the mark; however old."""
    monkeypatch.setenv("XPGRAD_CACHE_DIR", str(tmp_path))
    others = ["data.bin", "build-release/a", "xpgrad/data.bin", "xpgrad/build-release/a", f"xpgrad/{'a' * 64}.so"]
    others += ["xpgrad/build-0123456789abcdef/a", "xpgrad/last-failure.json.old"]
    Cache(default_directory()).create()
    for name in others:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes(1000))
        os.utime(path, (1.0, 1.0))
        os.utime(path.parent, (1.0, 1.0))
    monkeypatch.setattr(cache, "LIMIT", 10)
    for letter in "bc":
        stored(Path(default_directory()), f"{letter * 64}.so")
    assert [name for name in others if not (tmp_path / name).exists()] == []
    assert not (tmp_path / "xpgrad" / f"{'b' * 64}.so").exists()


def test_a_directory_with_other_files_is_not_used_as_a_cache(tmp_path):
    (tmp_path / "cache").mkdir(0o700)
    (tmp_path / "cache" / "data").write_text("mine")
    with pytest.raises(CacheError, match=r"has no CACHEDIR.TAG of xpgrad.*name another directory in XPGRAD_CACHE_DIR"):
        Cache(str(tmp_path / "cache")).create()
    assert os.listdir(tmp_path / "cache") == ["data"]


@needs_compiler
@pytest.mark.parametrize("option", ["-Wl,-rpath,.", "-Wl,-rpath,/usr/lib", "-L{0} -Wl,--no-as-needed -lother"])
def test_a_compiler_with_extra_libraries_is_not_used(option, folder, monkeypatch, tmp_path):
    (tmp_path / "other.c").write_text("int other;")
    subprocess.run(["cc", "-shared", "-o", tmp_path / "libother.so", tmp_path / "other.c"], check=True)
    monkeypatch.setenv("CC", f"{shutil.which('cc')} {option.format(tmp_path)}")
    command = next(compiler.candidates())
    with (
        process.Build(Cache(str(folder))) as build,
        pytest.raises(process.BuildError, match=r"expected (none|only libm)"),
    ):
        compiler.probed(command, build, 60.0)


@needs_compiler
@pytest.mark.parametrize(("module", "name"), [(background.background, "submit"), (groups, "generate")])
def test_a_program_compiled_before_runs_in_c_immediately_without_source(module, name, folder, anew, monkeypatch):
    group = multiply_add()
    compile_alive(program_of(group))
    anew()
    monkeypatch.setattr(module, name, None)
    run = c_executor(program_of(multiply_add()))
    assert is_compiled(run)
    run_once(run, group)
    if name == "generate":
        assert not is_compiled(c_executor(program_of(multiply_add(constant=2.0))))


def another(file: Path) -> None:
    """Put the file of another program in the place of a file."""
    before = set(file.parent.iterdir())
    compile_alive(program_of(multiply_add(constant=2.0)))
    (other,) = (path for path in {*file.parent.iterdir()} - before if path.suffix == file.suffix)
    os.replace(other, file)


def damage(file: Path, name: str) -> None:
    data = file.read_bytes()
    file.unlink()  # and not written to, as this process may have mapped it
    file.write_bytes(DAMAGES[name](data))
    file.chmod(0o600)


def link(file: Path) -> None:
    os.rename(file, file.parent / "elsewhere")
    file.symlink_to(file.parent / "elsewhere")


def with_a_path(file: Path) -> None:
    """Replace a library by one that has a path of libraries, under its name and with a correct checksum."""
    found = toolchain.toolchain().compiler()
    with process.Build(Cache(str(file.parent))) as build, pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "LINKED", (*compiler.LINKED, "-Wl,-rpath,."))
        bad = found.compile("long xp_chunks, xp_all, xp_set_api, xp_method;", build)
    stored(file.parent, file.name, bad)


INVALID = {name: functools.partial(damage, name=name) for name in DAMAGES} | {"another": another, "link": link}
INVALID_LIBRARIES = INVALID | {"with a path": with_a_path}
INVALID_INDICES = INVALID | {
    "none": Path.unlink,
    "other facts": lambda file: stored(file.parent, file.name, b"[[]]"),
    "no list": lambda file: stored(file.parent, file.name, b"1"),
}


@needs_compiler
@pytest.mark.parametrize(
    ("pattern", "spoil"),
    [*(("*.so", f) for f in INVALID_LIBRARIES.values()), *(("program-*", f) for f in INVALID_INDICES.values())],
)
def test_an_invalid_library_is_made_anew_and_without_a_good_index_found_by_its_source(
    pattern, spoil, folder, anew, monkeypatch
):
    group = multiply_add()
    compile_alive(program_of(group))
    (file,) = folder.glob(pattern)
    good = file.read_bytes()
    spoil(file)
    anew()
    if pattern != "*.so":
        monkeypatch.setattr(compiler.Compiler, "compile", None)
    run = c_executor(program_of(multiply_add()))
    assert not is_compiled(run)
    run_once(run, group)
    assert wait(60)
    assert is_compiled(run)
    run_once(run, group)
    assert file.read_bytes() == good
    assert not file.is_symlink()


@needs_compiler
def test_an_index_of_another_version_is_not_used(folder, anew, monkeypatch):
    compile_alive(program_of(multiply_add()))
    anew()
    monkeypatch.setattr(index, "generator_key", lambda: "another version")
    compile_alive(program_of(multiply_add()))
    assert len(list(folder.glob("program-*.json"))) == 2
    assert len(list(folder.glob("*.so"))) == 1


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
    compile_alive(program_of(group))
    assert len(list(folder.glob("*.so"))) == 1
    anew()
    CHANGES[name](monkeypatch)
    run = c_executor(program_of(group))
    assert not is_compiled(run)
    assert wait(60)
    assert len(list(folder.glob("*.so"))) == 2
    run_once(run, group)


@needs_compiler
def test_codegen_off_compiles_and_loads_no_code(folder, monkeypatch):
    group = multiply_add()
    monkeypatch.setenv("XPGRAD_CODEGEN", "0")
    assert c_executor(program_of(group)) == "XPGRAD_CODEGEN=0 turns it off"
    groups = CompiledGroups(BACKEND)
    made = groups(group, group)
    groups.start()
    assert wait(60)
    assert made.state == "XPGRAD_CODEGEN=0 turns it off"
    assert not list(folder.glob("*.so"))
    assert state().loaded == 0
