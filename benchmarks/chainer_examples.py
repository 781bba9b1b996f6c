"""Times of Chainer's examples by both libraries: `python -m benchmarks.chainer_examples SOURCES --real PYTHON`.

SOURCES is a checkout of Chainer at v7.8.1, which has the examples, and PYTHON an interpreter that has Chainer 7.8.1
with the versions of NumPy and six that it needs; if its OpenBLAS is older than the processor, OPENBLAS_CORETYPE must
name the kernels, for example SKYLAKEX. The programs are unchanged (`benchmarks.chainer_program`), and read
small random data sets (`benchmarks.chainer_data`). Chainer, xpgrad and xpgrad with XPGRAD_COMPILE=1 run each program
several times in alternation, in new processes on one thread. The time of a step is the mean over the second half of the
steps without the slowest, of the minima of runs: a program is verified at steps 10, 20, 40, and so on. Losses are
compared in a further run with CHAINER_DTYPE=float64, since training amplifies rounding. The exit status is 1 if losses
differ or a limit is missed; `--write` writes the table into docs/chainer.md.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import chainer_data
from benchmarks.documents import DOCS, replaced
from benchmarks.unchanged import ROOT, difference, run

TOLERANCES = {"float32": 1e-3, "float64": 1e-6}
"""Of losses, relative to their mean."""
EAGER, COMPILED, MEMORY = 0.8, 0.6, 1.0
"""The limits of the ratios of times and of the peaks of memory to Chainer's."""
LIBRARIES: dict[str, dict[str, str]] = {
    "chainer": {},
    "xpgrad": {"XPGRAD_COMPILE": "0"},
    "xpgrad compiled": {"XPGRAD_COMPILE": "1"},
}


class Example(NamedTuple):
    """A program below ``examples``, the steps of its trainer, and its arguments."""

    name: str
    steps: int
    arguments: str = ""
    dtype: str = "float64"
    """In which losses are compared: float32 if the program does not run in float64 with Chainer."""

    @property
    def title(self) -> str:
        """The name with the arguments that choose the model or its size."""
        return " ".join([self.name, *self.arguments.replace("babi-train.txt babi-test.txt", "").split()])


EXAMPLES = (
    Example("mnist/train_mnist", 40),
    Example("mnist/train_mnist_custom_loop", 40, "-e 2"),
    Example("ptb/train_ptb", 8, "-u 200"),
    Example("vae/train_vae", 40, dtype="float32"),
    Example("dcgan/train_dcgan", 4, "-b 20"),
    Example("cifar/train_cifar", 8, "-g -1 -b 16"),
    Example("word2vec/train_word2vec", 12, "-o hsm"),
    Example("word2vec/train_word2vec", 12, "-o ns"),
    Example("word2vec/train_word2vec", 12, "-o original -m cbow"),
    Example("memnn/train_memnn", 40, "babi-train.txt babi-test.txt", dtype="float32"),
    Example("pos/postagging", 12),
    Example("sentiment/train_recursive_minibatch", 12, dtype="float32"),
    Example("sentiment/train_sentiment", 12),
)
HEAD = (
    "| Example | Steps | Chainer, ms | eager (0.8) | compiled (0.6) | memory, eager (1) | compiled (1) | losses |\n"
    "|---|---:|---:|---:|---:|---:|---:|---|"
)


def main() -> int:
    """Print the table, and return whether an example differs or is too slow."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chainer_examples", description=__doc__)
    parser.add_argument("sources", type=Path, metavar="SOURCES")
    parser.add_argument("names", nargs="*", metavar="NAME", help="beginnings of names; default: all")
    parser.add_argument("--real", required=True, metavar="PYTHON")
    parser.add_argument("--runs", type=int, default=3, metavar="COUNT")
    parser.add_argument("--write", action="store_true", help="write the table into docs/chainer.md")
    arguments = parser.parse_intermixed_args()
    print(HEAD)
    lines, passed = list[str](), True
    for example in EXAMPLES:
        if arguments.names and not example.name.startswith(tuple(arguments.names)):
            continue
        line, good = row(example, arguments.sources, arguments.real, arguments.runs)
        print(line, flush=True)
        lines.append(line)
        passed &= good
    if arguments.write:
        write(lines, DOCS / "chainer.md")
    return int(not passed)


def write(lines: Sequence[str], path: Path) -> None:
    """Write rows into the table of a document; rows of examples that were not run stay."""
    text = path.read_text(encoding="utf-8")
    found = {line.split(" | ")[0]: line for line in [*text.splitlines(), *lines] if line.startswith("| ")}
    rows = [found[title] for title in (f"| {example.title}" for example in EXAMPLES) if title in found]
    path.write_text(replaced(text, {"Chainer's examples": "\n".join([HEAD, *rows])}), encoding="utf-8")


def row(example: Example, sources: Path, real: str, runs: int) -> tuple[str, bool]:
    """Return the row of an example, and whether it meets the limits."""
    done: dict[str, list[Any]] = {library: [] for library in LIBRARIES}
    for _ in range(runs):
        for library, found in done.items():
            found.append(run_example(library, sources, real, example, "float32"))
    theirs, *ours = ((step(found), min(each["peak"] for each in found)) for found in done.values())
    times = [(each[0] / theirs[0], limit) for each, limit in zip(ours, (EAGER, COMPILED), strict=True)]
    peaks = [(each[1] / theirs[1], MEMORY) for each in ours]
    losses = [run_example(library, sources, real, example, example.dtype)["losses"] for library in LIBRARIES]
    apart = max(difference(losses[0], found) for found in losses)
    same = apart <= TOLERANCES[example.dtype] and bool(losses[0])
    cells = [example.title, str(example.steps), f"{1e3 * theirs[0]:.1f}"]
    cells += [f"{ratio:.2f}" if ratio <= limit else f"**{ratio:.2f}**" for ratio, limit in times + peaks]
    cells.append("equal" if same else f"**{apart:.0e}**")
    return f"| {' | '.join(cells)} |", same and all(ratio <= limit for ratio, limit in times + peaks)


def step(found: list[Any]) -> float:
    """Return the mean seconds of a step of the second half without the slowest, each the fastest of runs."""
    seconds = np.min([each["seconds"] for each in found], axis=0)
    return float(np.sort(seconds[len(seconds) // 2 :])[:-1].mean())


def run_example(library: str, sources: Path, real: str, example: Example, dtype: str) -> Any:
    """Return the times, the losses and the peak of memory of one run."""
    script, program = ROOT / "benchmarks/chainer_program.py", (sources / "examples" / f"{example.name}.py").resolve()
    six = run("six", [real, "-c", "import json, six; print(json.dumps(six.__file__))"])
    python = real if library == "chainer" else sys.executable
    command = [python, str(script), library.split()[0], six, str(program), str(example.steps)]
    with tempfile.TemporaryDirectory() as folder:
        chainer_data.write(Path(folder))
        variables = LIBRARIES[library] | {"CHAINER_DATASET_ROOT": folder, "MPLBACKEND": "Agg", "CHAINER_DTYPE": dtype}
        if library == "chainer":
            variables["PYTHONPATH"] = ""
        name = f"{example.title} with {library}"
        return run(name, [*command, *example.arguments.split()], Path(folder), variables)


if __name__ == "__main__":
    sys.exit(main())
