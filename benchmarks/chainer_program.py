"""Run a program that imports chainer by Chainer or by xpgrad, and print its times and its losses as JSON.

    python benchmarks/chainer_program.py {chainer,xpgrad} SIX PROGRAM STEPS [ARGUMENT ...]

The program is not changed. Its trainer stops after so many steps, and `six`, which SIX contains, and the corpus of
NLTK need not be installed. Data sets are read from CHAINER_DATASET_ROOT. Chainer's Python has only NumPy and Chainer.
"""

import contextlib
import functools
import gc
import importlib
import importlib.util
import io
import json
import random
import re
import resource
import runpy
import sys
import time
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np

LOSS = re.compile(r"(?:loss|perplexity): ([-+\d.e]+)")
SENTENCES, WORDS, TAGS = 300, 500, 40
WARM = 3
"""The steps after which compiled code is waited for."""


class Log:
    """Seconds of processor time of each step, and the losses that the program reports."""

    def __init__(self, settle: Any) -> None:
        self.seconds: list[float] = []
        self.losses: list[float] = []
        self._settle = settle

    def timed(self, function: Any) -> Any:
        """Return a function whose calls are steps."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            start = time.process_time()
            result = function(*args, **kwargs)
            self.seconds.append(time.process_time() - start)
            if len(self.seconds) == WARM:
                self._settle()
            return result

        return call

    def report(self, observation: Any) -> None:
        """Keep the losses of a step."""
        for name in sorted(observation):
            if name.endswith("loss"):
                value = observation[name]
                self.losses.append(float(np.asarray(getattr(value, "array", value))))


def limit_steps(chainer: Any, steps: int, log: Log) -> None:
    """Stop trainers after `steps`, and log their steps; without a trainer, log the updates of optimizers."""
    start, setup = chainer.training.Trainer.__init__, chainer.Optimizer.setup

    @functools.wraps(start)
    def limited(trainer: Any, updater: Any, stop_trigger: Any = None, *args: Any, **kwargs: Any) -> None:
        for optimizer in updater.get_all_optimizers().values():
            vars(optimizer).pop("update", None)
        update = log.timed(updater.update)

        def reported() -> None:
            update()
            log.report(chainer.reporter.get_current_reporter().observation)

        updater.update = reported
        start(trainer, updater, (steps, "iteration"), *args, **kwargs)

    @functools.wraps(setup)
    def logged(optimizer: Any, link: Any) -> Any:
        result = setup(optimizer, link)
        optimizer.update = log.timed(optimizer.update)
        return result

    chainer.training.Trainer.__init__, chainer.Optimizer.setup = limited, logged


def serve_modules(six: str) -> None:
    """Serve `six` from its file, and `nltk` with a corpus of random words and tags."""
    spec: Any = importlib.util.spec_from_file_location("six", six)
    sys.modules["six"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["six"])
    rng = random.Random(0)

    def sentences() -> list[list[tuple[str, str]]]:
        words = [[rng.randrange(WORDS) for _ in range(rng.randrange(5, 25))] for _ in range(SENTENCES)]
        return [[(f"word{word}", f"tag{word % TAGS}") for word in sentence] for sentence in words]

    nltk: Any = types.ModuleType("nltk")
    nltk.download = lambda name: True
    nltk.corpus = types.SimpleNamespace(brown=types.SimpleNamespace(tagged_sents=sentences))
    sys.modules["nltk"] = nltk


def settle() -> None:
    """Wait for compiled code."""
    importlib.import_module("xpgrad.transforms.trace.executors").wait()


def main(library: str, six: str, program: Path, steps: int, arguments: list[str]) -> None:
    """Run the program, and print seconds of steps, losses, the peak of memory and the file of its chainer."""
    sys.argv, sys.path[0] = [str(program), *arguments], str(program.parent)
    if library == "xpgrad":
        importlib.import_module("xpgrad_chainer").install()
    chainer = importlib.import_module("chainer")
    log = Log(settle if library == "xpgrad" else lambda: None)
    limit_steps(chainer, steps, log)
    serve_modules(six)
    np.random.seed(0)  # noqa: NPY002  # Chainer draws from the global generator
    printed = io.StringIO()
    gc.collect()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        runpy.run_path(str(program), run_name="__main__")
    losses = log.losses + [float(found) for found in LOSS.findall(printed.getvalue())]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": log.seconds, "losses": losses, "peak": peak, "module": chainer.__file__}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]).resolve(), int(sys.argv[4]), sys.argv[5:])
