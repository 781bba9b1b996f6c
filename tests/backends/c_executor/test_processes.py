"""Compilation in the background and the end of processes: forks, several concurrent processes, exits."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.backends.c_executor.compilers import PATH, PROBED, REAL, runs
from tests.backends.c_executor.groups_to_compile import needs_compiler

pytestmark = [needs_compiler, pytest.mark.exhaustive(1)]
ROOT = Path(__file__).parents[3]
START = """
import os, signal, sys, threading
import numpy as np
from tests.backends.c_executor.compilers import PATH, PROBED, REAL, runs
from tests.backends.c_executor.groups_to_compile import arrays_for, multiply_add, program_of
from xpgrad_c.background import background
from xpgrad_c.executor import c_executor, state, wait
from xpgrad_c.groups import CompiledGroup

group = multiply_add()
arrays = arrays_for(group)

def check(run):
    assert np.array_equal(run(*arrays)[0], group(*arrays)[0])

def compiled(run):
    return not any(isinstance(item, CompiledGroup) for item in run.__globals__.values())
"""


def started(script: str, folder: Path, **environment: str) -> "subprocess.Popen[str]":
    """Start a process that runs a script."""
    paths = [str(ROOT), *filter(None, sys.path)]
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", START + textwrap.dedent(script)],
        env=os.environ | {"XPGRAD_CACHE_DIR": str(folder.parent), "PYTHONPATH": os.pathsep.join(paths)} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: "subprocess.Popen[str]") -> str:
    """Return the output of a process that must have ended successfully, with empty standard error."""
    try:
        out, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    assert errors == ""
    return out


def left_in(folder: Path) -> list[str]:
    """Return the files in the directory, except its mark and the facts about compilers and programs."""
    return [path.name for path in folder.glob("*") if not path.name.startswith(("CACHEDIR", "compiler-", "program-"))]


def test_several_processes_may_compile_the_same_code_concurrently(folder):
    script = """
    run = c_executor(program_of(group))
    check(run)
    assert wait(100) and compiled(run), state()
    check(run)
    """
    processes = [started(script, folder) for _ in range(4)]
    for process in processes:
        ended(process)
    (name,) = left_in(folder)
    assert name.endswith(".so")


EXITS = {
    "the end of the script": "",
    "sys.exit": "sys.exit(0)",
    "a daemon thread": "threading.Thread(target=lambda: [check(run) for _ in range(10**9)], daemon=True).start()",
    "a thread": "threading.Thread(target=lambda: [check(run) for _ in range(1000)]).start()",
}


@pytest.mark.parametrize("way", EXITS)
def test_a_process_that_ends_stops_its_compiler_and_leaves_no_files(way, no_folder, compiler, tmp_path):
    compiler(PROBED + f"sleep 1000 & echo $! $$ > {tmp_path}/made; mv {tmp_path}/made {tmp_path}/running; wait")
    script = f"""
    run = c_executor(program_of(group))
    check(run)
    import time
    while not os.path.exists({str(tmp_path / "running")!r}):
        time.sleep(0.01)
    check(run)
    print(background.waiting)
    {EXITS[way]}
    """
    assert ended(started(script, no_folder)) == "1\n"
    for number in map(int, (tmp_path / "running").read_text().split()):
        assert not runs(number)
    assert left_in(no_folder) == []


def test_process_that_ends_immediately_leaves_no_files(no_folder):
    ended(started("c_executor(program_of(group))", no_folder))
    assert left_in(no_folder) == []


FORKS = {
    "os._exit": ("check(run); os._exit(0)", "at once"),
    "sys.exit": ("check(run); sys.exit(0)", "at once"),
    "wait": ("check(run); assert wait(100) and compiled(run), state(); check(run); os._exit(0)", "at once"),
    # The parent's library may be found first, and os._exit would leave what is being built.
    "call": ("while not compiled(run): check(run)\ncheck(run); assert wait(100); os._exit(0)", "at once"),
    "another": (
        "again = c_executor(program_of(multiply_add((9,)))); check(run)\n"
        "assert wait(100) and compiled(again) and compiled(run), state()\nos._exit(0)",
        "at once",
    ),
    "a child that compiles nothing leaves its parent's compiler": ("sys.exit(0)", "after the child"),
    "a child ends with a compiler of its own": ("check(run); sys.exit(0)", "never"),
}
"""What the child does, and when the compilers go on."""


@pytest.mark.parametrize("way", FORKS)
def test_a_fork_during_a_compilation_works_in_both_processes(way, no_folder, compiler, tmp_path):
    compiler(PROBED + f'while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; exec {REAL} "$@"')
    child, when = FORKS[way]
    go = f"open({str(tmp_path / 'go')!r}, 'w').close()"
    script = f"""
    run = c_executor(program_of(group))
    while background._jobs and state().compiler is None:  # the probe
        check(run)
    child = os.fork()
    {go if when == "at once" else ""}
    if child == 0:
        {child.replace(chr(10), chr(10) + "        ")}
    assert os.waitpid(child, 0)[1] == 0
    {go if when == "after the child" else ""}
    if {when != "never"}:
        assert wait(100) and compiled(run), state()
        check(run)
    """
    ended(started(script, no_folder))
    assert not [name for name in left_in(no_folder) if not name.endswith(".so")]


@pytest.mark.parametrize("handler", ["signal.SIG_IGN", "lambda *_: os.waitpid(-1, os.WNOHANG)"])
def test_a_program_that_waits_for_all_processes_itself_may_compile(handler, folder):
    script = f"""
    def quiet(handler):
        def call(*args):
            try:
                handler(*args)
            except ChildProcessError:
                pass
        return call

    handler = {handler}
    signal.signal(signal.SIGCHLD, quiet(handler) if callable(handler) else handler)
    run = c_executor(program_of(group))
    while background.waiting:  # and not wait, so that the handler is called
        check(run)
    assert compiled(run), state()
    """
    ended(started(script, folder))


def test_no_files_are_written_outside_of_the_directory(no_folder, tmp_path):
    places = {name: tmp_path / name for name in ("home", "temporary", "here")}
    for path in places.values():
        path.mkdir()
    script = f"""
    os.chdir({str(places["here"])!r})
    run = c_executor(program_of(group))
    assert wait(100) and compiled(run), state()
    """
    ended(started(script, no_folder, HOME=str(places["home"]), TMPDIR=str(places["temporary"])))
    assert [list(path.iterdir()) for path in places.values()] == [[], [], []]


def test_no_program_and_no_library_of_the_current_directory_is_used(no_folder, tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    for name in ("cc", "gcc", "clang", "cc1", "as", "ld", "collect2", "collect-ld"):
        (here / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/used\nexit 1\n")
        (here / name).chmod(0o755)
    (here / "libm.so").write_text(f"INPUT({tmp_path}/none)")
    script = f"""
    os.chdir({str(here)!r})
    run = c_executor(program_of(group))
    assert wait(100) and compiled(run), state()
    check(run)
    """
    names = "COMPILER_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "LD_RUN_PATH"
    environment = dict.fromkeys(names, f".{os.pathsep}") | {"GCC_EXEC_PREFIX": "./", "CC": "./cc"}
    ended(started(script, no_folder, PATH=f"{os.pathsep}.{os.pathsep}{PATH}", **environment))
    assert not (tmp_path / "used").exists()


def test_interrupts_of_calls_on_several_threads_leave_no_thread_that_writes(folder):
    """An allocation after an interrupt reuses the memory of the results, to which no thread may write any more."""
    script = """
    import random, signal, time
    group = multiply_add((2**20 + 5,))
    arrays = arrays_for(group)
    run = c_executor(program_of(group))
    run(*arrays)
    assert wait(100) and compiled(run), state()

    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    started = time.perf_counter()
    for _ in range(20):
        run(*arrays)
    seconds, interrupts = (time.perf_counter() - started) / 20, 0
    random.seed(1)
    while interrupts < 1000:
        try:
            signal.setitimer(signal.ITIMER_REAL, max(1e-6, random.uniform(0, 1.2) * seconds))
            for _ in range(3):
                run(*arrays)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            interrupts += 1
            canary = np.full(2**20 + 5, 7.0, np.float32)
            if interrupts % 50 == 0:
                time.sleep(0.002)
            assert np.all(canary == 7.0)
    check(run)
    """
    ended(started(script, folder, XPGRAD_NUM_THREADS="4"))


def test_limits_on_the_size_of_files_end_in_a_reason(folder):
    script = """
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    run = c_executor(program_of(group))
    assert wait(100) and not compiled(run)
    check(run)
    assert state().failures, state()
    """
    ended(started(script, folder))
    assert set(left_in(folder)) <= {"last-failure.json"}
