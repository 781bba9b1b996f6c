"""Compilers that are missing, fail, hang or give wrong results: programs run without C, with a warning."""

import os
import time
from pathlib import Path

import numpy as np
import pytest
from tests.backends.c_executor.compilers import PROBED, REAL, runs
from tests.backends.c_executor.groups_to_compile import arrays_for, multiply_add, needs_compiler, program_of

from xpgrad_c import groups, process, toolchain
from xpgrad_c.cache import Cache
from xpgrad_c.executor import c_executor, wait
from xpgrad_c.groups import CompiledGroup
from xpgrad_c.toolchain import Toolchain

pytestmark = pytest.mark.exhaustive(1)

ANSWERED = 'case "$*" in *--version*) exit 0;; esac\n'
TARGET = 'while [ "$1" != -o ]; do shift; done\n'


@pytest.fixture
def tools(no_folder, monkeypatch):
    """A separate toolchain."""
    made = Toolchain(Cache(str(no_folder)), timeout=60.0)
    monkeypatch.setattr(groups, "toolchain", lambda: made)
    monkeypatch.delenv("CC", raising=False)
    return made


def states_after(group) -> list[str]:
    """Return the states of the groups of a program, after it has run before and after its compilation."""
    run = c_executor(program_of(group))
    arrays = arrays_for(group)
    made = [item for item in run.__globals__.values() if isinstance(item, CompiledGroup)]
    for _ in range(2):
        np.testing.assert_array_equal(run(*arrays)[0], group(*arrays)[0])
        assert wait(60)
    return [item.state for item in made]


def assert_clean(folder: Path) -> None:
    """No temporary file remains."""
    assert not folder.exists() or not [path for path in folder.iterdir() if path.name.startswith("build-")]


