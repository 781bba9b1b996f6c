"""`following`: sends the frames and instructions that a thread runs to an observer."""

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any, TypeVar

from xpgrad.locks import shared_lock
from xpgrad.transforms.trace.guards.observer import Observer
from xpgrad.transforms.trace.guards.stack import Shadow

Function = TypeVar("Function", bound=Callable[..., Any])


def followed(observer: Observer, sh: Shadow | None, theirs: Any) -> Callable[[Any, str, Any], None]:
    """Return a function that follows one frame, together with the tracer that another tool has for it."""
    step, raised = observer.step, False

    def follow(frame: Any, event: str, arg: Any) -> None:  # a reference to itself would be a cycle
        nonlocal raised, theirs
        if event == "opcode":
            if sh is not None:
                step(sh, frame.f_lasti)
            raised = False
            return
        raised |= event == "exception"
        if event == "return":
            observer.finish(frame, arg, raised=raised and arg is None)  # else it has caught the exception
        if theirs is not None:
            theirs = theirs(frame, event, arg)

    return follow


alone = dict[int, Any]()
"""The tracers of threads that no other tool traces, which need not follow the library's own frames."""


def unfollowed(f: Function) -> Function:
    """Return a function of the library whose frames are not followed: each event takes a microsecond."""

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        tracer = sys.gettrace()
        if tracer is None or tracer is not alone.get(threading.get_ident()):
            return f(*args, **kwargs)
        sys.settrace(None)
        try:
            return f(*args, **kwargs)
        finally:
            sys.settrace(tracer)

    return call  # type: ignore[return-value]  # mypy cannot see that it takes the same arguments


@contextmanager
def _by_trace(observer: Observer) -> Iterator[None]:
    """Follow the code that this thread runs by `sys.settrace`; a tracer of coverage or of a debugger is called, too."""
    before: Any = sys.gettrace()
    shadows, left_out = observer.shadows, observer.left_out
    own: list[Any] = []  # emptied at the end: the function would refer to itself

    def trace(frame: Any, event: str, arg: Any) -> Any:
        if before is None and id(frame.f_code) in left_out:  # the usual case: the library's own frames
            sh = shadows.get(frame.f_back)
            if sh is None or not sh.waits:
                return None
            frame.f_trace_lines = False
            return followed(observer, None, None)
        theirs: Any = before(frame, event, arg) if before is not None else None
        if sys.gettrace() is not own[0]:
            sys.settrace(own[0])  # coverage's tracer has put itself back
        frame.f_trace_lines = theirs is not None
        frame.f_trace_opcodes = ours = frame in shadows or observer.start(frame)
        return followed(observer, shadows.get(frame), theirs) if ours or frame.f_back in shadows else theirs

    own.append(trace)
    if before is None:
        alone[threading.get_ident()] = trace
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)
        alone.pop(threading.get_ident(), None)
        own.clear()


if sys.version_info >= (3, 12):

    class Monitor:
        """Follows by `sys.monitoring`, one observer for each thread that records."""

        def __init__(self) -> None:
            self._observers: dict[int, Observer] = {}
            self._codes: set[CodeType] = set()
            self._lock = shared_lock()
            self._tool: int | None = None

        @contextmanager
        def following(self, observer: Observer) -> Iterator[None]:
            """Follow the code that this thread runs."""
            thread = threading.get_ident()
            with self._lock:
                if self._tool is None and not self._open():
                    observer.refuse("all tools of sys.monitoring are in use")
                self._observers[thread] = observer
            try:
                yield
            finally:
                with self._lock:
                    del self._observers[thread]
                    if not self._observers and self._tool is not None:
                        self._close(self._tool)

        def _open(self) -> bool:
            watch, events = sys.monitoring, sys.monitoring.events
            tool = next((i for i in (4, 3, 5, 1) if watch.get_tool(i) is None), None)
            if tool is None:
                return False
            watch.use_tool_id(tool, "xpgrad.compile")
            self._tool = tool
            callbacks: list[tuple[int, Callable[..., Any]]] = [
                (events.PY_START, self._start), (events.INSTRUCTION, self._step), (events.PY_RETURN, self._finish),
                (events.PY_YIELD, functools.partial(self._finish, yields=True)),
            ]  # fmt: skip
            for event, function in callbacks:
                watch.register_callback(tool, event, function)
            watch.set_events(tool, events.PY_START | events.PY_RETURN | events.PY_YIELD)
            return True

        def _close(self, tool: int) -> None:
            watch, events = sys.monitoring, sys.monitoring.events
            watch.set_events(tool, 0)
            for code in self._codes:
                watch.set_local_events(tool, code, 0)
            for event in (events.PY_START, events.INSTRUCTION, events.PY_RETURN, events.PY_YIELD):
                watch.register_callback(tool, event, None)
            watch.free_tool_id(tool)
            watch.restart_events()  # for another tool with this number
            self._codes.clear()
            self._tool = None

        def _start(self, code: CodeType, offset: int) -> Any:
            observer = self._observers.get(threading.get_ident())
            if observer is not None and observer.start(sys._getframe(1)) and code not in self._codes:
                self._codes.add(code)
                assert self._tool is not None
                sys.monitoring.set_local_events(self._tool, code, sys.monitoring.events.INSTRUCTION)
            elif observer is not None and id(code) in observer.left_out:  # the usual case: the library's own frames
                return sys.monitoring.DISABLE
            return None

        def _step(self, code: CodeType, offset: int) -> None:
            observer = self._observers.get(threading.get_ident())
            if observer is not None:
                sh = observer.shadows.get(sys._getframe(1))
                if sh is not None:
                    observer.step(sh, offset)

        def _finish(self, code: CodeType, offset: int, value: Any, *, yields: bool = False) -> None:
            observer, frame = self._observers.get(threading.get_ident()), sys._getframe(1)
            if observer is not None and (frame in observer.shadows or frame.f_back in observer.shadows):
                observer.finish(frame, value, yields=yields)

    following: Callable[[Observer], Any] = Monitor().following
else:
    following = _by_trace
