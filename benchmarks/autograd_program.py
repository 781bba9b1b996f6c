"""Run a program that imports autograd with autograd or xpgrad, and print its time and its numbers as JSON.

    python -m benchmarks.autograd_program {autograd,xpgrad} SOURCES PROGRAM STEPS

The program is not changed. Its drawings are recorded instead of drawn, the steps of its optimizers are limited, and
random images of the same shape replace a download of MNIST.
"""

import contextlib
import gc
import importlib
import io
import json
import re
import runpy
import sys
import time
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

MODULES = ("numpy", "numpy.linalg", "numpy.random", "scipy.stats", "scipy.special", "scipy.linalg", "scipy.integrate",
           "scipy.signal", "misc", "misc.optimizers", "misc.flatten", "misc.fixed_points", "misc.tracers", "builtins",
           "extend", "test_util", "tracer")  # fmt: skip
IMAGES = 2000
MAX_SAMPLES = 200
"""The elements of a drawn array that are compared, at most."""
NUMBER = re.compile(r"(?<![A-Za-z\d])[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")


class LIMIT:
    """The steps that optimizers take, at most."""

    steps = 1


class Recorder:
    """Figures, axes and functions of ``matplotlib.pyplot`` that keep the arrays they are called with."""

    def __init__(self) -> None:
        self.drawn: list[Any] = []

    def __getattr__(self, name: str) -> "Recorder":
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> "Recorder":
        self.drawn.extend(args)
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def numbers(self) -> list[float]:
        """Return samples of the floating-point arrays that were drawn."""
        arrays = [
            np.ravel(x) for x in self.drawn if isinstance(x, (np.ndarray, float)) and np.asarray(x).dtype.kind == "f"
        ]
        return [float(x) for array in arrays for x in array[:: len(array) // MAX_SAMPLES + 1]]


def record_drawings() -> Recorder:
    """Replace the functions of ``matplotlib.pyplot``, except for functions that read images."""
    plt = importlib.import_module("matplotlib.pyplot")
    recorder = Recorder()
    for name, found in [*vars(plt).items()]:
        if isinstance(found, types.FunctionType) and name != "imread" and not name.startswith("_"):
            setattr(plt, name, recorder)
    return recorder


def limit_steps() -> None:
    """Limit the steps of autograd's optimizers and of ``scipy.optimize.minimize`` to ``LIMIT.steps``."""
    optimizers = importlib.import_module("autograd.misc.optimizers")
    optimize: Any = importlib.import_module("scipy.optimize")

    def limited(optimizer: Any) -> Any:
        def call(grad: Any, x0: Any, *args: Any, num_iters: int = sys.maxsize, **kwargs: Any) -> Any:
            return optimizer(grad, x0, *args, num_iters=min(num_iters, LIMIT.steps), **kwargs)

        return call

    for name in ("adam", "rmsprop", "sgd"):
        setattr(optimizers, name, limited(getattr(optimizers, name)))
    minimize = optimize.minimize

    def call(fun: Any, x0: Any, *args: Any, options: Any = None, **kwargs: Any) -> Any:
        given = dict(options or {})
        given["maxiter"] = min(given.get("maxiter", sys.maxsize), LIMIT.steps)
        return minimize(fun, x0, *args, options=given, **kwargs)

    optimize.minimize = call


def serve_images() -> None:
    """Give programs that load MNIST random images and labels."""
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 256, (count, 28, 28), np.uint8) for count in (IMAGES, IMAGES // 10)]
    labels = [rng.integers(0, 10, len(each), np.uint8) for each in images]
    module: Any = types.ModuleType("data_mnist")
    module.mnist = lambda: (images[0], labels[0], images[1], labels[1])
    sys.modules["data_mnist"] = module


def main(library: str, sources: Path, program: Path, steps: int) -> None:
    """Run the program, and print its seconds of processor time and its numbers."""
    if library == "xpgrad":
        importlib.import_module("xpgrad_autograd").install()
    else:
        sys.path.insert(1, str(sources))
    for name in MODULES:
        importlib.import_module(f"autograd.{name}")
    importlib.import_module("scipy.stats")
    recorder = record_drawings()
    limit_steps()
    serve_images()
    sys.argv, sys.path[0] = [str(program)], str(program.parent)
    for LIMIT.steps in (1, steps):  # the first run loads modules
        recorder.drawn, printed = [], io.StringIO()
        np.random.seed(0)  # noqa: NPY002  # of programs that draw from the global generator
        gc.collect()  # one that is due for the objects of imports takes as long as many of the programs
        start = time.process_time()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            runpy.run_path(str(program), run_name="__main__")
        seconds = time.process_time() - start
    numbers = [float(found) for found in NUMBER.findall(printed.getvalue())]
    module = sys.modules["autograd"].__file__
    print(json.dumps({"seconds": seconds, "numbers": numbers, "drawn": recorder.numbers(), "module": module}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve(), int(sys.argv[4]))
