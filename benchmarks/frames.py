"""Calls of Python functions in small operations: `python -m benchmarks.frames [NAME] [--calls]` prints a table.

For small arrays, the cost of an operation is the cost of its Python functions. A frame is a call of a function or
comprehension. A return is a frame in a file that differs from the file of the previous frame and has already been left.
Neither depends on the machine, only on the version of Python: 3.12 and later count no list comprehensions.
"""

import argparse
import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import xpgrad
from xpgrad import Variable, optimizers, transforms
from xpgrad.links import Linear

WARM = 30  # no power of two times 5: those calls of a program confirm it by recording another one
PARAMETERS = 100


class Case(NamedTuple):
    """An operation: the function called before each call, the call, and the limit of its frames."""

    prepare: Callable[[], object]
    run: Callable[[], object]
    limit: int | None = None


class Frames(NamedTuple):
    """The calls of one operation, each with its depth, in order."""

    calls: list[tuple[int, FrameType]]

    @property
    def returns(self) -> int:
        """Number of returns to a file that has been left."""
        files = [frame.f_code.co_filename for _, frame in self.calls]
        seen: set[str] = set()
        count = 0
        for i, file in enumerate(files):
            count += bool(i and file != files[i - 1] and file in seen)
            seen.add(file)
        return count

    def __str__(self) -> str:
        names = ((depth, frame.f_globals.get("__name__", ""), frame.f_code.co_qualname) for depth, frame in self.calls)
        return "\n".join(f"{'  ' * depth}{module}: {name}" for depth, module, name in names)


def frames(case: Case) -> Frames:
    """Return the frames of a warm call of `case`, without the frame of its function."""
    for _ in range(WARM):
        case.prepare()
        case.run()
    calls: list[tuple[int, FrameType]] = []
    depth = -1

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal depth
        if event == "call":
            calls.append((depth, frame))
            depth += 1
        elif event == "return":
            depth -= 1

    case.prepare()
    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()  # which would call what libraries have registered with it
    sys.setprofile(note)
    try:
        case.run()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return Frames(calls[1:])


def model(count: int) -> Any:
    """Return a model of linear layers with `count` parameters."""
    return xpgrad.Sequential(*[Linear(3, 3) for _ in range(count // 2)])


def cases() -> dict[str, Case]:
    """Return the operations by name; `tests/benchmarks` checks the operations with limits."""

    def f(x: Variable) -> Variable:
        return (x * x).sum()

    def nothing() -> None:
        pass

    def clear() -> None:
        x.cleargrad()
        y.cleargrad()

    rows, row = np.ones((4, 3), np.float32), np.ones(3, np.float32)
    x, y = Variable(row), Variable(row)
    grad, vmapped, hessian = transforms.grad(f), transforms.vmap(transforms.grad(f)), transforms.hessian(f)
    net = model(2)
    adam = optimizers.Adam().setup(net)
    net.cleargrads()
    f(net(rows)).backward()
    large = model(PARAMETERS)
    step = optimizers.SGD(1e-9).setup(large).compile(lambda x: f(large(x)))
    twice = transforms.vmap(lambda x: x * 2.0)
    return {
        "x * y": Case(nothing, lambda: x * y),
        "(x * y).sum().backward()": Case(clear, lambda: (x * y).sum().backward(), 45),
        "tanh(x).sum().backward()": Case(clear, lambda: xpgrad.array_api.tanh(x).sum().backward(), 37),
        "grad(f)(x)": Case(nothing, lambda: grad(row), 98),
        "vmap(f)(x)": Case(nothing, lambda: twice(rows), 49),
        "vmap(grad(f))(x)": Case(nothing, lambda: vmapped(rows), 232),
        "jvp(f, x, t)": Case(nothing, lambda: transforms.jvp(f, (row,), (row,)), 147),
        "hvp(f, x, t)": Case(nothing, lambda: transforms.hvp(f, (row,), (row,)), 315),
        "hessian(f)(x)": Case(nothing, lambda: hessian(row)),
        "optimizer.update(), 2 parameters": Case(nothing, lambda: adam.update(), 67),
        f"compiled step, {PARAMETERS} parameters": Case(nothing, lambda: step(rows)),
    }


def main() -> int:
    """Print the frames of all operations, or of one operation; return exit status 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frames", description=__doc__)
    parser.add_argument("name", nargs="?", default="", help="a part of the operation's name; default: all")
    parser.add_argument("--calls", action="store_true", help="also print the calls")
    arguments = parser.parse_args()
    failed = False
    print(f"xpgrad {xpgrad.__version__}, Python {sys.version.split()[0]}")
    print(f"{'operation':<40}{'frames':>8}{'returns':>9}{'limit':>7}")
    for name, case in cases().items():
        if arguments.name not in name:
            continue
        found = frames(case)
        count = len(found.calls)
        failed |= case.limit is not None and count > case.limit
        print(f"{name:<40}{count:>8}{found.returns:>9}{case.limit or '':>7}", flush=True)
        if arguments.calls:
            print(found)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