def test_reason_without_a_compiler_lists_the_searched_names(tools, no_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (state,) = states_after(multiply_add())
    assert state == "no C compiler: cc, gcc, clang are not on the path, and CC is not set"
    assert tools.off == state
    assert_clean(no_folder)


BROKEN = {
    "fails": ("echo a thing is missing >&2; exit 3", "cc failed with exit code 3: a thing is missing"),
    "says nothing": ("exit 4", "cc failed with exit code 4: it printed nothing"),
    "is killed": ("kill -9 $$", "cc ended by signal 9"),
    "makes nothing": ("exit 0", "the library that the compiler wrote cannot be loaded"),
    "writes nonsense": (ANSWERED + TARGET + 'echo nonsense > "$2"', "file too short|invalid ELF header"),
    "prints forever": ("while :; do echo 0123456789012345678901234567890123456789; done", "wrote more than"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_compiler_is_not_used(name, tools, no_folder, compiler, monkeypatch):
    text, said = BROKEN[name]
    monkeypatch.setattr(process, "MAX_BYTES", 100_000)
    compiler(text)
    (state,) = states_after(multiply_add())
    assert any(part in state for part in said.split("|")), state
    assert tools.off == state
    assert list(tools.failures) == [state]
    found = tools.last_failure()
    assert found is not None
    assert found[0] == state
    assert abs(found[1] - time.time()) < 600
    assert_clean(no_folder)


def test_non_executable_compiler_is_not_started(tools, no_folder, compiler):
    compiler("").write_bytes(b"\x7fELF nonsense")
    (state,) = states_after(multiply_add())
    assert "cannot be started" in state or "failed" in state
    assert_clean(no_folder)


@needs_compiler
def test_a_compiler_that_computes_something_else_is_not_used(tools, compiler):
    compiler(f'case "$*" in *--version*) exec {REAL} "$@";; *) exec {REAL} -Dexpf=sinf "$@";; esac')
    (state,) = states_after(multiply_add())
    assert "the library that the compiler wrote computes exp(-2) = " in state


@needs_compiler
def test_without_vector_math_functions_stay_with_the_fallback(tools, compiler):
    compiler(f'case "$*" in *lmvec*) echo no lmvec >&2; exit 1;; *) exec {REAL} "$@";; esac')
    assert states_after(multiply_add()) == ["C"]
    found = tools.compiler()
    assert found is not None
    assert not found.vector_math
    assert "-lmvec" not in found.libraries


@needs_compiler
def test_the_next_compiler_is_used_if_the_first_does_not_work(tools, compiler, tmp_path):
    compiler("exit 1")
    compiler(f'exec {REAL} "$@"', "gcc")
    assert states_after(multiply_add()) == ["C"]
    found = tools.compiler()
    assert found is not None
    assert found.command == (str(tmp_path / "bin" / "gcc"),)


@needs_compiler
def test_the_compiler_of_the_environment_comes_first(tools, tmp_path, monkeypatch):
    path = tmp_path / "mine"
    path.symlink_to(REAL)
    monkeypatch.setenv("CC", f"{path} -DMINE=1")
    assert states_after(multiply_add()) == ["C"]
    found = tools.compiler()
    assert found is not None
    assert found.command == (str(path), "-DMINE=1")


LATER = {
    "fails": ("echo ice >&2; exit 1", "failed with exit code 1: ice"),
    "makes nothing": ("exit 0", "has made no library"),
    "writes nonsense": (TARGET + 'echo nonsense > "$2"', "file too short|invalid ELF header"),
    "leaves out a function": (f'exec {REAL} -Dxp_chunks=other "$@"', "undefined symbol: xp_chunks"),
    "needs what is not there": (f'exec {REAL} -D__builtin_free=missing "$@"', "undefined symbol: missing"),
}


@needs_compiler
@pytest.mark.parametrize("name", LATER)
def test_a_failure_of_one_library_is_noted(name, tools, no_folder, compiler):
    text, said = LATER[name]
    compiler(PROBED + text)
    (state,) = states_after(multiply_add())
    assert any(part in state for part in said.split("|")), state
    assert tools.off is None
    assert_clean(no_folder)
    for path in no_folder.glob("*.so"):
        path.unlink()
    compiler(PROBED + f'exec {REAL} "$@"')
    assert states_after(multiply_add()) == ["C"]


@needs_compiler
def test_after_some_failures_no_more_are_tried(tools, compiler):
    path = compiler("")
    compiler(PROBED + f"echo x >> {path.parent}/log; exit 1")
    for number in range(6):
        states_after(multiply_add((number + 2,)))
    assert (path.parent / "log").read_text() == "x\n" * toolchain.FAILURES
    assert tools.off is not None


@needs_compiler
@pytest.mark.parametrize("first", [PROBED, ""])
def test_a_compiler_that_hangs_is_killed_with_its_child_processes(first, tools, no_folder, compiler, tmp_path):
    compiler(f"{first}sleep 1000 & echo $! $$ > {tmp_path}/running; wait")
    if first:
        assert tools.compiler() is not None  # while there is time enough
    tools.timeout = 0.3
    (state,) = states_after(multiply_add())
    assert "did not end within 0.3 s" in state
    assert tools.off is not None
    assert_clean(no_folder)
    for number in map(int, (tmp_path / "running").read_text().split()):
        assert not runs(number)


@needs_compiler
def test_a_disk_that_is_full_leaves_no_part_of_a_file(folder, monkeypatch):
    made = Toolchain(Cache(str(folder)))
    monkeypatch.setattr(groups, "toolchain", lambda: made)

    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    (state,) = states_after(multiply_add())
    assert "No space left on device" in state
    assert_clean(folder)
    assert not list(folder.glob("*.so"))


@pytest.mark.parametrize("path", ["/proc/self/xpgrad", "/dev/null"])
def test_a_folder_that_cannot_be_made_is_the_reason(path, monkeypatch):
    made = Toolchain(Cache(path))
    monkeypatch.setattr(groups, "toolchain", lambda: made)
    (state,) = states_after(multiply_add())
    assert path in state
    assert made.off == state


def test_a_fault_of_the_generator_leaves_the_program_with_its_fallback(folder, monkeypatch):
    def fault(*args, **options):
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(groups, "generate", fault)
    assert states_after(multiply_add()) == ["ZeroDivisionError: a fault"]
