"""One trainer at a time writes to a directory, also after crashes, and with forked processes."""

import os
import signal
import subprocess
import sys

import pytest
from tests.core.training.steps import trainer

from xpgrad.training import extensions
from xpgrad.training.lock import NAME

HOLDER = """
import os, sys, time
from xpgrad.training.lock import locked
with locked(sys.argv[1]):
    child = os.fork() if sys.argv[2] == "forked" else 0
    if not child:  # which has closed what it does not hold
        print(os.getpid(), flush=True)
    time.sleep(60)
"""


def writing(tmp_path):
    loop = trainer(tmp_path, (2, "iteration"))
    loop.extend(extensions.LogReport(trigger=(1, "iteration")))
    return loop


def test_a_second_trainer_of_a_directory_raises_while_the_first_writes(tmp_path) -> None:
    loop, found = writing(tmp_path), []

    def others(_):
        trainer(tmp_path, (2, "iteration")).run()  # which writes nothing
        text = rf"got {tmp_path}/out, used by process {os.getpid()} on .*; pass another out="
        with pytest.raises(RuntimeError, match=text):
            writing(tmp_path).run()
        with pytest.raises(RuntimeError, match=r"^Trainer\.run: it is running in this thread or another"):
            loop.run()
        found.append((tmp_path / "out" / NAME).exists())

    loop.extend(others, name="others", trigger=(1, "iteration"))
    loop.run()
    assert found == [True, True]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["log"]
    writing(tmp_path).run()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals of POSIX, and forks")
@pytest.mark.parametrize("ends", ["alone", "forked"])
def test_a_directory_of_a_process_that_was_killed_is_taken_over(tmp_path, ends) -> None:
    (tmp_path / "out").mkdir()
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "out"), ends]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        child = int(holder.stdout.readline())
        loop = writing(tmp_path)
        with pytest.raises(RuntimeError, match=f"used by process {holder.pid} on"):
            loop.run()
        holder.kill()
        holder.wait()
        loop.run()  # a rejected run changes no state
        if ends == "forked":
            os.kill(child, signal.SIGKILL)
    assert loop.updater.iteration == 2


def test_a_directory_that_cannot_be_locked_is_used_with_a_warning(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("xpgrad.training.lock._lock", lambda descriptor: OSError(38, "Function not implemented"))
    with pytest.warns(UserWarning, match=r"out cannot be locked \(\[Errno 38\] Function not implemented\); run one"):
        writing(tmp_path).run()


def test_a_lock_file_removed_by_another_process_is_created_again(tmp_path, monkeypatch) -> None:
    from xpgrad.training import lock

    left, lock_file = [1, 1], lock._lock

    def late(descriptor):
        if left:
            left.pop()
            (tmp_path / "out" / NAME).unlink()
        return lock_file(descriptor)

    monkeypatch.setattr(lock, "_lock", late)
    writing(tmp_path).run()
    assert not left
