"""Interrupts at every possible place in turn, to find errors without relying on chance."""

import dis
import functools
import itertools
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

CHECKED = ("CALL", "RESUME")  # after these the interpreter looks for signals


@functools.cache
def places_in(code: CodeType) -> frozenset[int]:
    """Return the offsets of instructions before which a signal's handler can run."""
    instructions = list(dis.get_instructions(code))
    return frozenset(
        b.offset
        for a, b in itertools.pairwise(instructions)
        if a.opname.startswith(CHECKED) and not (a.opname == "RESUME" and code.co_name == "__exit__")
    )


class Interrupter:
    """Raises a KeyboardInterrupt before one instruction, the `place`-th that counts.

    Parameters
    ----------
    files : tuple of str
        Ends of the names of the files whose instructions count.
    place : int
    checked : bool
        Only places count at which a signal handler can run; the first instruction of an ``__exit__`` is excluded,
        because Python code cannot handle an interrupt there.
    """

    def __init__(self, files: tuple[str, ...], place: int, checked: bool) -> None:
        self.files, self.left, self.checked = files, place, checked
        self.raised = False

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        if self.raised or not frame.f_code.co_filename.endswith(self.files):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event != "opcode" or self.raised:
            return self._step
        if self.checked and frame.f_lasti not in places_in(frame.f_code):
            return self._step
        if self.left == 0:
            self.raised = True
            raise KeyboardInterrupt
        self.left -= 1
        return self._step


def interrupted(function: Callable[[], Any], *files: str, checked: bool = False) -> Iterator[int]:
    """Call `function` again and again, with an interrupt one instruction later each time; yield after each."""
    # A first run without an interrupt performs all one-time work. It is traced as well: from Python 3.12 on, `settrace`
    # gives events of instructions only if a frame has requested them before.
    place = -1
    while True:
        tracer, before = Interrupter(files, place, checked), sys.gettrace()
        sys.settrace(tracer)
        try:
            function()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        if place >= 0:
            yield place
            if not tracer.raised:
                return
        place += 1
